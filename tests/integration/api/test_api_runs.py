"""Runs: listed, steered, explained and read before they end, over HTTP."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tarantella.services.app import App
from tests.contract.world import World
from tests.integration.api.talking import ENDED, Talker
from tests.site import Site


def follow(client: Talker, path: str) -> list[Any]:
    """A whole list, page by page."""
    found: list[Any] = []
    while path:
        answer = client.http.get(path)
        assert answer.status_code == 200, answer.text
        found += answer.json()
        path = answer.links["next"]["url"] if "next" in answer.links else ""
    return found


def test_runs_of_all_jobs_are_listed_with_filters_and_a_cursor(client: Talker) -> None:
    first, second = (
        client.job("http://127.0.0.1:9/a", strategy="http"),
        client.job("http://127.0.0.1:9/b", strategy="http"),
    )
    ours = [client.run_of(first)["id"] for _ in range(3)]
    theirs = [client.run_of(second)["id"] for _ in range(2)]
    task = client.task("http://127.0.0.1:9/c")
    client.post(f"/jobs/runs/{theirs[0]}/cancel")
    newest_first = [task, *theirs[::-1], *ours[::-1]]
    assert [run["id"] for run in client.get("/jobs/runs")] == newest_first
    assert [run["id"] for run in follow(client, "/jobs/runs?limit=1")] == newest_first
    assert [run["id"] for run in client.get(f"/jobs/{first['id']}/runs?limit=2")] == ours[:0:-1]
    assert [run["id"] for run in client.get(f"/jobs/runs?job_id={second['id']}")] == theirs[::-1]
    assert [run["id"] for run in client.get("/jobs/runs?source=scraping")] == [task]
    assert [run["id"] for run in client.get("/jobs/runs?status=cancelled")] == [theirs[0]]


def test_a_cursor_of_another_list_is_refused(client: Talker) -> None:
    for number in range(3):
        client.task(f"http://127.0.0.1:9/{number}")
    cursor = client.http.get("/jobs/runs?limit=1").headers["x-next-cursor"]
    for path in (f"/jobs/runs?status=failed&cursor={cursor}", f"/scraping/tasks?cursor={cursor}", "/jobs?cursor=AAAA"):
        problem = client.refused("GET", path)
        assert (problem["status"], problem["code"], problem["field"]) == (422, "invalid_cursor", "cursor")


@pytest.mark.usefixtures("engine")
def test_pages_and_records_can_be_read_before_a_run_ends(client: Talker, site: Site) -> None:
    run = client.task(site.url_for("/links?hrefs=/ok|/item/1|/slow?s=30"), max_depth=2)
    client.until(f"/jobs/runs/{run}/records", lambda records: len(records) == 3)
    now = client.get(f"/jobs/runs/{run}")
    assert (now["status"], now["counts"]["done"], now["counts"]["pending"]) == ("running", 3, 1)
    assert sorted(page["status"] for page in client.get(f"/jobs/runs/{run}/pages")) == ["done"] * 3 + ["pending"]
    assert len(follow(client, f"/jobs/runs/{run}/pages?limit=1")) == 4
    assert len(follow(client, f"/jobs/runs/{run}/records?limit=2")) == 3
    assert len(client.http.get(f"/jobs/runs/{run}/export?format=jsonl").text.splitlines()) == 3
    assert client.get(f"/scraping/tasks/{run}/results")["summary"]["pending_pages"] == 1
    client.delete(f"/scraping/tasks/{run}")
    assert [page["url"] for page in client.get(f"/jobs/runs/{run}/pages?status=skipped&reason=cancelled")] == [
        site.url_for("/slow?s=30")
    ]


def test_a_run_is_deleted_once_and_not_before_it_is_over(client: Talker) -> None:
    job = client.job("http://127.0.0.1:9/", strategy="http")
    gone, stays = client.run_of(job)["id"], client.run_of(job)["id"]
    problem = client.refused("DELETE", f"/jobs/runs/{gone}")
    assert (problem["status"], problem["code"]) == (409, "conflict")
    assert gone in problem["remedy"]
    client.post(f"/jobs/runs/{gone}/cancel")
    assert client.http.delete(f"/jobs/runs/{gone}").status_code == 204
    for method, path in (
        ("DELETE", ""),
        ("GET", ""),
        ("GET", "/events"),
        ("GET", "/records"),
        ("POST", "/retry-failed"),
    ):
        assert client.refused(method, f"/jobs/runs/{gone}{path}")["status"] == 404
    assert [run["id"] for run in client.get("/jobs/runs")] == [stays]


@pytest.mark.usefixtures("engine")
def test_a_page_is_explained_with_every_attempt(client: Talker, site: Site) -> None:
    job = client.job(
        site.url_for("/links?hrefs=/500"), strategy="http", max_depth=2, max_attempts=2, backoff={"base": 0.01}
    )
    run = client.ended(client.run_of(job)["id"])
    told = client.get(f"/jobs/runs/{run['id']}/explain", params={"url": site.url_for("/500")})
    assert told["found_on"] == site.url_for("/links?hrefs=/500")
    assert [attempt["failure"] for attempt in told["attempts"]] == ["bad_response"] * 2
    assert told["attempts"][0]["decision"].startswith("retry in")
    assert told["page"]["status"] == "failed"
    problem = client.refused("GET", f"/jobs/runs/{run['id']}/explain", params={"url": site.url_for("/never")})
    assert problem["status"] == 404


def _until_quiet(site: Site) -> None:
    """Until nothing has been asked for half a second."""
    give_up, since, before = time.monotonic() + 20, time.monotonic(), len(site.hits)
    while time.monotonic() - since < 0.5:
        assert time.monotonic() < give_up, "It is asked for more and more."
        time.sleep(0.02)
        if len(site.hits) != before:
            since, before = time.monotonic(), len(site.hits)


@pytest.mark.usefixtures("engine")
def test_pause_and_cancel_take_effect_within_a_second(client: Talker, app: App, site: Site) -> None:
    run = client.task(site.url_for("/list?n=2000"), max_depth=2, max_concurrent_articles=2)
    client.until(f"/jobs/runs/{run}", lambda found: found["counts"]["done"] > 5)

    def paused_within() -> float:
        began = time.monotonic()
        client.post(f"/jobs/runs/{run}/pause")
        client.until(f"/jobs/runs/{run}", lambda found: found["status"] == "paused")
        took = time.monotonic() - began
        hits = len(site.hits)
        time.sleep(0.3)
        assert len(site.hits) == hits
        assert client.get(f"/scraping/tasks/{run}/status")["status"] == "pending"
        assert client.post(f"/jobs/runs/{run}/resume")["wanted"] == "run"
        client.until(f"/jobs/runs/{run}", lambda _: len(site.hits) > hits)
        return took

    # The quickest of three: what else a busy machine does says nothing of us.
    assert min(paused_within() for _ in range(3)) < 1.0
    assert client.post(f"/jobs/runs/{run}/cancel")["status"] == "cancelled"
    _until_quiet(site)
    assert len(site.hits) < 2_000
    World(app.database).check()


@pytest.mark.usefixtures("engine")
def test_failed_pages_are_tried_again_and_nothing_else(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/links?hrefs=/ok|/flaky?n=1"), strategy="http", max_depth=2, max_attempts=1)
    run = client.ended(client.run_of(job)["id"])
    assert run["status"] == "partial"
    told = client.post(f"/jobs/runs/{run['id']}/retry-failed")
    assert (told["pages"], told["run"]["id"]) == (1, run["id"])
    assert client.ended(run["id"])["status"] == "completed"
    assert sum(hit.path == "/ok" for hit in site.hits) == 1


@pytest.mark.parametrize("what", ["pause", "resume"])
def test_what_is_over_can_not_be_steered(client: Talker, what: str) -> None:
    run = client.task("http://127.0.0.1:9/")
    client.post(f"/jobs/runs/{run}/cancel")
    problem = client.refused("POST", f"/jobs/runs/{run}/{what}")
    assert (problem["status"], problem["code"]) == (409, "conflict")
    assert client.post(f"/jobs/runs/{run}/cancel")["status"] == "cancelled"


@pytest.mark.usefixtures("engine")
def test_counts_always_add_up_and_never_shrink_while_a_run_is_polled(client: Talker, app: App, site: Site) -> None:
    run = client.task(site.url_for("/list?n=200"), max_depth=2)
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["status"] not in ENDED:
        seen.append(client.get(f"/scraping/tasks/{run}/status"))
    for status in seen:
        parts = ("completed_items", "failed_items", "skipped_items", "pending_items")
        assert status["total_items"] == sum(status[part] for part in parts)
    for name in ("total_items", "completed_items"):
        counts = [status[name] for status in seen]
        assert counts == sorted(counts)
    assert "discovering" in {status["phase"] for status in seen}
    World(app.database).check()


def test_an_export_of_nothing_is_an_empty_document(client: Talker) -> None:
    run = client.task("http://127.0.0.1:9/")
    assert json.loads(client.http.get(f"/jobs/runs/{run}/export?format=json").text) == []
    assert client.http.get(f"/jobs/runs/{run}/export?format=jsonl").text == ""
    assert client.http.get(f"/jobs/runs/{run}/export?format=csv").text.startswith("url,")
    assert client.refused("GET", f"/jobs/runs/{run}/export?format=xml")["field"] == "format"
