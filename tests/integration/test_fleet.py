"""Servers and workers on one PostgreSQL and one Redis: messages wake, the database decides, everybody sees the same."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from tarantella.queues.celery import QUEUE, WAKE, configuration, make_celery
from tests.extras import seeing_only
from tests.fault.processes import SiteProcess, until
from tests.fleet import Fleet, WorkerProcess, new_fleet
from tests.postgres import Server
from tests.redis import RedisServer
from tests.serving import OVER, ServerProcess
from tests.site.pages import tree_path

HOSTS = [f"127.0.0.{number}" for number in range(2, 10)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def crew(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Server, redis_server: RedisServer
) -> Iterator[Fleet]:
    with new_fleet(tmp_path_factory.mktemp("crew"), postgres_server, redis_server) as fleet:
        yield fleet


@pytest.fixture(scope="module")
def server(crew: Fleet) -> Iterator[ServerProcess]:
    with crew.serve() as process:
        yield process


@pytest.fixture(scope="module")
def worker(crew: Fleet) -> Iterator[WorkerProcess]:
    with crew.work(2) as process:
        crew.until_workers(2)
        yield process


@pytest.fixture(autouse=True)
def _unseen(site: SiteProcess) -> None:
    site.reset()


def test_server_and_worker_need_nothing_but_what_the_extra_brings(
    tmp_path: Path, postgres_server: Server, redis_server: RedisServer, site: SiteProcess
) -> None:
    """What tests bring along may hide what is missing everywhere else."""
    alone = seeing_only("celery", tmp_path / "alone")
    with (
        new_fleet(tmp_path, postgres_server, redis_server) as fleet,
        fleet.serve(env=alone) as server,
        fleet.work(env=alone),
    ):
        fleet.until_workers(1)
        task = server.submit(site.url_for(tree_path(1, 1, ())))
        assert server.until_over(task)["status"] == "completed"
        until(lambda: bool(fleet.rows("SELECT 1 FROM wakes")), 20, "no message woke anybody")


def run_of(server: ServerProcess, **job: object) -> str:
    """Make a job and run it; the run's id."""
    made = server.client.post("/jobs", json={"fields": ["title"], "strategy": "http", "text": "none", **job})
    assert made.status_code == 201, made.text
    run = server.client.post(f"/jobs/{made.json()['id']}/runs")
    assert run.status_code == 201, run.text
    return str(run.json()["id"])


def until_run_is_over(server: ServerProcess, run_id: str) -> dict[str, object]:
    return dict(server.until(lambda: server.get(f"/jobs/runs/{run_id}"), lambda seen: seen["status"] in OVER))


def celery_of(fleet: Fleet):  # type: ignore[no-untyped-def]  # Celery has no types
    return make_celery(configuration(fleet.broker_url, drain_seconds=1.0))


def test_a_submit_is_heard_at_once_and_its_message_is_found_both_ways(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess
) -> None:
    task = server.submit(site.url_for("/ok"))
    assert server.until_over(task)["status"] == "completed"
    [wake] = server.until(lambda: server.get("/workers/wakes", run_id=task), bool)
    assert wake["worker_id"] in {each["id"] for each in crew.workers()}
    assert (wake["pid"] in worker.children(), wake["node"].startswith("w")) == (True, True)
    [back] = server.get("/workers/wakes", task_id=wake["task_id"])
    assert back["run_id"] == task
    assert server.get("/workers/wakes", task_id="nobody") == []
    assert wake["task_id"] in crew.asked("workers", "wakes", "--run", task)


def test_celerys_own_tools_see_the_workers(crew: Fleet, worker: WorkerProcess) -> None:
    inspect = celery_of(crew).control.inspect(timeout=2)
    [(node, tasks)] = inspect.registered().items()
    assert tasks == [WAKE]
    assert inspect.ping() == {node: {"ok": "pong"}}
    assert inspect.stats()[node]["pool"]["max-concurrency"] == 2


def test_messages_that_are_doubled_or_mean_nothing_change_nothing(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess
) -> None:
    before = worker.children()
    celery = celery_of(crew)
    task = server.submit(site.url_for("/slow?s=0.5"))
    for _ in range(20):
        celery.send_task(WAKE, args=[task], queue=QUEUE, task_id="always-the-same")
    celery.send_task(WAKE, args=["no such run"], queue=QUEUE)
    celery.send_task("os.system", args=["true"], queue=QUEUE)
    celery.send_task(WAKE, args=[task], queue=QUEUE, serializer="pickle")
    ended = server.until_over(task)
    assert (ended["status"], ended["total_items"], site.hits()[site.url_for("/slow?s=0.5")]) == ("completed", 1, 1)
    until(lambda: sum(crew.waiting_messages()) == 0, 10, "messages are left in the queue")
    assert worker.children() == before


def test_the_fleet_is_shown_with_what_each_does(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess
) -> None:
    run_id = run_of(server, target_url=site.url_for(tree_path(3, 3, delay_ms=150)), max_depth=4, per_host=1)

    def at_work(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # A speed alone may still be that of what was done before.
        return [each for each in found if each["pages_per_second"] and each["condition"] == "working"]

    seen = server.until(lambda: server.get("/workers"), lambda found: bool(at_work(found)))
    [busy] = at_work(seen)
    assert (busy["lanes"], "http" in busy["strategies"]) == (1, True)
    assert busy["memory_bytes"] > 10_000_000 and busy["progress_at"] is not None and busy["version"]
    system = server.get("/system")
    assert {each["id"] for each in system["workers"]} == {each["id"] for each in seen}
    assert (system["broker"]["answers"], system["engines"]) == (True, [])
    assert "tarantella_broker_up 1" in server.client.get("/metrics").text
    listed = json.loads(crew.asked("workers", "list", "--json"))
    assert {each["id"] for each in listed} == {each["id"] for each in seen}
    server.client.post(f"/jobs/runs/{run_id}/cancel")


def test_a_frozen_worker_is_shown_as_alive_without_progress(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess, tmp_path: Path
) -> None:
    """By a command that looks only once, too: it goes by what the worker last said of itself."""
    quick = {"TARANTELLA_STALL_SECONDS": "6"}
    for child in worker.children():
        os.kill(child, signal.SIGSTOP)
    try:
        until(
            lambda: all(time.time() - each["beat_at"] > 6 for each in crew.workers()), 20, "a frozen worker still beats"
        )
        assert "no sign of life" in crew.asked("workers", "list", data_dir=tmp_path / "alone", env=quick)
    finally:
        for child in worker.children():
            os.kill(child, signal.SIGCONT)


def test_one_run_over_many_hosts_is_drained_by_all_and_no_host_is_asked_more_than_allowed(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess
) -> None:
    trees = [site.url_for(tree_path(2, 4, delay_ms=60), host) for host in HOSTS]
    before = {each["id"]: each["progress"] for each in crew.workers()}
    wanted = {"scope": "any", "max_depth": 5, "concurrency": 32, "per_host": 2}
    runs = [
        run_of(server, target_url=site.url_for(f"/links?hrefs={quote('|'.join(trees))}"), **wanted) for _ in range(2)
    ]
    for run_id in runs:
        ended = until_run_is_over(server, run_id)
        assert ended["status"] == "completed"
        assert server.get(f"/jobs/runs/{run_id}/progress")["counts"]["total"] == 1 + 21 * len(HOSTS)
    peaks = site.log()["peak_by_host"]
    assert {host: peak for host, peak in peaks.items() if host in HOSTS and peak > 2} == {}
    server.until(crew.workers, lambda found: all(each["progress"] > before[each["id"]] for each in found))


def test_a_host_that_is_split_is_drained_by_all_and_still_asked_no_more_than_allowed(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess
) -> None:
    host = "127.0.0.9"
    assert server.client.patch(f"/sites/{host}", json={"parts": 3, "per_host": 5}).json()["policy"]["parts"] == 3
    asked_before = server.get(f"/sites/{host}")["errors"]["requests"]
    before = {each["id"]: each["progress"] for each in crew.workers()}
    run_id = run_of(server, target_url=site.url_for(tree_path(3, 5, delay_ms=60), host), max_depth=4, concurrency=20)
    assert until_run_is_over(server, run_id)["status"] == "completed"
    lanes = {row["lane"] for row in crew.rows("SELECT DISTINCT lane FROM pages WHERE run_id = %s", run_id)}
    assert lanes == {host, f"{host}#1", f"{host}#2"}
    assert (site.log()["peak_by_host"][host], len(site.hits())) == (5, 156)
    server.until(crew.workers, lambda found: all(each["progress"] > before[each["id"]] for each in found))
    # To people it is one host, with all that was asked of it.
    server.until(lambda: server.get(f"/sites/{host}"), lambda seen: seen["errors"]["requests"] - asked_before == 156)
    assert not [each for each in server.get("/sites") if "#" in each["host"]]


def test_any_server_gives_the_same_answers_and_streams_live(
    crew: Fleet, server: ServerProcess, worker: WorkerProcess, site: SiteProcess, tmp_path: Path
) -> None:
    with crew.serve(tmp_path / "other") as other:
        run_id = run_of(other, target_url=site.url_for(tree_path(3, 3, delay_ms=40)), max_depth=4)
        until(lambda: len(site.hits()) > 3, 30, "nothing is fetched")
        lines: list[str] = []
        with httpx2.stream("GET", f"{server.url}/jobs/runs/{run_id}/events/stream", timeout=30) as stream:
            for line in stream.iter_lines():
                lines.append(line)
                if "Run started" in line:
                    other.kill_api()  # whoever took it in: the run, and those who watch it elsewhere, go on
        assert any("Run completed" in line for line in lines)
        assert server.get(f"/jobs/runs/{run_id}/progress")["counts"]["total"] == 40
        with crew.serve(tmp_path / "third") as third:
            for path in (f"/jobs/runs/{run_id}", f"/jobs/runs/{run_id}/events", f"/jobs/runs/{run_id}/records"):
                assert third.get(path) == server.get(path)


def test_a_stop_drains_costs_no_attempt_and_another_goes_on(fleet: Fleet, site: SiteProcess) -> None:
    page = site.url_for("/slow?s=15")
    with fleet.serve() as server:
        with fleet.work(1, env={"TARANTELLA_DRAIN_SECONDS": "1"}) as leaving:
            task = server.submit(page, retry_attempts=1)
            until(lambda: site.hits()[page] > 0, 30, "the page is not asked for")
            began = time.monotonic()
            leaving.signal(signal.SIGTERM)
            assert leaving.wait(30) == 0, leaving.errors
            assert time.monotonic() - began < 12
        assert fleet.workers() == []
        with fleet.work(1):
            # Its only attempt was cut off by the stop: had that been charged, it would not be asked for once more.
            until(lambda: site.hits()[page] == 2, 30, "the page is not asked for again")
            assert server.status(task)["failed_items"] == 0


def test_plain_celery_starts_workers_too_and_they_say_what_is_missing(
    crew: Fleet, server: ServerProcess, site: SiteProcess
) -> None:
    command = [sys.executable, "-m", "celery", "-A", "tarantella.queues.celery", "worker", "-c", "1", "-n", "plain@%h"]
    known = {each["id"] for each in crew.workers()}
    with WorkerProcess(command, crew.folder, ready=False) as plain:
        until(lambda: len(crew.workers()) > len(known), 30, "plain Celery has no engine")
        plain.signal(signal.SIGTERM)
        assert plain.wait(30) == 0, plain.errors
    until(lambda: {each["id"] for each in crew.workers()} == known, 10, "it left its worker behind")
    with WorkerProcess(command, crew.folder.parent, ready=False) as lost:
        assert lost.wait(30) != 0
        assert "There is no broker" in lost.errors


def test_a_worker_refuses_a_schema_that_it_does_not_know_and_says_so(fleet: Fleet) -> None:
    with fleet.work(1, env={"TARANTELLA_WORKER_LIFE_SECONDS": "6"}) as worker:
        fleet.until_workers(1)
        fleet.rows("UPDATE alembic_version SET version_num = '9999' RETURNING 1")
        until(lambda: not fleet.workers(), 20, "it still works in a database that it does not know")
        until(lambda: "The database was upgraded" in worker.errors, 5, "it did not say why")
    with fleet.work(1, ready=False) as refused:
        assert refused.wait(30) != 0
        assert "schema 9999" in refused.errors


def test_handlers_of_workflows_are_executed_by_workers_and_survive_them(
    tmp_path: Path, postgres_server: Server, redis_server: RedisServer
) -> None:
    allowed = {"TARANTELLA_WORKFLOW_HANDLERS": "tests.fault.flow_steps"}
    with (
        new_fleet(tmp_path, postgres_server, redis_server) as fleet,
        fleet.serve(env=allowed) as server,
        fleet.work(env=allowed) as worker,
    ):
        fleet.until_workers(1)
        steps = [
            {"name": "a", "handler": "tests.fault.flow_steps:note", "params": {"folder": str(tmp_path), "seconds": 1}},
            {
                "name": "b",
                "handler": "tests.fault.flow_steps:note",
                "params": {"folder": str(tmp_path)},
                "dependencies": ["a"],
            },
        ]
        made = server.client.post("/workflows", json={"name": "far", "steps": steps, "start": True})
        assert made.status_code == 201, made.text
        log = tmp_path / "log"
        until(log.exists, 30, "no worker has begun")
        worker.kill()
        with fleet.work(env=allowed):
            path = f"/workflows/{made.json()['id']}/progress"
            seen = server.until(lambda: server.get(path), lambda seen: seen["status"] != "running")
    assert (seen["status"], seen["completed_tasks"]) == ("completed", 2)
    assert log.read_text().splitlines() == ["a begin", "a begin", "a end", "b begin", "b end"]
