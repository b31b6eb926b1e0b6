"""Commands that meet each other, and the work, at the worst moment."""

from __future__ import annotations

import asyncio
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from tarantella.domain.errors import Conflict
from tarantella.domain.event import RUN_CANCELLED, RUN_COMPLETED, RUN_FAILED
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.submit import submit
from tarantella.store import steering
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.tx import Tx
from tests.fault.commands import driver
from tests.fault.crawler import quick_app, spec_of
from tests.fault.engines import engine, until_over
from tests.fault.invariants import Crawled, check, read_run
from tests.fault.places import on_both
from tests.fault.processes import SiteProcess, until
from tests.site import tree_path, tree_paths

T = TypeVar("T")

ENDINGS = (RUN_COMPLETED, RUN_FAILED, RUN_CANCELLED)
COMMANDS = 100
DEPTH, FAN, DELAY_MS = 3, 4, 30


class GatedDatabase(Database):
    """A store whose settles stop at a gate: before they begin, or before they commit."""

    def __init__(self, place: Place, *, inside: bool) -> None:
        super().__init__(place)
        self._here_from = math.inf  # who stops at the gate must not stop the event loop
        self._inside = inside
        self.reached = threading.Event()
        self.gate = threading.Event()

    def _write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True) -> T:
        if name != "settle":
            return super()._write(work, name, patient=patient)
        if not self._inside:
            self._stop_at_gate()
            return super()._write(work, name, patient=patient)

        def gated(tx: Tx) -> T:
            result = work(tx)
            self._stop_at_gate()
            return result

        return super()._write(gated, name, patient=patient)

    def _stop_at_gate(self) -> None:
        self.reached.set()
        assert self.gate.wait(30)


def endings(run: Crawled) -> list[str]:
    return [event for event in run.events if event in ENDINGS]


@on_both
@pytest.mark.parametrize(
    ("inside", "when", "status", "records"),
    [
        pytest.param(True, "too late", "completed", 1, id="the commit is under way, and the cancel comes too late"),
        pytest.param(False, "first", "cancelled", 0, id="the cancel is through, and the settle finds its page gone"),
        pytest.param(False, "half", "cancelled", 1, id="cancelled but not yet closed: the settle ends the run"),
    ],
)
def test_cancel_during_commit_keeps_exactly_one_winner(
    site: SiteProcess, data_dir: Path, inside: bool, when: str, status: str, records: int
) -> None:

    async def race() -> None:
        gated: list[GatedDatabase] = []

        def database(place: Place) -> Database:
            gated.append(GatedDatabase(place, inside=inside))
            return gated[0]

        ours, theirs = quick_app(data_dir, database=database), quick_app(data_dir)
        try:
            run_id = await submit(theirs, spec_of("{}"), [site.url_for("/ok")])
            async with engine(ours):
                assert await asyncio.to_thread(gated[0].reached.wait, 20)
                if when == "half":
                    await theirs.database.write(partial(steering.want_cancel, run_id=run_id))
                cancel = asyncio.create_task(runs.cancel(theirs, run_id)) if when != "half" else None
                if cancel is not None and when == "first":
                    assert await cancel == "cancelled"
                gated[0].gate.set()
                await until_over(theirs, run_id)
                assert cancel is None or await cancel == status
        finally:
            gated[0].gate.set()
            ours.close()
            theirs.close()

    asyncio.run(race())
    run = read_run(data_dir)
    assert (run.status, len(run.records), len(endings(run))) == (status, records, 1)
    check(data_dir, at_rest=True)


def test_what_was_settled_before_a_cancel_is_kept_and_what_is_in_flight_is_dropped(
    site: SiteProcess, data_dir: Path
) -> None:
    async def race() -> None:
        app = quick_app(data_dir)
        try:
            run_id = await submit(app, spec_of("{}"), [site.url_for("/ok"), site.url_for("/slow?s=60")])
            async with engine(app):
                while not (await runs.get(app, run_id)).counts.done or len(site.hits()) < 2:
                    await asyncio.sleep(0.02)
                assert await runs.cancel(app, run_id) == "cancelled"
                cancelled_at = time.monotonic()
                while site.log()["in_flight"]:
                    assert time.monotonic() - cancelled_at < 30
                    await asyncio.sleep(0.02)
        finally:
            app.close()

    asyncio.run(race())
    run = read_run(data_dir)
    assert run.pages == {
        site.url_for("/ok"): ("done", None, None),
        site.url_for("/slow?s=60"): ("skipped", "cancelled", None),
    }
    assert endings(run) == [RUN_CANCELLED]
    check(data_dir, at_rest=True)


def test_cancel_before_the_first_take_fetches_nothing(site: SiteProcess, data_dir: Path) -> None:
    async def race() -> None:
        app = quick_app(data_dir)
        try:
            run_id = await submit(app, spec_of("{}"), [site.url_for(f"/item/{n}") for n in range(20)])
            assert await runs.cancel(app, run_id) == "cancelled"
            assert await runs.cancel(app, run_id) == "cancelled"
            async with engine(app):
                await asyncio.sleep(0.5)
        finally:
            app.close()

    asyncio.run(race())
    assert not site.hits()
    run = read_run(data_dir)
    assert {state for state, reason, _ in run.pages.values() if reason == "cancelled"} == {"skipped"}
    assert endings(run) == [RUN_CANCELLED]
    check(data_dir, at_rest=True)


def test_hits_stop_within_a_second_of_a_cancel(site: SiteProcess, data_dir: Path) -> None:
    slow = [site.url_for(f"/slow?n={n}&s={30 if n == 3 else 0.2}") for n in range(200)]
    spec = {"concurrency": 6, "per_host": 6}
    with driver(data_dir, "scrape", *slow, spec=spec, options=("--timing", "usual")) as child:
        run_id = child.until_it_tells("run")["id"]
        until(lambda: any("s=30" in url for url in site.hits()), 20, "nothing is fetched")

        async def cancel() -> str:
            app = quick_app(data_dir)
            try:
                return await runs.cancel(app, run_id)
            finally:
                app.close()

        assert asyncio.run(cancel()) == "cancelled"
        cancelled_at = time.monotonic()
        # What was in flight is dropped: nobody waits half a minute for a page that nobody wants.
        assert child.wait(20) == 0, child.errors
    late = [hit for hit in site.log()["hits"] if hit["start"] > cancelled_at + 1.2]
    assert not late
    until(lambda: site.log()["in_flight"] == 0, 5, "something is still in flight")
    check(data_dir, at_rest=True)


async def storm(apps: list[App], run_id: str, commands: list[str]) -> Counter[str]:
    """Give all commands at once; how many were obeyed and how many refused. Nothing else may happen to them."""

    async def give(app: App, command: str) -> str:
        try:
            if command == "resume":
                await runs.resume(app, run_id, None)
            else:
                await {"pause": runs.pause, "cancel": runs.cancel}[command](app, run_id)
        except Conflict:
            return "refused"
        return "obeyed"

    async def soon(turn: int, command: str) -> str:
        await asyncio.sleep(turn * 0.01)
        return await give(apps[turn % len(apps)], command)

    return Counter(await asyncio.gather(*(soon(turn, command) for turn, command in enumerate(commands))))


@pytest.mark.parametrize("moment", ["before the claim", "during the fetch", "after the end"])
def test_a_hundred_cancels_at_once_are_one(site: SiteProcess, data_dir: Path, moment: str) -> None:
    paths = ("/item/1", "/item/2") if moment == "after the end" else ("/ok", "/slow?s=60", "/slow?n=1&s=60")

    async def race() -> list[str]:
        apps = [quick_app(data_dir) for _ in range(4)]
        try:
            run_id = await submit(apps[0], spec_of("{}"), [site.url_for(path) for path in paths])
            cancels = (runs.cancel(apps[turn % len(apps)], run_id) for turn in range(COMMANDS))
            if moment == "before the claim":
                return [str(status) for status in await asyncio.gather(*cancels)]
            async with engine(apps[0]):
                if moment == "after the end":
                    await until_over(apps[0], run_id)
                else:
                    while len(site.hits()) < len(paths):
                        await asyncio.sleep(0.02)
                return [str(status) for status in await asyncio.gather(*cancels, return_exceptions=True)]
        finally:
            for app in apps:
                app.close()

    answers = asyncio.run(race())
    run = read_run(data_dir)
    check(data_dir, at_rest=True)
    assert len(answers) == COMMANDS
    assert len(set(answers)) == 1
    assert len(endings(run)) == 1
    if moment == "after the end":
        assert (run.status, run.done) == ("completed", {site.url_for(path) for path in paths})
        return
    assert set(answers) == {"cancelled"}
    assert run.status == "cancelled"
    assert {(state, reason) for state, reason, _ in run.pages.values()} <= {("done", None), ("skipped", "cancelled")}


@on_both
@pytest.mark.parametrize("last", ["resume", "pause", "cancel"])
def test_a_storm_of_commands_ends_in_the_state_that_was_asked_for_last(
    site: SiteProcess, data_dir: Path, last: str
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    luck = random.Random(seed)
    spec = '{"concurrency": 6, "per_host": 6}'

    async def race() -> str:
        apps = [quick_app(data_dir) for _ in range(4)]
        try:
            run_id = await submit(apps[0], spec_of(spec), [site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS))])
            async with engine(apps[0]):
                mixed = [luck.choice(("pause", "resume")) for _ in range(COMMANDS - 1)]
                if last == "cancel":
                    mixed[luck.randrange(50, COMMANDS - 1)] = "cancel"
                answers = await storm(apps, run_id, mixed)
                assert sum(answers.values()) == COMMANDS - 1
                with suppress(Conflict):
                    await storm(apps, run_id, [last])
                async with asyncio.timeout(30):
                    while (await runs.get(apps[0], run_id)).status not in ("completed", "cancelled", "paused"):
                        await asyncio.sleep(0.02)
            return str((await runs.get(apps[0], run_id)).status)
        finally:
            for app in apps:
                app.close()

    status = asyncio.run(race())
    run = read_run(data_dir)
    check(data_dir, at_rest=True)
    expected = {"resume": "completed", "pause": "paused", "cancel": "cancelled"}[last]
    # Whoever was quick enough to finish first has won.
    assert status in (expected, "completed")
    assert len(endings(run)) == (status != "paused")
    if status == "completed":
        assert run.done == {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}
