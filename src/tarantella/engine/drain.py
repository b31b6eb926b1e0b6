"""Drains the lanes that a worker owns: reads pages ahead, starts them when their host and run allow, hands on outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Container, Coroutine, Generator, Iterable
from functools import partial
from types import coroutine
from typing import TYPE_CHECKING, Any

from tarantella.domain.cookie import Cookie
from tarantella.domain.errors import StoreError
from tarantella.domain.outcome import Outcome
from tarantella.domain.page import Page, PageKind
from tarantella.domain.parts import host_of
from tarantella.domain.strategy import API_REPLAY
from tarantella.engine.attempt import attempt
from tarantella.engine.holdings import BATCH, Holdings
from tarantella.engine.ladder import is_to_be_rechecked
from tarantella.engine.lane import FOREVER, OwnedLane
from tarantella.engine.recheck import attempt_recheck
from tarantella.engine.robots import HostMustWait, left_alone
from tarantella.engine.served import ServedRun
from tarantella.engine.settler import Settler
from tarantella.engine.sitemap import attempt_sitemap, attempt_start
from tarantella.engine.tools import Tools
from tarantella.log import log
from tarantella.store import cookies, pages
from tarantella.store.database import Database
from tarantella.store.tx import Tx

if TYPE_CHECKING:
    from tarantella.engine.replay import Replayer

REPLAY = API_REPLAY.name
LONGEST_TIMER = 60.0
PAUSE_GRACE = 0.5
_PAGE = PageKind.PAGE  # looking up a member of an enumeration takes longer than comparing with it


class Drain:
    """Turns lanes into outcomes."""

    def __init__(
        self,
        database: Database,
        tools: Tools,
        holdings: Holdings,
        settler: Settler,
        *,
        slots: int,
        has: Container[str] | None = None,
    ) -> None:
        self.dials_until = 0.0  # by the monotonic clock: nothing is started after that
        self._database = database
        self._tools = tools
        self._monotonic = tools.clock.monotonic
        self._held = holdings
        self._settler = settler
        self._slots = slots
        self._has = has  # the strategies that this worker can use; None where nobody else could do what it can't
        self._reading: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._unbegun: dict[asyncio.Task[None], tuple[OwnedLane, Page, ServedRun]] = {}
        self._stopping = False
        self._replayer: Replayer | None = None

    def look(self, lane: OwnedLane) -> None:
        """Read ahead if the lane runs low, and start what may be started."""
        self._read_ahead(lane)
        self._pump(lane)

    def look_later(self, lane: OwnedLane, seconds: float) -> None:
        """Look at the lane again when a wait is over."""
        loop = asyncio.get_running_loop()
        seconds = min(seconds, LONGEST_TIMER) + 0.001
        earlier = self._timers.get(lane.name)
        if earlier is not None:
            if earlier.when() <= loop.time() + seconds:
                return
            earlier.cancel()

        def look() -> None:
            self._timers.pop(lane.name, None)
            lane.pages.look_again()
            self.look(lane)

        self._timers[lane.name] = loop.call_later(seconds, look)

    def hold_back(self, run_id: str) -> None:
        """A pause is wanted: what is in flight gets a moment to finish, then it stays pending for later."""
        loop = asyncio.get_running_loop()
        for task, page in self._held.tasks.items():
            if page.run_id == run_id:
                loop.call_later(PAUSE_GRACE, self._give_up, task, page)

    def _give_up(self, task: asyncio.Task[None], page: Page) -> None:
        # By now the task may be at a page of another run, which nobody wants to pause.
        if self._held.tasks.get(task) is page:
            task.cancel()

    def drop(self, run_ids: Container[str]) -> None:
        """These runs are over: nobody waits for what is still in flight of them."""
        for task, page in self._held.tasks.items():
            if page.run_id in run_ids:
                task.cancel()

    async def stop(self, grace: float) -> None:
        """Start nothing more; what doesn't finish in time stays pending, and nothing is charged."""
        self._stopping = True
        for timer in self._timers.values():
            timer.cancel()
        for reading in self._reading.values():
            reading.cancel()
        if self._held.tasks and grace > 0:
            await asyncio.wait(set(self._held.tasks), timeout=grace)
        for task in self._held.tasks:
            task.cancel()
        await asyncio.gather(*self._held.tasks, *self._reading.values(), return_exceptions=True)

    def _read_ahead(self, lane: OwnedLane) -> None:
        if lane.name in self._reading or self._stopping or lane.releasing:
            return
        low = [run_id for run_id in lane.pages.wants_more() if run_id in self._held.runs]
        if low:
            self._reading[lane.name] = asyncio.create_task(self._read(lane, low))

    async def _read(self, lane: OwnedLane, run_ids: list[str]) -> None:
        overtaken = False
        try:
            for run_id in run_ids:
                now = self._tools.clock.wall()
                limit, looks = max(BATCH, 2 * lane.pages.low_water), lane.pages.looks
                take = partial(_take, lane=lane.name, run_id=run_id, held=list(lane.pages.held), limit=limit, now=now)
                found, known = await self._database.read(take)
                if known and (run := self._held.runs.get(run_id)) is not None and run.spec.keep_cookies:
                    run.jar.load(known, now)
                if self._has is not None and (lacking := self._lacking(lane, found, self._has)) is not None:
                    # Somebody else has it, or will have it. The whole lane goes to them: a host has one owner.
                    lane.lacks, lane.releasing = lacking, True
                    return
                # Pages that came meanwhile are not among these: that these are few doesn't mean that there are no more.
                overtaken = overtaken or lane.pages.looks != looks
                lane.pages.add(run_id, found, limit if lane.pages.looks == looks else 0)
        except StoreError as error:
            if self._database.damage is None:  # else that is the end, which says why
                log.warning("Pages could not be read", action="take_failed", lane=lane.name, error=str(error))
        finally:
            self._reading.pop(lane.name, None)
        if overtaken:
            self._read_ahead(lane)
        self._pump(lane)

    def _lacking(self, lane: OwnedLane, found: Iterable[Page], has: Container[str]) -> str | None:
        """A strategy that the host or one of these pages needs, and that this worker has not."""
        if lane.prefers in self._tools.elsewhere:
            return lane.prefers
        return next((page.strategy for page in found if page.strategy not in has), None)

    def _pump(self, lane: OwnedLane) -> None:
        """Start as many pages as the lane's host and the runs allow."""
        while len(self._held.tasks) < self._slots and (page := self._next(lane)) is not None:
            task = asyncio.create_task(self._work(lane, page))
            self._held.tasks[task] = page
            self._unbegun[task] = (lane, page, self._held.runs[page.run_id])
            task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        del self._held.tasks[task]
        if not self._held.tasks:
            self._settler.hurry(is_all=True)
        if (left := self._unbegun.pop(task, None)) is not None:
            # Cancelled before its first step, which it never took: nothing in it gave back what was taken for it.
            lane, page, run = left
            lane.pages.held.discard(page.id)
            lane.end()
            run.busy -= 1

    def _next(self, lane: OwnedLane) -> Page | None:
        """The page to start now in this lane, if any; a lane that must wait is looked at again in time."""
        now = self._monotonic()
        if lane.releasing or self._stopping or self._settler.is_full or now >= self.dials_until:
            if lane.releasing:
                # Somebody waits for what is still in hand here.
                self._settler.hurry(is_all=True)
            return None
        if wait := lane.wait_time(now):
            if wait < FOREVER:
                self.look_later(lane, wait)
            return None
        runs = self._held.runs
        page = lane.pages.pick(runs)
        if page is None:
            if lane.pages.queued:
                lane.pages.line_up(lane.name, runs)
            else:
                # What is in hand may have found more.
                self._settler.hurry()
            return None
        lane.start()
        runs[page.run_id].busy += 1
        if lane.pages.is_low:
            self._read_ahead(lane)
        return page

    async def _work(self, lane: OwnedLane, page: Page | None) -> None:
        """Use one slot of a lane for as long as there is something to start in it."""
        this = asyncio.current_task()
        assert this is not None
        del self._unbegun[this]
        while page is not None:
            self._held.tasks[this] = page
            run = self._held.runs[page.run_id]
            try:
                try:
                    self._settler.put(await self._attempt(page, lane, run), durable=run.spec.durable)
                except HostMustWait as wait:
                    if (told := left_alone(page, lane, wait, self._tools)) is not None:
                        self._settler.put(told)
                    else:
                        lane.pages.put_back(page)
                        self._settler.poke()
                except asyncio.CancelledError:
                    lane.pages.held.discard(page.id)
                    raise
                # The slot stays ours meanwhile.
                await others_first()
            finally:
                lane.end()
                run.busy -= 1
            lane, page = self._next_in_line(lane, run)
        self._pump(lane)

    def _attempt(self, page: Page, lane: OwnedLane, run: ServedRun) -> Coroutine[Any, Any, Outcome]:
        if page.kind is not _PAGE:
            return attempt_sitemap(page, lane, run, self._tools)
        if page.strategy == REPLAY:
            return self._replays().attempt(page, lane, run, self._tools)
        if (lane.prefers or run.climbed or page.strategy != "http") and is_to_be_rechecked(
            page, lane, run, self._tools
        ):
            return attempt_recheck(page, lane, run, self._tools)
        if page.is_start and run.spec.sitemaps:
            return attempt_start(page, lane, run, self._tools)
        return attempt(page, lane, run, self._tools)

    def _replays(self) -> Replayer:
        if self._replayer is None:
            # Loaded by the first page that is replayed.
            from tarantella.engine.replay import Replayer

            self._replayer = Replayer(self._database)
        return self._replayer

    def _next_in_line(self, lane: OwnedLane, run: ServedRun) -> tuple[OwnedLane, Page | None]:
        """A slot became free: it goes to the lane that has waited for it longest, so that no host takes them all."""
        line = run.line
        line.pop(lane.name, None)
        if not line:
            return lane, self._next(lane)
        line[lane.name] = None
        for _ in range(len(line)):
            name = next(iter(line))
            del line[name]
            other = self._held.lanes.get(name)
            if other is not None and (page := self._next(other)) is not None:
                return other, page
        return lane, None


@coroutine
def others_first() -> Generator[None]:
    """Let others who have an answer go first, so that the next requests leave together: waking the client's thread for each
    of them costs more than the request.
    """
    yield


def _take(
    tx: Tx, lane: str, run_id: str, held: Collection[int], limit: int, now: float
) -> tuple[list[Page], list[Cookie]]:
    """The next pages of a run in a lane, and every cookie that was set by the time they were found."""
    # Pages first: what is read after them can only be newer.
    found = pages.take(tx, lane, run_id, held, limit, now)
    return found, cookies.of_host(tx, run_id, host_of(lane)) if found else []
