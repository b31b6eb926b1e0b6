"""Several workers share the hosts of a run as soon as they are there; nobody waits for anybody's next look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.run import RunStatus
from tarantella.engine import tenure
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.services.app import App
from tarantella.services.submit import submit
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tests.integration.crawling import EAGER, RARELY, awaited, begin, hits, looking, spec_of
from tests.site import Site, tree_path


@pytest.fixture
def near() -> Iterator[App]:
    """An application in a folder whose name is short enough for the addresses of sockets: there hints are heard."""
    with TemporaryDirectory(dir="/tmp") as folder:
        app = open_app(data_dir=Path(folder))
        yield looking(app, RARELY)
        app.close()


@asynccontextmanager
async def working(app: App, run_id: str, *, expects: int = 0) -> AsyncIterator[Worker]:
    """A worker for this run, in this process."""
    tools = app.make_tools()
    worker = app.make_worker(tools, run_id)
    await worker.start()
    worker.expect(expects)
    work = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await work
        await tools.close()


def shares(tx: Tx) -> list[int]:
    """How many hosts each worker has, the fewest first."""
    rows = tx.rows("SELECT count(*) FROM lanes WHERE owner IS NOT NULL AND name LIKE '127.%' GROUP BY owner")
    return sorted(count for (count,) in rows)


async def until_shared(app: App, *wanted: int, seconds: float = 20.0) -> list[list[int]]:
    """Wait until the hosts are shared like this; in which ways they were until then."""
    seen: list[list[int]] = []
    async with asyncio.timeout(seconds):
        while not seen or seen[-1] != list(wanted):
            now = await app.database.read(shares)
            if not seen or seen[-1] != now:
                seen.append(now)
            await asyncio.sleep(0.01)
    return seen


def endless(site: Site, hosts: int) -> list[str]:
    """Hosts with more pages than any test waits for."""
    return [site.url_for(tree_path(7, 5, delay_ms=30), f"127.0.0.{number}") for number in range(1, hosts + 1)]


@awaited
async def test_who_comes_later_gets_hosts_at_once_from_those_who_have_many(near: App) -> None:
    async with Site() as site, begin(near, site, *endless(site, 4), depth=None, concurrency=8, per_host=2) as crawl:
        await site.until(lambda: len(hits(site)) >= 20)
        assert await near.database.read(shares) == [4]
        async with working(near, crawl.run_id) as newcomer:
            await until_shared(near, 2, 2)
            async with asyncio.timeout(20):
                while not newcomer.in_flight():
                    await asyncio.sleep(0.01)


@awaited
async def test_what_belongs_to_helpers_who_are_about_to_come_is_left_to_them_for_a_while(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenure, "OTHERS_COME_WITHIN", 1.0)
    async with Site() as site:
        run_id = await submit(app, spec_of(depth=None, concurrency=8, per_host=2), endless(site, 4))
        async with working(looking(app, EAGER), run_id, expects=1):
            # Nobody comes, and then it has them all.
            assert [share for share in await until_shared(app, 4) if share] == [[2], [4]]


class Recorder:
    """Hints that go nowhere."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def listen(self, woken: object) -> None: ...

    def send(self, worker_ids: Iterable[str]) -> None:
        self.sent += worker_ids

    def tell(self, run_ids: Iterable[str]) -> None: ...

    async def close(self) -> None: ...


@awaited
async def test_whoever_settles_the_last_page_of_a_run_tells_the_others(app: App) -> None:
    hints, tools = Recorder(), app.make_tools()
    settings = WorkerSettings(app.settings.workers_dir, only_run="run")
    worker = Worker(app.database, tools, settings, lambda _: hints)
    worker._peers = ["keeper", "helper"]
    worker._on_settled([], Settled(ended={"another": RunStatus.COMPLETED}))
    assert hints.sent == []
    worker._on_settled([], Settled(ended={"run": RunStatus.COMPLETED}))
    assert hints.sent == ["keeper", "helper"]
    await tools.close()
