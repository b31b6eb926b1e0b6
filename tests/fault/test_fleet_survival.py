"""Whatever dies of a fleet under load, every run ends, with the same pages as if nothing had been, and one record each."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from redis import Redis
from tarantella.queues.celery import queue_key
from tests.fault.fleet_crawl import Crawl, while_it_lasts
from tests.fault.processes import SiteProcess, until
from tests.fleet import Fleet, WorkerProcess, freeze, new_fleet, thaw
from tests.postgres import Server
from tests.redis import RedisServer, binary_or_skip

pytestmark = pytest.mark.slow
SHORT_LIFE = {"TARANTELLA_WORKER_LIFE_SECONDS": "6"}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of its own, to be stopped."""
    (tmp_path / "redis").mkdir()
    with RedisServer(binary_or_skip(), tmp_path / "redis") as server:
        yield server


@pytest.fixture
def fleet(tmp_path: Path, postgres_server: Server, broker: RedisServer) -> Iterator[Fleet]:
    with new_fleet(tmp_path, postgres_server, broker) as made:
        yield made


@contextmanager
def two_workers(fleet: Fleet, env: Mapping[str, str] = {}) -> Iterator[list[WorkerProcess]]:
    with fleet.work(1, ready=False, env=env) as one, fleet.work(1, ready=False, env=env) as two:
        fleet.until_workers(2)
        yield [one, two]


def test_workers_that_are_killed_one_by_one_and_all_at_once(fleet: Fleet, site: SiteProcess) -> None:
    crawl = Crawl(fleet, site)
    with fleet.serve() as server, two_workers(fleet) as workers:
        crawl.begin(server)
        # A child alone: Celery replaces it.
        os.kill(workers[0].children()[0], signal.SIGKILL)
        crawl.until_fetched(120)
        workers[1].kill()
        crawl.until_fetched(200)
        for worker in workers:
            worker.kill()
        with two_workers(fleet):
            crawl.check()


def test_a_server_that_is_killed_is_not_missed_by_runs_that_it_took_in(fleet: Fleet, site: SiteProcess) -> None:
    crawl = Crawl(fleet, site)
    with two_workers(fleet):
        with fleet.serve() as server:
            crawl.begin(server)
            server.kill()
        crawl.check()
        with fleet.serve() as again:
            assert {again.status(run_id)["status"] for run_id in crawl.runs} == {"completed"}


def test_a_broker_that_is_flushed_stopped_and_restarted(fleet: Fleet, broker: RedisServer, site: SiteProcess) -> None:
    crawl = Crawl(fleet, site)
    with fleet.serve() as server, two_workers(fleet) as workers:
        crawl.begin(server)
        broker.flush()
        crawl.until_fetched(80)
        broker.stop()
        late = server.submit(site.url_for("/ok", "127.0.0.7"))
        crawl.until_fetched(160)
        broker.start()
        broker.flush()
        crawl.check()
        assert server.until_over(late)["status"] == "completed"
        assert all(worker.is_running for worker in workers)


def test_a_database_that_is_restarted_every_few_seconds(
    fleet: Fleet, postgres_server: Server, site: SiteProcess
) -> None:
    crawl = Crawl(fleet, site)
    with fleet.serve() as server, two_workers(fleet) as workers:
        crawl.begin(server)
        while_it_lasts(crawl, postgres_server.restart, times=4)
        crawl.check()
        assert all(worker.is_running for worker in workers)


def test_a_worker_that_slept_past_its_life_changes_nothing_and_begins_anew(fleet: Fleet, site: SiteProcess) -> None:
    crawl = Crawl(fleet, site)
    with fleet.serve(env=SHORT_LIFE) as server, two_workers(fleet, SHORT_LIFE) as workers:
        before = {worker["id"] for worker in fleet.workers()}
        crawl.begin(server)
        freeze(workers[0].pid)
        try:
            until(lambda: len(fleet.workers()) == 1, 30, "a worker that sleeps is still thought to live")
            crawl.until_over()
        finally:
            thaw(workers[0].pid)
        now = fleet.until_workers(2)
        assert len({worker["id"] for worker in now} - before) == 1
        until(lambda: "was declared dead" in workers[0].errors, 20, "it did not say that it was thought dead")
        crawl.check()


def test_every_message_delivered_twice(fleet: Fleet, broker: RedisServer, site: SiteProcess) -> None:
    crawl = Crawl(fleet, site)
    sent_to = broker.new_url()
    serve = fleet.serve(env={"TARANTELLA_BROKER_URL": sent_to})
    with twice(sent_to, fleet.broker_url) as carried, serve as server, two_workers(fleet):
        crawl.begin(server)
        crawl.check()
        assert carried
        until(lambda: sum(fleet.waiting_messages()) == 0, 10, "messages are left")


@contextmanager
def twice(source: str, target: str) -> Iterator[list[bytes]]:
    """Carry every message from one broker to another, and a second time."""
    carried: list[bytes] = []
    over = threading.Event()
    keys = [queue_key(priority) for priority in range(4)]

    def carry() -> None:
        with Redis.from_url(source) as taken, Redis.from_url(target) as given:
            while not over.is_set():
                with suppress(RedisError):
                    if (found := taken.brpop(keys, timeout=1)) is not None:
                        key, message = found
                        given.lpush(key, message, message)
                        carried.append(message)

    postman = threading.Thread(target=carry, daemon=True)
    postman.start()
    try:
        yield carried
    finally:
        over.set()
        postman.join(5)
