"""A process that slept past its life: others have taken its work, and whatever it still wants to write is refused."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from tarantella.domain.errors import StoreBusy, WorkerDead
from tarantella.engine.clock import Clock
from tarantella.engine.lifeline import Lifeline
from tarantella.engine.reaper import Reaper
from tarantella.services.submit import submit
from tarantella.store import workers
from tarantella.store.database import Database
from tarantella.store.tx import Tx
from tests.fault.commands import driver
from tests.fault.crawler import TIMINGS, quick_app, spec_of
from tests.fault.engines import engine, until_over
from tests.fault.invariants import check, one_value, open_to_read, read_run
from tests.fault.places import database_url, on_both
from tests.fault.processes import Child, SiteProcess, until
from tests.site import tree_path, tree_paths

T = TypeVar("T")

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
DEPTH, FAN, DELAY_MS = 2, 8, 200
TABLES = ("runs", "pages", "records", "attempts", "run_events", "stands", "run_workers", "lanes")
SPEC = {"concurrency": 16, "per_host": 4}


def start_urls(site: SiteProcess) -> list[str]:
    return [site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS), host) for host in HOSTS]


def all_urls(site: SiteProcess) -> set[str]:
    return {site.url_for(path, host) for host in HOSTS for path in tree_paths(DEPTH, FAN, DELAY_MS)}


def contents(data_dir: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row that matters."""
    with closing(open_to_read(data_dir)) as db:
        return {table: [tuple(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")] for table in TABLES}


def freeze(data_dir: Path, child: Child) -> None:
    """Stop the process between two transactions: one that sleeps with the write lock in its hand stops everybody."""

    def stopped_without_the_lock() -> bool:
        child.signal(signal.SIGSTOP)
        if database_url(data_dir) is not None:
            idle = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tarantella' AND state LIKE '%in transaction%'"
            if one_value(data_dir, idle):
                child.signal(signal.SIGCONT)
                return False
            return True
        with closing(sqlite3.connect(data_dir / "tarantella.db", isolation_level=None, timeout=0.5)) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute("ROLLBACK")
            except sqlite3.OperationalError:
                child.signal(signal.SIGCONT)
                return False
        return True

    until(stopped_without_the_lock, 30, "it always holds the lock")


def works(data_dir: Path, child: Child) -> bool:
    """Whether it owns a lane and something of it is in flight."""
    owns = (
        "SELECT 1 FROM lanes JOIN workers ON workers.id = lanes.owner WHERE workers.pid = ? AND lanes.name <> '!duties'"
    )
    slots = "SELECT sum(slots) FROM run_workers JOIN workers ON workers.id = worker_id WHERE pid = ?"
    return bool(one_value(data_dir, owns, child.pid) and one_value(data_dir, slots, child.pid))


def is_thought_dead(data_dir: Path, child: Child) -> bool:
    return one_value(data_dir, "SELECT dead_at FROM workers WHERE pid = ?", child.pid) is not None


def wakes_and_ends(sleeper: Child, site: SiteProcess, data_dir: Path) -> None:
    """It wakes, changes nothing, begins nothing, and ends saying why."""
    before = contents(data_dir)
    site.reset()
    sleeper.signal(signal.SIGCONT)
    assert sleeper.wait(15) == 1
    assert "worker_dead" in sleeper.errors
    assert "declared dead" in sleeper.errors
    assert contents(data_dir) == before
    # At most what was about to be sent when it fell asleep.
    assert site.hits().total() <= 2
    check(data_dir, at_rest=True)


@on_both
def test_a_helper_that_wakes_after_its_death_changes_nothing(site: SiteProcess, data_dir: Path) -> None:
    with driver(data_dir, "scrape", *start_urls(site), spec=SPEC) as keeper:
        run_id = keeper.until_it_tells("run")["id"]
        with driver(data_dir, "engine", run_id) as helper:
            until(lambda: works(data_dir, helper), 30, "the helper does not work")
            freeze(data_dir, helper)
            assert keeper.wait() == 0, keeper.errors
            assert is_thought_dead(data_dir, helper)
            run = read_run(data_dir)
            assert (run.status, run.done) == ("completed", all_urls(site))
            wakes_and_ends(helper, site, data_dir)


def test_a_keeper_that_wakes_after_another_command_took_over_changes_nothing(site: SiteProcess, data_dir: Path) -> None:
    with driver(data_dir, "scrape", *start_urls(site), spec=SPEC) as keeper:
        run_id = keeper.until_it_tells("run")["id"]
        with driver(data_dir, "engine", run_id) as helper:
            until(lambda: works(data_dir, helper) and works(data_dir, keeper), 30, "they don't share the work")
            freeze(data_dir, keeper)
            with driver(data_dir, "resume", run_id) as hasty:
                # On a machine with much to do it may come when the keeper is already thought dead.
                came_too_late = hasty.wait() == 0
                assert came_too_late or "Another command is working on this run" in hasty.errors
            # The helper sees that the beat stands still, lets the run rest, and has nothing to do any more.
            assert helper.wait(30) == 0, helper.errors
        assert is_thought_dead(data_dir, keeper)
        if not came_too_late:
            assert (read_run(data_dir).status, read_run(data_dir).reason) == ("paused", "interrupted")
            check(data_dir)
            with driver(data_dir, "resume", run_id) as successor:
                assert successor.wait() == 0, successor.errors
        run = read_run(data_dir)
        assert (run.status, run.done) == ("completed", all_urls(site))
        wakes_and_ends(keeper, site, data_dir)


def watch(data_dir: Path, looks: list[float]) -> list[bool]:
    """Whether a living process whose beat stands still is declared dead at each of these looks, in seconds."""
    now = 0.0

    async def look_at_times() -> list[bool]:
        nonlocal now
        app = quick_app(data_dir)
        clock = Clock(monotonic=lambda: now)
        lifeline = Lifeline(app.settings.workers_dir, "sleeper")
        try:
            info = workers.WorkerInfo("sleeper", None, app.hostname, 1, "0")
            await app.database.write(partial(workers.register, worker=info, now=0.0))
            reaper = Reaper(app.database, app.settings.workers_dir, app.hostname, max_running=5, clock=clock)
            found = []
            for moment in looks:
                now = moment
                found.append(await reaper.run_once() == ["sleeper"])
            return found
        finally:
            lifeline.cut()
            app.close()

    return asyncio.run(look_at_times())


def test_a_beat_has_to_stand_still_for_a_minute(data_dir: Path) -> None:
    assert watch(data_dir, [*range(0, 60, 5), 59.9, 60.0]) == [*([False] * 13), True]


def test_a_minute_counts_only_if_the_store_answered_throughout(data_dir: Path) -> None:
    assert not any(watch(data_dir, [0, 5, 10, 15, 25.1, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85]))


class MuteDatabase(Database):
    """A store that takes everything but beats, for as long as it is told to."""

    mute = True

    def _write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True) -> T:
        if name == "beat" and self.mute:
            raise StoreBusy("No beat is written now.")
        return super()._write(work, name, patient=patient)


def test_a_worker_that_cant_beat_dials_nothing_until_it_can(site: SiteProcess, data_dir: Path) -> None:
    deaf_after = TIMINGS["quick"].dials_nothing_after

    async def crawl() -> None:
        app = quick_app(data_dir, database=MuteDatabase)
        assert isinstance(app.database, MuteDatabase)
        try:
            urls = [site.url_for(f"/slow?n={n}&s=0.1") for n in range(60)]
            run_id = await submit(app, spec_of('{"concurrency": 2}'), urls)
            async with engine(app):
                began = time.monotonic()
                await asyncio.sleep(deaf_after + 1.0)
                late = [hit for hit in site.log()["hits"] if hit["start"] > began + deaf_after + 0.3]
                assert site.hits()
                assert not late
                app.database.mute = False
                await until_over(app, run_id)
            assert set(site.hits()) == set(urls)
        finally:
            app.close()

    asyncio.run(crawl())
    check(data_dir, at_rest=True)


def test_a_dead_worker_takes_no_lane_and_no_duty(site: SiteProcess, data_dir: Path) -> None:
    async def wake_up_dead() -> None:
        app = quick_app(data_dir)
        tools = app.make_tools()
        worker = app.make_worker(tools, None)
        try:
            await worker.start()
            await submit(app, spec_of("{}"), [site.url_for("/list?n=5")])
            declare = partial(workers.declare_dead, worker_id=worker.id, max_running=5, now=app.now())
            await app.database.write(declare)
            with pytest.raises(WorkerDead):
                await worker.run()
        finally:
            await tools.close()
            app.close()

    asyncio.run(wake_up_dead())
    check(data_dir)
    assert one_value(data_dir, "SELECT count(*) FROM lanes WHERE owner IS NOT NULL") == 0
    assert not site.hits()
