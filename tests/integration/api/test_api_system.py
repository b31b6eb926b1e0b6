"""Health, readiness, metrics and the overview: what they say, and what they don't need to say it."""

from __future__ import annotations

import asyncio
import re
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from tarantella.api.app import make_api
from tarantella.domain.errors import StoreBusy
from tarantella.domain.spec import Spec
from tarantella.domain.vitals import Vitals
from tarantella.services import system, writing
from tarantella.services.app import App
from tarantella.services.submit import submit
from tarantella.services.supervisor import Supervisor
from tarantella.store import counters, workers
from tarantella.store.database import Database

SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')


def engine(app: App, **vitals: int) -> str:
    """An engine that has just beaten."""
    info = workers.WorkerInfo("an-engine", None, "elsewhere", 7, "0")
    app.database.write_now(partial(workers.register, worker=info, now=app.now()))
    beat = partial(workers.beat, worker_id=info.id, hungry=False, now=app.now(), vitals=Vitals(**vitals))
    app.database.write_now(beat)
    return info.id


@pytest.fixture
def without_store(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on the database does not answer."""

    async def busy(*_: object, **__: object) -> None:
        raise StoreBusy("The database is locked.", remedy="Try again.")

    def lose() -> None:
        monkeypatch.setattr(Database, "read", busy)
        monkeypatch.setattr(Database, "write", busy)

    return lose


@pytest.mark.parametrize("path", ["/health", "/healthz"])
def test_a_server_is_alive_even_when_its_database_is_not(
    http: TestClient, without_store: Callable[[], None], path: str
) -> None:
    without_store()
    answer = http.get(path)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_without_an_engine_a_server_is_not_ready_and_says_so(http: TestClient) -> None:
    answer = http.get("/readyz")
    told = answer.json()
    assert (answer.status_code, told["code"], told["engines"]) == (503, "not_ready", "no engine is at work")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("own", "elsewhere", "told"),
    [
        (2, False, "The server starts its engines again by itself"),
        (0, False, "This server has no engines of its own"),
        (0, True, "A worker that stands still is not started again by itself"),
        (2, True, "The server starts its own engines again by itself, but no worker"),
    ],
)
def test_whoever_is_not_ready_says_who_is_started_again_by_itself_and_who_is_not(
    app: App, own: int, elsewhere: bool, told: str
) -> None:
    clock = time.monotonic()
    supervisor = Supervisor(app, own, clock=lambda: clock)
    with TestClient(make_api(app, supervisor=supervisor), base_url="http://127.0.0.1:8000") as http:
        if elsewhere:
            engine(app, work=1)
            assert http.get("/readyz").status_code == 200
            clock += app.settings.stall_seconds
        problem = http.get("/readyz").json()
    assert problem["engines"].startswith("no engine has made progress" if elsewhere else "no engine is at work")
    assert problem["remedy"].startswith(told)
    assert problem["detail"] == f"Engines: {problem['engines']}."


def test_a_command_that_serves_its_own_run_is_no_engine(app: App, http: TestClient) -> None:
    info = workers.WorkerInfo("a-command", "its-run", "here", 7, "0")
    app.database.write_now(partial(workers.register, worker=info, now=app.now()))
    assert http.get("/readyz").status_code == 503


async def _submit(app: App, count: int) -> None:
    for _ in range(count):
        await submit(app, Spec(), ["https://example.com/"])


def test_a_server_with_much_to_do_is_ready(app: App, http: TestClient) -> None:
    engine(app, work=50, progress=1)
    assert http.portal is not None
    http.portal.call(_submit, app, 7)
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()["engines"]) == (200, "working")


def test_a_server_whose_database_does_not_answer_is_not_ready(
    http: TestClient, without_store: Callable[[], None]
) -> None:
    without_store()
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()["store"]) == (503, "The database is locked.")


@pytest.fixture
def at_every_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "TRIES_EVERY", 0.0)


@contextmanager
def full_disk(app: App) -> Iterator[None]:
    """From now on no file may grow beyond what the database's log has."""
    log = app.settings.data_dir / "tarantella.db-wal"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("at_every_probe")
def test_a_server_that_can_store_nothing_is_not_ready_until_it_can(app: App, http: TestClient) -> None:
    engine(app)
    assert http.get("/readyz").json() == {"status": "ready", "store": "ok", "engines": "idle"}
    with full_disk(app):
        answer = http.get("/readyz")
        told = answer.json()
        assert (answer.status_code, told["code"], told["engines"]) == (503, "not_ready", "unknown")
        assert "can't be read or written" in told["store"]
        assert told["detail"].startswith("The database: ")
        assert "its disk is full" in told["remedy"]
    assert http.get("/readyz").status_code == 200


@pytest.mark.usefixtures("at_every_probe")
def test_a_server_whose_data_was_deleted_is_not_ready(app: App, http: TestClient) -> None:
    engine(app)
    assert http.get("/readyz").status_code == 200
    shutil.rmtree(app.settings.data_dir)
    told = http.get("/readyz").json()
    assert (told["status"], "was deleted or moved away" in told["store"]) == (503, True)
    assert told["remedy"].startswith("Put it back")


def test_whether_the_store_takes_writes_is_tried_now_and_then_and_leaves_nothing(app: App, http: TestClient) -> None:
    engine(app)
    tries: list[str] = []
    write = app.database.write

    async def counted(work: Any, **more: Any) -> Any:
        tries.append(more["name"])
        return await write(work, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(app.database, "write", counted)
        assert {http.get("/readyz").status_code for _ in range(20)} == {200}
    assert tries == ["probe"]
    assert app.database.read_now(counters.totals) == {}


def test_a_store_that_takes_a_write_and_never_answers_is_not_ready(
    app: App, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(app)

    async def silent(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(app.database, "write", silent)
    monkeypatch.setattr(system, "STORE_PATIENCE", 0.1)
    assert http.get("/readyz").status_code == 200, "it may only be busy"
    monkeypatch.setattr(writing, "LONGEST_TRY", 0.1)
    told = http.get("/readyz").json()
    assert (told["status"], "has taken nothing in" in told["store"]) == (503, True)


def test_the_overview_tells_capacity_and_why_runs_wait(app: App, http: TestClient) -> None:
    engine(app, work=3, progress=9, in_flight=2)
    assert http.portal is not None
    http.portal.call(_submit, app, 7)
    told = http.get("/system").json()
    assert told["capacity"] == {
        "max_concurrent_tasks": 5,
        "running": 5,
        "free": 0,
        "queued": 2,
        "paused": 0,
        "at_capacity": True,
    }
    assert [run["reason"] for run in told["waiting"]] == ["waits for one of the 5 runs before it to end"] * 2
    assert told["queue"]["pending_pages"] == 7
    assert told["queue"]["oldest_queued_seconds"] >= 0
    [worker] = told["workers"]
    assert (worker["condition"], worker["in_flight"], worker["work"]) == ("working", 2, 3)
    assert told["lanes"]["known"] == 1


def test_metrics_are_what_prometheus_reads_and_name_no_host_or_run(app: App, http: TestClient) -> None:
    engine(app, in_flight=4)
    assert http.portal is not None
    http.portal.call(_submit, app, 1)
    counted = {'tarantella_pages_total{state="done",reason=""}': 123_456_789}
    app.database.write_now(partial(counters.add, counted=counted))
    http.get("/jobs/0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10")
    http.get("/nothing/here/example.com")
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert [line for line in samples if not SAMPLE.fullmatch(line)] == []
    assert 'tarantella_pages_total{state="done",reason=""} 123456789' in samples
    assert 'tarantella_runs{status="running"} 1' in samples
    assert "tarantella_requests_in_flight 4" in samples
    assert 'tarantella_http_requests_total{method="GET",route="/jobs/{job_id}",status="404"} 1' in samples
    assert 'tarantella_http_requests_total{method="GET",route="none",status="404"} 1' in samples
    assert "example.com" not in answer.text
    assert "0199f3a2" not in answer.text
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    for line in samples:
        name = re.split(r"[{ ]", line)[0]
        assert name in named or re.sub("_(bucket|sum|count)$", "", name) in named
