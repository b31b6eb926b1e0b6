"""A broker that is slow, away, flushed or full: submits succeed at once, and runs run."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from kombu.exceptions import OperationalError
from redis.exceptions import ResponseError

from tarantella.queues.broker import Away, ask
from tarantella.queues.celery import configuration, make_celery
from tests.fault.processes import SiteProcess, until
from tests.fleet import Fleet, new_fleet
from tests.postgres import Server
from tests.redis import RedisServer, binary_or_skip
from tests.serving import ServerProcess

AT_ONCE = 1.0  # seconds


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


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


def timed_submit(server: ServerProcess, url: str) -> tuple[str, float]:
    began = time.monotonic()
    task = server.submit(url)
    return task, time.monotonic() - began


def test_messages_stay_few_whatever_the_backlog_priorities_reach_celery_and_all_runs_run(
    fleet: Fleet, site: SiteProcess
) -> None:
    with fleet.serve(env={"TARANTELLA_MAX_CONCURRENT_TASKS": "50"}) as server:
        tasks = [server.submit(site.url_for("/ok")) for _ in range(60)]
        until(lambda: sum(fleet.waiting_messages()) > 0, 10, "no message was sent")
        job = server.client.post(
            "/jobs", json={"target_url": site.url_for("/ok"), "fields": ["title"], "strategy": "http"}
        ).json()["id"]
        for priority in ("low", "high", "critical", "high"):
            assert server.client.post(f"/jobs/{job}/runs", json={"priority": priority}).status_code == 201
            time.sleep(0.2)
        # One of each kind that says more than those before it: low says nothing that medium has not said.
        assert fleet.waiting_messages() == [1, 1, 1, 0]
        with fleet.work(1, env={"TARANTELLA_MAX_CONCURRENT_TASKS": "50"}):
            for task in tasks:
                assert server.until_over(task)["status"] == "completed"
            until(lambda: sum(fleet.waiting_messages()) == 0, 10, "messages are left")


def test_with_the_broker_down_submits_succeed_at_once_run_by_poll_and_messages_come_back_with_it(
    fleet: Fleet, broker: RedisServer, site: SiteProcess
) -> None:
    with fleet.serve() as server, fleet.work(1) as worker:
        broker.stop()
        for _ in range(5):
            task, seconds = timed_submit(server, site.url_for("/ok"))
            assert seconds < AT_ONCE
            assert server.until_over(task, 15)["status"] == "completed"
        assert "The broker takes no messages" in server.errors
        broker.start()
        while not fleet.rows("SELECT 1 FROM wakes"):
            server.until_over(server.submit(site.url_for("/ok")))
        broker.flush()
        task, seconds = timed_submit(server, site.url_for("/ok"))
        assert seconds < AT_ONCE
        assert server.until_over(task, 15)["status"] == "completed"
        assert worker.is_running


def test_a_worker_that_starts_while_the_broker_is_down_works_all_the_same(
    fleet: Fleet, broker: RedisServer, site: SiteProcess
) -> None:
    broker.stop()
    with fleet.serve() as server, fleet.work(1, ready=False):
        task, seconds = timed_submit(server, site.url_for("/ok"))
        assert seconds < AT_ONCE
        assert server.until_over(task)["status"] == "completed"


def test_a_child_that_dies_while_the_broker_is_away_is_replaced(
    fleet: Fleet, broker: RedisServer, site: SiteProcess
) -> None:
    with fleet.serve() as server, fleet.work(1) as worker:
        fleet.until_workers(1)
        broker.stop()
        os.kill(worker.children()[0], signal.SIGKILL)
        task, _ = timed_submit(server, site.url_for("/ok"))
        assert server.until_over(task)["status"] == "completed"
        broker.start()
        # Celery finds that one of its own making, and looks after it as ever.
        os.kill(fleet.workers()[0]["pid"], signal.SIGKILL)
        task, _ = timed_submit(server, site.url_for("/ok?n=2"))
        assert server.until_over(task)["status"] == "completed"


def test_a_worker_whose_broker_is_frozen_replaces_its_children_and_stops_when_told(
    fleet: Fleet, broker: RedisServer, site: SiteProcess
) -> None:
    with fleet.serve() as server, fleet.work(1) as worker:
        fleet.until_workers(1)
        with broker.frozen():
            os.kill(worker.children()[0], signal.SIGKILL)
            task, _ = timed_submit(server, site.url_for("/ok"))
            assert server.until_over(task)["status"] == "completed"
            worker.signal(signal.SIGTERM)
            assert worker.wait(30) == 0
            # Its engine has ended as it should: nobody has to find out that it is gone.
            assert fleet.rows("SELECT 1 FROM workers WHERE dead_at IS NULL") == []
            assert not worker.group_is_alive()


@pytest.mark.parametrize(
    ("said", "is_trusted"), [("", False), ("?ssl_ca_certs={ca}", True), ("?ssl_cert_reqs=none", True)]
)
def test_a_broker_over_tls_is_who_its_certificate_says_unless_the_url_wants_none(
    broker: RedisServer, certificates: Path, said: str, is_trusted: bool
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    certificate = {"tls-cert-file": certificates / "good.pem", "tls-key-file": certificates / "good.key"}
    settings = {**certificate, "tls-ca-cert-file": certificates / "ca.pem", "tls-auth-clients": "no", "tls-port": port}
    with broker.client(broker.url(0)) as client:
        try:
            client.execute_command("CONFIG", "SET", *(str(each) for pair in settings.items() for each in pair))
        except ResponseError as error:
            pytest.skip(f"This Redis has no TLS: {error}")
    url = f"rediss://127.0.0.1:{port}/0{said.format(ca=certificates / 'ca.pem')}"
    celery = make_celery(configuration(url, drain_seconds=1.0))
    with celery.connection() as connection, nullcontext() if is_trusted else pytest.raises(OperationalError):
        connection.ensure_connection(max_retries=1, timeout=5)
    with nullcontext() if is_trusted else pytest.raises(Away):
        ask(url, 5.0)


def test_a_broker_that_accepts_and_never_answers_keeps_nobody_waiting(fleet: Fleet, site: SiteProcess) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=_accept, args=(silent,), daemon=True).start()
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        with fleet.serve(env={"TARANTELLA_BROKER_URL": url}) as server:
            for _ in range(5):
                _, seconds = timed_submit(server, site.url_for("/ok"))
                assert seconds < AT_ONCE
            server.signal(signal.SIGTERM)
            assert server.wait(15) == 0


def _accept(silent: socket.socket) -> None:
    kept = []
    while True:
        try:
            kept.append(silent.accept())
        except OSError:
            return
