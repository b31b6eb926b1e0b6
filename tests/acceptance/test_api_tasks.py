"""Tasks on a real server with engines of its own; the site that they visit is the witness."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from tests.fault.processes import SiteProcess
from tests.serving import OVER, ServerProcess

# The site under other names, for what must not trouble others.
SICK, SLOW, SHARED = "127.0.0.3", "127.0.0.4", "127.0.0.5"
QUICK = {"retry_delay_seconds": 0.05}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    patience = {"TARANTELLA_HTTP_TIMEOUT_SECONDS": "2"}
    with ServerProcess(tmp_path_factory.mktemp("server") / "data", env=patience) as process:
        yield process


@pytest.fixture(autouse=True)
def _unseen(site: SiteProcess) -> None:
    site.reset()


def links(*paths: str) -> str:
    """A page that links to these."""
    return f"/links?hrefs={quote('|'.join(paths))}"


def asked(site: SiteProcess, path: str) -> list[dict[str, Any]]:
    return [hit for hit in site.log()["hits"] if hit["path"] == path]


def results(server: ServerProcess, task: str) -> dict[str, Any]:
    return dict(server.get(f"/scraping/tasks/{task}/results", include_errors=True))


# -- submitting and watching


def test_row_1_a_submit_answers_with_an_id_within_a_second(site: SiteProcess, server: ServerProcess) -> None:
    took, tasks = [], []
    for _ in range(3):
        began = time.monotonic()
        tasks.append(server.submit(site.url_for("/ok")))
        took.append(time.monotonic() - began)
    assert min(took) < 1
    assert {server.until_over(task)["status"] for task in tasks} == {"completed"}


def test_row_3_five_tasks_run_and_two_wait(site: SiteProcess, server: ServerProcess) -> None:
    tasks = [server.submit(site.url_for(f"/slow?s=1&n={number}", SLOW)) for number in range(7)]
    seen = server.until(
        lambda: Counter(server.status(task)["status"] for task in tasks), lambda found: found["running"] == 5
    )
    assert seen["pending"] == 2
    health = server.get("/scraping/status")
    assert (health["status"], health["active_tasks"], health["available_task_slots"]) == ("at_capacity", 5, 0)
    for task in tasks:
        assert server.until_over(task)["status"] == "completed"
    assert server.get("/scraping/status")["status"] == "healthy"


@pytest.mark.parametrize("wanted", [1, 4])
def test_row_4_as_many_pages_are_in_flight_as_were_asked_for(
    site: SiteProcess, server: ServerProcess, wanted: int
) -> None:
    pages = links(*(f"/slow?s=0.1&n={number}" for number in range(8 * wanted)))
    task = server.submit(site.url_for(pages, SLOW), max_depth=2, max_concurrent_articles=wanted)
    server.until_over(task)
    assert site.log()["peak"] == wanted


def test_row_5_no_host_gets_more_at_once_than_its_limit(site: SiteProcess, server: ServerProcess) -> None:
    server.client.patch(f"/sites/{SHARED}", json={"per_host": 2})
    pages = [links(*(f"/slow?s=0.05&n={task}-{number}" for number in range(12))) for task in range(3)]
    tasks = [server.submit(site.url_for(page, SHARED), max_depth=2, max_concurrent_articles=20) for page in pages]
    for task in tasks:
        assert server.until_over(task)["status"] == "completed"
    assert site.log()["peak"] == 2


def test_row_6_five_thousand_links_take_no_more_memory_than_some(site: SiteProcess, server: ServerProcess) -> None:
    [engine] = [psutil.Process(pid) for pid in server.engine_pids()]
    task = server.submit(site.url_for("/list?n=5000"), max_depth=2, max_concurrent_articles=25)
    server.until(lambda: server.status(task), lambda seen: seen["completed_items"] > 2_000)
    half = engine.memory_info().rss
    assert server.until_over(task)["completed_items"] == 5_001
    assert engine.memory_info().rss < half + 40_000_000


def test_row_7_and_9_counts_only_grow_and_the_history_is_legal(site: SiteProcess, server: ServerProcess) -> None:
    task = server.submit(site.url_for("/list?n=300"), max_depth=2)
    seen = [server.status(task)]
    while seen[-1]["status"] not in OVER:
        seen.append(server.status(task))
    for name in ("total_items", "completed_items", "failed_items"):
        assert [status[name] for status in seen] == sorted(status[name] for status in seen)
    order = ["pending", "running", "completed"]
    assert [order.index(status["status"]) for status in seen] == sorted(
        order.index(status["status"]) for status in seen
    )
    assert seen[-1]["progress"] == 100
    messages = [event["message"] for event in server.get(f"/jobs/runs/{task}/events")]
    assert messages == ["Run created", "Run started", "Run completed"]


def test_row_8_27_and_32_the_summary_is_what_was_found(site: SiteProcess, server: ServerProcess) -> None:
    task = server.submit(site.url_for("/list?n=60"), max_depth=2)
    server.until_over(task)
    found = results(server, task)
    assert len(found["results"]) == found["summary"]["successful_pages"] == found["summary"]["total_pages"] == 61
    assert sum(item["source"] == "article-depth-2" for item in found["results"]) == 60
    assert found["summary"]["items_per_minute"] > 0
    assert sum(site.hits().values()) == 61


# -- how tasks end


def test_rows_10_to_12_16_22_and_28_a_task_ends_as_its_pages_do(site: SiteProcess, server: ServerProcess) -> None:
    good = server.submit(site.url_for(links("/ok", "/item/1")), max_depth=2)
    mixed = server.submit(site.url_for(links("/ok", "/404", "/item/2")), max_depth=2)
    strict = server.submit(site.url_for(links("/ok", "/404", "/item/3")), max_depth=2, partial_results_ok=False)
    bad = server.submit(site.url_for("/500", SICK), retry_attempts=1)
    ends = {task: server.until_over(task)["status"] for task in (good, mixed, strict, bad)}
    assert list(ends.values()) == ["completed", "partial", "failed", "failed"]
    found = results(server, mixed)
    assert [error["code"] for error in found["errors"]] == ["not_found"]
    assert len(found["results"]) == 3
    assert "errors" not in server.get(f"/scraping/tasks/{mixed}/results")


def test_row_13_timeouts_out_of_bounds_are_refused(server: ServerProcess) -> None:
    for minutes in (4, 121):
        body = {"url": "https://a.example/", "timeout_minutes": minutes}
        answer = server.client.post("/scraping/async-scrape", json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, "timeout_minutes")


def test_rows_14_and_15_what_was_done_before_the_deadline_is_kept(site: SiteProcess, server: ServerProcess) -> None:
    pages = links("/ok", *(f"/slow?s=1.5&n={number}" for number in range(40)))
    task = server.submit(site.url_for(pages, SLOW), max_depth=2, timeout_seconds=3, max_concurrent_articles=2)
    assert server.until_over(task)["status"] == "partial"
    found = results(server, task)
    assert {error["code"] for error in found["errors"]} == {"deadline"}
    assert found["summary"]["successful_pages"] >= 2
    summary = found["summary"]
    assert summary["total_pages"] == 42 == summary["successful_pages"] + summary["skipped_pages"]
    assert "Deadline reached" in [event["message"] for event in server.get(f"/jobs/runs/{task}/events")]


def test_rows_17_and_26_five_failures_open_the_breaker_and_the_host_is_left_alone(
    site: SiteProcess, server: ServerProcess
) -> None:
    pages = links(*(f"/503?n={number}" for number in range(20)))
    host = "127.0.0.6"
    task = server.submit(site.url_for(pages, host), max_depth=2, retry_attempts=1, max_concurrent_articles=1)
    health = server.until(
        lambda: server.get("/scraping/status"), lambda seen: host in seen["circuit_breaker"]["blocked_domains"]
    )
    assert health["circuit_breaker"]["domain_failure_counts"][host] >= 5
    time.sleep(0.5)
    assert len(asked(site, "/503")) == 5
    server.client.delete(f"/scraping/tasks/{task}")


def test_rows_19_and_20_retries_come_later_and_later_and_as_often_as_asked(
    site: SiteProcess, server: ServerProcess
) -> None:
    flaky = server.submit(site.url_for("/flaky?n=2", "127.0.0.7"), retry_delay_seconds=0.2)
    once = server.submit(site.url_for("/500", "127.0.0.8"), retry_attempts=1, **QUICK)
    often = server.submit(site.url_for("/502", "127.0.0.9"), retry_attempts=4, **QUICK)
    assert server.until_over(flaky)["status"] == "completed"
    starts = [hit["start"] for hit in asked(site, "/flaky")]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert len(gaps) == 2
    assert gaps[1] > gaps[0] >= 0.2
    [item] = results(server, flaky)["results"]
    assert item["retry_attempt"] == 2
    server.until_over(once)
    server.until_over(often)
    assert (len(asked(site, "/500")), len(asked(site, "/502"))) == (1, 4)


def test_row_21_timeouts_connections_and_other_errors_are_told_apart(site: SiteProcess, server: ServerProcess) -> None:
    before = server.get("/scraping/status")["error_statistics"]
    ends = {
        "timeout": server.submit(site.url_for("/never", SICK), retry_attempts=1),
        "connection": server.submit("http://127.0.0.99:9/", retry_attempts=1),
        "general": server.submit(site.url_for("/404"), retry_attempts=1),
    }
    for kind, task in ends.items():
        server.until_over(task)
        found = results(server, task)
        assert [error["error_type"] for error in found["errors"]] == [kind]
        assert found["summary"][f"{kind}_errors"] == 1
    after = server.until(
        lambda: server.get("/scraping/status")["error_statistics"],
        lambda seen: seen["timeout_errors"] > before["timeout_errors"],
    )
    for kind in ends:
        assert after[f"{kind}_errors"] >= before[f"{kind}_errors"] + 1


def test_row_23_a_task_whose_pages_all_fail_harms_no_other(site: SiteProcess, server: ServerProcess) -> None:
    bad = server.submit(site.url_for("/garbage", SICK), retry_attempts=1)
    good = server.submit(site.url_for("/list?n=20"), max_depth=2)
    assert server.until_over(good)["completed_items"] == 21
    assert server.until_over(bad)["status"] == "failed"


def test_row_29_a_cancelled_task_stops_asking(site: SiteProcess, server: ServerProcess) -> None:
    pages = links(*(f"/slow?s=0.2&n={number}" for number in range(100)))
    task = server.submit(site.url_for(pages, SLOW), max_depth=2)
    server.until(lambda: server.status(task), lambda seen: seen["completed_items"] > 3)
    for _ in range(2):
        assert server.client.delete(f"/scraping/tasks/{task}").json()["status"] == "cancelled"
    assert site.quiet(0.5).total() < 90
    assert server.status(task)["status"] == "cancelled"


# -- collecting


def test_row_30_tasks_are_listed_by_how_they_ended(site: SiteProcess, server: ServerProcess) -> None:
    task = server.submit(site.url_for(links("/ok", "/404")), max_depth=2)
    server.until_over(task)
    [found] = server.get("/scraping/tasks", status_filter="partial", limit=1)
    assert (found["task_id"], found["status"]) == (task, "partial")


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_row_31_a_deeper_page_is_fetched_only_when_asked_for(
    site: SiteProcess, server: ServerProcess, depth: int
) -> None:
    task = server.submit(site.url_for("/tree?depth=4&fan=2"), max_depth=depth)
    server.until_over(task)
    found = results(server, task)
    depths = {item["depth"] for item in found["results"]}
    assert depths == set(range(1, depth + 1))
    sources = ["main_page", "article-depth-2", "article-depth-3"]
    assert {item["source"] for item in found["results"]} == set(sources[:depth])


@pytest.mark.parametrize("kind", ["json", "csv", "db"])
def test_row_33_the_export_can_be_read(site: SiteProcess, server: ServerProcess, tmp_path: Path, kind: str) -> None:
    task = server.submit(site.url_for("/list?n=9"), max_depth=2, export_format=kind)
    server.until_over(task)
    content = server.client.get(results(server, task)["metadata"]["export"]["url"]).content
    if kind == "json":
        assert len(json.loads(content)) == 10
    elif kind == "csv":
        assert len(list(csv.DictReader(io.StringIO(content.decode())))) == 10
    else:
        (tmp_path / "export.db").write_bytes(content)
        with sqlite3.connect(tmp_path / "export.db") as database:
            assert database.execute("SELECT count(DISTINCT url) FROM records").fetchone() == (10,)
