"""Jobs and runs on a real server with engines of its own; the site that they visit is the witness."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest

from tests.fault.processes import SiteProcess
from tests.serving import OVER, ServerProcess

QUICK = {"base": 0.05, "factor": 3, "jitter": 0}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """As somebody configured it who comes from the system before."""
    env = {"APP_DEFAULT_MAX_ATTEMPTS": "2", "APP_HTTP_TIMEOUT_SECONDS": "2"}
    with ServerProcess(tmp_path_factory.mktemp("server") / "data", env=env) as process:
        yield process


@pytest.fixture(autouse=True)
def _unseen(site: SiteProcess) -> None:
    site.reset()


def job(server: ServerProcess, url: str, **more: Any) -> dict[str, Any]:
    answer = server.client.post("/jobs", json={"target_url": url, "fields": ["title"], "backoff": QUICK, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def start(server: ServerProcess, made: dict[str, Any]) -> dict[str, Any]:
    answer = server.client.post(f"/jobs/{made['id']}/runs")
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def ended(server: ServerProcess, url: str, **more: Any) -> dict[str, Any]:
    """A run of a new job, once it is over."""
    run = start(server, job(server, url, **more))
    return dict(server.until(lambda: server.get(f"/jobs/runs/{run['id']}"), lambda found: found["status"] in OVER))


def messages(server: ServerProcess, run: dict[str, Any]) -> list[str]:
    return [event["message"] for event in server.get(f"/jobs/runs/{run['id']}/events")]


def asked(site: SiteProcess, path: str) -> list[dict[str, Any]]:
    return [hit for hit in site.log()["hits"] if hit["path"] == path]


def test_rows_74_76_78_85_and_99_a_job_runs_as_in_the_system_before(site: SiteProcess, server: ServerProcess) -> None:
    made = job(server, site.url_for(f"/redirect?to={quote('/fields')}"))
    assert (made["status"], made["strategy"], made["frequency"]) == ("validated", "auto", "on_demand")
    run = start(server, made)
    assert (run["status"], run["job_id"], run["resolved_strategy"]) == ("queued", made["id"], "http")
    over = server.until(lambda: server.get(f"/jobs/runs/{run['id']}"), lambda found: found["status"] in OVER)
    assert over["status"] == "completed"
    assert over["stats"]["http_status"] == 200
    assert over["stats"]["title"] == "A loom for beginners"
    assert over["stats"]["content_type"] == "text/html"
    assert over["stats"]["content_length"] > 100
    assert all(hit["user_agent"].startswith("Tarantella/") for hit in site.log()["hits"])
    assert over["finished_at"] >= over["started_at"] >= over["created_at"]


def test_row_75_an_unknown_host_is_accepted_with_a_warning_and_its_run_fails(server: ServerProcess) -> None:
    made = job(server, "http://nobody-lives-here.invalid/")
    assert made["warnings"]
    run = start(server, made)
    over = server.until(lambda: server.get(f"/jobs/runs/{run['id']}"), lambda found: found["status"] in OVER)
    assert (over["status"], over["failure_code"]) == ("failed", "network")


def test_row_77_a_run_keeps_its_job_as_it_was(site: SiteProcess, server: ServerProcess) -> None:
    made = job(server, site.url_for("/slow?s=1"), strategy="http")
    run = start(server, made)
    server.client.patch(f"/jobs/{made['id']}", json={"target_url": site.url_for("/404")})
    over = server.until(lambda: server.get(f"/jobs/runs/{run['id']}"), lambda found: found["status"] in OVER)
    assert (over["status"], over["job"]["target_url"]) == ("completed", site.url_for("/slow?s=1"))
    assert not asked(site, "/404")


@pytest.mark.parametrize(
    ("path", "strategy"), [("/ok", "http"), ("/403", "browser"), ("/429", "browser"), ("/spa", "browser")]
)
def test_rows_78_to_80_auto_looks_at_the_site(
    site: SiteProcess, server: ServerProcess, path: str, strategy: str
) -> None:
    run = start(server, job(server, site.url_for(path, "127.0.0.2")))
    assert run["resolved_strategy"] == strategy
    told = messages(server, run)
    assert ("Strategy not available" in told) == (strategy == "browser")
    server.client.post(f"/jobs/runs/{run['id']}/cancel")


def test_rows_81_and_82_a_login_or_a_named_strategy_needs_no_look(site: SiteProcess, server: ServerProcess) -> None:
    login = start(server, job(server, site.url_for("/slow?s=0.5"), requires_auth=True))
    named = start(server, job(server, site.url_for("/slow?s=0.5&n=2"), strategy="http"))
    assert (login["resolved_strategy"], named["resolved_strategy"]) == ("browser", "http")
    for run in (login, named):
        server.until_over(run["id"])
    # No look at either; and of the two only the named one is fetched, for there is no browser here.
    assert [hit["query"] for hit in asked(site, "/slow")] == ["s=0.5&n=2"]
    failed = server.get(f"/jobs/runs/{login['id']}")
    assert (failed["status"], failed["failure_detail"]) == ("failed", "browser")


def test_rows_87_97_and_98_the_history_is_ordered_and_tells_what_happened(
    site: SiteProcess, server: ServerProcess
) -> None:
    good, bad = ended(server, site.url_for("/ok")), ended(server, site.url_for("/500", "127.0.0.3"), strategy="http")
    assert messages(server, good) == ["Run created", "Run started", "Run completed"]
    assert messages(server, bad) == ["Run created", "Run started", "Retry scheduled", "Page failed", "Run failed"]
    events = server.get(f"/jobs/runs/{bad['id']}/events")
    assert [event["sequence"] for event in events] == [1, 2, 3, 4, 5]
    assert [event["level"] for event in events] == ["info", "info", "warn", "error", "error"]
    assert events[2]["meta"]["failure_code"] == "bad_response"
    assert events[2]["meta"]["attempt"] == 1


def test_rows_88_89_and_95_attempts_are_as_many_as_were_set_and_wait_between(
    site: SiteProcess, server: ServerProcess
) -> None:
    run = ended(server, site.url_for("/500", "127.0.0.4"), strategy="http")
    assert (run["status"], run["failure_code"], run["attempt"], run["max_attempts"]) == ("failed", "bad_response", 2, 2)
    assert len(asked(site, "/500")) == 2
    more = ended(
        server, site.url_for("/502", "127.0.0.4"), strategy="http", max_attempts=3, backoff={**QUICK, "base": 0.2}
    )
    assert more["attempt"] == 3
    gaps = [b["start"] - a["start"] for a, b in pairwise(asked(site, "/502"))]
    assert gaps[0] >= 0.2
    assert gaps[1] >= 0.6


@pytest.mark.parametrize(
    ("path", "code", "hits"),
    [("/403", "blocked", 2), ("/401", "blocked", 2), ("/never", "timeout", 2), ("/404", "bad_response", 1)],
)
def test_rows_91_to_94_failures_are_told_by_their_codes(
    site: SiteProcess, server: ServerProcess, path: str, code: str, hits: int
) -> None:
    run = ended(server, site.url_for(path, "127.0.0.5"), strategy="http")
    assert (run["status"], run["failure_code"]) == ("failed", code)
    assert len(asked(site, path)) == hits
    pages = server.get(f"/jobs/runs/{run['id']}/pages", status="failed")
    assert [page["strategy"] for page in pages] == ["http"]


def test_row_92_a_site_that_asks_to_wait_is_waited_for(site: SiteProcess, server: ServerProcess) -> None:
    run = ended(server, site.url_for("/429?after=1", "127.0.0.6"), strategy="http")
    assert run["failure_code"] == "rate_limited"
    first, second = asked(site, "/429")
    assert second["start"] - first["start"] >= 0.9


def test_row_94_a_closed_port_is_a_network_failure(server: ServerProcess) -> None:
    run = ended(server, "http://127.0.0.1:9/", strategy="http")
    assert (run["status"], run["failure_code"], run["attempt"]) == ("failed", "network", 2)


def test_row_100_lists_are_as_long_as_asked(site: SiteProcess, server: ServerProcess) -> None:
    made = job(server, site.url_for("/ok"), strategy="http")
    runs = [start(server, made)["id"] for _ in range(3)]
    assert [run["id"] for run in server.get(f"/jobs/{made['id']}/runs", limit=2)] == runs[:0:-1]


def test_row_102_the_tables_have_the_columns_of_the_system_before(server: ServerProcess) -> None:
    with closing(sqlite3.connect(server.data_dir / "tarantella.db")) as database:

        def columns(table: str) -> set[str]:
            return {row[1] for row in database.execute(f"PRAGMA table_info({table})")}

        assert columns("runs") >= {
            "id", "job_id", "status", "attempt", "max_attempts", "requested_strategy", "resolved_strategy",
            "failure_code", "error_message", "stats", "created_at", "started_at", "finished_at",
        }  # fmt: skip
        assert columns("run_events") >= {"id", "run_id", "level", "message", "meta", "created_at"}


def test_a_run_that_is_watched_tells_its_story_and_the_stream_ends(site: SiteProcess, server: ServerProcess) -> None:
    run = start(server, job(server, site.url_for("/slow?s=1"), strategy="http"))
    url = f"{server.url}/jobs/runs/{run['id']}/events/stream"
    told = subprocess.run(["curl", "-sN", "--max-time", "20", url], capture_output=True, text=True, check=True).stdout
    assert [line for line in told.splitlines() if line.startswith("id: ")] == ["id: 1", "id: 2", "id: 3"]
    assert told.endswith('event: end\ndata: {"status":"completed"}\n\n')


def test_the_examples_of_the_systems_before_work_with_another_host(site: SiteProcess, server: ServerProcess) -> None:
    def curl(command: str, **values: str) -> Any:
        for name, value in {"http://localhost:8000": server.url, **values}.items():
            command = command.replace(name, value)
        told = subprocess.run(shlex.split(command.replace("\\\n", " ")), capture_output=True, check=True)
        return json.loads(told.stdout)

    page = site.url_for("/list?n=3")
    task = curl(
        """curl -s -X POST "http://localhost:8000/scraping/async-scrape" \\
          -H "Content-Type: application/json" \\
          -d '{
            "url": "https://www.lesswrong.com",
            "max_depth": 2,
            "timeout_minutes": 30
          }'""",
        **{"https://www.lesswrong.com": page},
    )
    ids = {"{task_id}": task["task_id"]}
    server.until(
        lambda: curl('curl -s "http://localhost:8000/scraping/tasks/{task_id}/status"', **ids),
        lambda seen: seen["status"] == "completed",
    )
    found = curl('curl -s "http://localhost:8000/scraping/tasks/{task_id}/results?include_errors=true"', **ids)
    assert (len(found["results"]), found["errors"]) == (4, [])
    made = curl(
        """curl -s -X POST http://localhost:8000/jobs \\
          -H "Content-Type: application/json" \\
          -d '{
            "target_url": "https://example.com",
            "fields": ["title"],
            "strategy": "auto"
          }'""",
        **{"https://example.com": page},
    )
    run = curl("curl -s -X POST http://localhost:8000/jobs/$JOB_ID/runs", **{"$JOB_ID": made["id"]})
    seen = server.until(
        lambda: curl("curl -s http://localhost:8000/jobs/runs/$RUN_ID", **{"$RUN_ID": run["id"]}),
        lambda found: found["status"] in OVER,
    )
    assert seen["status"] == "completed"
    events = curl("curl -s http://localhost:8000/jobs/runs/$RUN_ID/events", **{"$RUN_ID": run["id"]})
    assert [event["message"] for event in events] == ["Run created", "Run started", "Run completed"]


def test_a_submit_is_answered_in_milliseconds_whatever_is_running(site: SiteProcess, server: ServerProcess) -> None:
    busy = server.submit(site.url_for("/list?n=3000"), max_depth=2)
    took = []
    tasks = []
    for number in range(20):
        began = time.perf_counter()
        tasks.append(server.submit(site.url_for(f"/ok?n={number}"), priority="low"))
        took.append(time.perf_counter() - began)
    assert sorted(took)[10] < 0.1
    for task in (*tasks, busy):
        server.client.delete(f"/scraping/tasks/{task}")
