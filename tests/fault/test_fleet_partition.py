"""Three machines, of which one is cut off and comes back: its work goes on elsewhere, and nothing is done twice."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.fleet_crawl import Crawl
from tests.fault.processes import SiteProcess, until
from tests.fleet import Fleet, WorkerProcess, new_fleet
from tests.namespaces import Network, Relay, namespaces_or_skip
from tests.postgres import Server
from tests.redis import RedisServer

pytestmark = pytest.mark.slow
LIFE = "6"


@pytest.fixture
def network() -> Iterator[Network]:
    namespaces_or_skip()
    with Network(machines=3, addresses=6) as made:
        yield made


@pytest.fixture
def fleet(tmp_path: Path, postgres_server: Server, redis_server: RedisServer) -> Iterator[Fleet]:
    with new_fleet(tmp_path, postgres_server, redis_server, TARANTELLA_WORKER_LIFE_SECONDS=LIFE) as made:
        yield made


def machine(fleet: Fleet, network: Network, number: int, database_url: str, broker_url: str) -> WorkerProcess:
    """A worker on a machine of its own: it shares nothing with the others but the network."""
    command = [sys.executable, "-m", "tarantella", "worker", "--json", "--processes", "1", "--name", f"m{number}@%h"]
    command += ["--data-dir", str(fleet.folder / f"machine{number}")]
    env = {**fleet.settings, "TARANTELLA_DATABASE_URL": database_url, "TARANTELLA_BROKER_URL": broker_url}
    return WorkerProcess(network.on(number, command), fleet.folder, env=env)


def test_a_machine_that_is_cut_off_and_comes_back(
    fleet: Fleet, network: Network, postgres_server: Server, redis_server: RedisServer, site: SiteProcess
) -> None:
    ours = network.addresses[:1]
    name = fleet.database_url.rpartition("?")[0].rpartition("/")[2]
    with (
        Relay(ours, postgres_server.port) as database,
        Relay(ours, redis_server.port) as broker,
        Relay(network.addresses, site.port) as web,
    ):
        database_url = postgres_server.tcp_url(name, host=ours[0], port=database.port)
        broker_url = fleet.broker_url.replace(f"127.0.0.1:{redis_server.port}", f"{ours[0]}:{broker.port}")
        crawl = Crawl(fleet, site, hosts=network.addresses, port=web.port)
        with (
            fleet.serve(allow_network=network.network) as server,
            machine(fleet, network, 0, database_url, broker_url),
            machine(fleet, network, 1, database_url, broker_url),
            machine(fleet, network, 2, database_url, broker_url) as cut_off,
        ):
            before = {worker["id"] for worker in fleet.until_workers(3)}
            crawl.begin(server)
            network.cut(2)
            until(lambda: len(fleet.workers()) == 2, 40, "a machine that is cut off is still thought to work")
            crawl.until_over()
            network.mend(2)
            try:
                now = fleet.until_workers(3)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{cut_off.errors}") from None
            assert len({worker["id"] for worker in now} - before) == 1
            assert cut_off.is_running
            crawl.check()
