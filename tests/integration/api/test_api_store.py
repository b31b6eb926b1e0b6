"""The API on a database that is busy, and on one that several servers share."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from tarantella.api.app import make_api
from tarantella.bootstrap import open_app
from tarantella.services.app import App
from tarantella.services.tokens import Tokens
from tarantella.settings import load
from tests.contract.world import World
from tests.integration.api.conftest import working
from tests.integration.api.live import serving
from tests.integration.api.talking import Talker
from tests.integration.crawling import LOOPBACK
from tests.site import Site

TASK = {"url": "https://a.example/"}


@contextmanager
def locked(app: App) -> Iterator[None]:
    """Somebody else holds the database."""
    with closing(sqlite3.connect(app.settings.data_dir / "tarantella.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_busy_database_is_a_503_that_says_when_to_come_back_and_reading_goes_on(tmp_path: Path) -> None:
    app = open_app(load(data_dir=tmp_path / "data"), patience=0.3)
    with TestClient(make_api(app), base_url="http://127.0.0.1", raise_server_exceptions=False) as http:
        client = Talker(http)
        run = client.task("https://a.example/")
        with locked(app):
            answer = client.http.post("/scraping/async-scrape", json=TASK)
            assert (answer.status_code, answer.json()["code"]) == (503, "store_busy")
            assert int(answer.headers["retry-after"]) > 0
            assert client.refused("POST", f"/jobs/runs/{run}/pause")["status"] == 503
            assert client.get(f"/jobs/runs/{run}")["status"] == "running"
            assert client.get("/health")["status"] == "ok"
        assert client.http.post("/scraping/async-scrape", json=TASK).status_code == 200
        assert len(client.get("/jobs/runs")) == 2
    app.close()


@contextmanager
def frozen(world_url: str) -> Iterator[None]:
    """Whoever serves this database stands still, and keeps its connections."""
    from psycopg import connect

    with connect(world_url, autocommit=True) as asking:
        others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        found = [int(pid) for (pid,) in asking.execute(others)]
        assert found
        for pid in found:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in found:
                os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("tokens_are_known", [True, False])
def test_a_database_that_says_nothing_is_a_503_for_all_who_ask(
    tokens_are_known: bool, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tokens_are_known:
        monkeypatch.setattr(Tokens, "_is_old", lambda tokens: tokens._read_at is None)
    app = open_app(load(data_dir=tmp_path / "data", database_url=postgres_url), limit=0.5)

    async def ask(url: str) -> list[httpx2.Response]:
        async with httpx2.AsyncClient(base_url=url, timeout=20) as http:
            asked = [http.get("/jobs/runs") for _ in range(8)]
            asked += [http.post("/scraping/async-scrape", json=TASK) for _ in range(8)]
            return await asyncio.gather(*asked)

    with serving(app) as live:
        assert [answer.status_code for answer in asyncio.run(ask(live.url))] == [200] * 16
        with frozen(postgres_url):
            for _ in range(2):
                began = time.monotonic()
                answers = asyncio.run(ask(live.url))
                assert {answer.status_code for answer in answers} == {503}
                assert {answer.json()["code"] for answer in answers} == {"store_busy"}
                assert all("retry-after" in answer.headers for answer in answers)
                assert time.monotonic() - began < 5
        again = asyncio.run(ask(live.url))
        assert [answer.status_code for answer in again] == [200] * 16
        # Who was told to come back was not taken in.
        assert len(httpx2.get(f"{live.url}/jobs/runs").json()) == 16
    app.close()


def test_submits_that_waited_for_the_database_are_all_stored_when_it_is_free(app: App) -> None:
    async def many(url: str) -> list[Any]:
        async with httpx2.AsyncClient(base_url=url, timeout=30) as http:
            return await asyncio.gather(*(http.post("/scraping/async-scrape", json=TASK) for _ in range(30)))

    async def submit(url: str) -> list[Any]:
        with locked(app):
            submitting = asyncio.create_task(many(url))
            await asyncio.sleep(0.5)
        return await submitting

    with serving(app) as live:
        answers = asyncio.run(submit(live.url))
    assert Counter(answer.status_code for answer in answers) == {200: 30}
    assert len({answer.json()["task_id"] for answer in answers}) == 30
    World(app.database).check()


@pytest.fixture
def shared(tmp_path: Path, postgres_url: str) -> Iterator[tuple[App, App]]:
    """Two applications on one PostgreSQL database."""
    apps = [
        open_app(load(data_dir=tmp_path / name, database_url=postgres_url, allow_networks=LOOPBACK)) for name in "ab"
    ]
    yield apps[0], apps[1]
    for each in apps:
        each.close()


def test_two_servers_on_one_database_give_one_run_for_one_key(shared: tuple[App, App]) -> None:
    async def all_at_once(*urls: str) -> list[Any]:
        async with httpx2.AsyncClient(timeout=30) as http:
            headers = {"Idempotency-Key": "k"}
            asked = (http.post(f"{url}/scraping/async-scrape", json=TASK, headers=headers) for url in urls * 25)
            return await asyncio.gather(*asked)

    with serving(shared[0]) as first, serving(shared[1]) as second:
        answers = asyncio.run(all_at_once(first.url, second.url))
        assert len(httpx2.get(f"{second.url}/jobs/runs").json()) == 1
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    World(shared[0].database).check()


def test_a_job_runs_and_is_watched_collected_and_deleted_on_postgresql(shared: tuple[App, App], site: Site) -> None:
    app = shared[0]
    with TestClient(make_api(app), base_url="http://127.0.0.1", raise_server_exceptions=False) as http, working(app):
        client = Talker(http)
        price = {"name": "price", "css": ".price"}
        job = client.job(site.url_for("/links?hrefs=/fields|/404"), "title", price, max_depth=2)
        run = client.ended(client.run_of(job)["id"])
        assert (run["status"], run["counts"]["total"]) == ("partial", 3)
        assert len(client.get(f"/jobs/runs/{run['id']}/records")) == 2
        assert [page["reason"] for page in client.get(f"/jobs/runs/{run['id']}/pages?status=failed")] == ["not_found"]
        assert len(client.http.get(f"/jobs/runs/{run['id']}/export?format=jsonl").text.splitlines()) == 2
        assert client.get(f"/scraping/tasks/{run['id']}/status")["status"] == "partial"
        assert client.get("/scraping/status")["error_statistics"]["general_errors"] == 1
        told = http.get(f"/jobs/runs/{run['id']}/events/stream").text
        assert told.endswith('event: end\ndata: {"status":"partial"}\n\n')
        assert client.post(f"/jobs/runs/{run['id']}/retry-failed")["pages"] == 1
        client.ended(run["id"])
        client.delete(f"/jobs/{job['id']}")
        give_up = time.monotonic() + 10
        while app.database.read_now(lambda tx: tx.value("SELECT count(*) FROM pages")):
            assert time.monotonic() < give_up, "The duties remove what a deleted job's runs stored."
            time.sleep(0.05)
