"""A worker: owns lanes, drains them, and lets go of them cleanly."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from tarantella import __version__
from tarantella.domain.errors import StoreError, WorkerDead
from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.page import Page, PageState, Skip
from tarantella.domain.run import RunStatus, Wanted
from tarantella.engine.attempt import HostMustWait, Tools, attempt
from tarantella.engine.duties import Duties
from tarantella.engine.lane import FOREVER, Clock, OwnedLane
from tarantella.engine.lifeline import Lifeline
from tarantella.engine.reaper import Reaper
from tarantella.engine.served import ServedRun
from tarantella.engine.settler import Settler
from tarantella.queues.embedded import Hints
from tarantella.store import closing, lanes, pages, runs, slots, workers
from tarantella.store.database import Database
from tarantella.store.ids import new_id
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx

log = structlog.get_logger()

TICK_SECONDS = 1.0
BEAT_SECONDS = 5.0
DUTY_SECONDS = 5.0
DIALS_NOTHING_AFTER = 45.0  # without a confirmed beat; others wait 60 s before they take our lanes
LANE_LINGERS = 2.0
BATCH = 200
LOW_WATER = 64
MAX_LANES = 512
PAUSE_GRACE = 0.5


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker is told when it starts."""

    folder: Path  # for lifelines and hints
    max_running: int = 5
    slots: int = 256  # requests in flight in this process, whatever the runs allow
    only_run: str | None = None
    drain_seconds: float = 5.0


@dataclass(slots=True)
class View:
    """What a tick sees of the database, in one read."""

    runs: list[runs.Run]
    stands: list[lanes.Stand]
    ready_lanes: int
    peers: int
    hungry: bool
    shares: dict[str, dict[str, int]]
    overdue: list[tuple[str, Skip]]


class Worker:
    """The process that owns lanes. One per process, for as long as the process lives."""

    def __init__(self, database: Database, tools: Tools, settings: WorkerSettings, worker_id: str | None = None) -> None:
        self.id = worker_id or new_id()
        self._database = database
        self._tools = tools
        self._settings = settings
        self._clock: Clock = tools.clock
        self._only_run = settings.only_run
        self._lanes: dict[str, OwnedLane] = {}
        self._runs: dict[str, ServedRun] = {}
        self._tasks: dict[asyncio.Task[None], Page] = {}
        self._refilling: set[str] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._beat_began = 0.0
        self._hints = Hints(settings.folder, self.id)
        self._host = socket.gethostname()
        self._reaper = Reaper(
            database, settings.folder, self._host, max_running=settings.max_running, clock=self._clock, me=self.id
        )
        self._duties = Duties(database, self.id, max_running=settings.max_running, clock=self._clock)
        self._settler = Settler(
            database,
            self.id,
            max_running=settings.max_running,
            clock=self._clock,
            news=self._lane_news,
            settled=self._on_settled,
        )
        self.run_over = asyncio.Event()  # the one run that it serves has ended or was paused

    # -- life

    async def start(self) -> None:
        """Exist: from here on this process can own lanes and keep runs."""
        self._lifeline = Lifeline(self._settings.folder, self.id)
        info = workers.WorkerInfo(self.id, self._settings.only_run, self._host, os.getpid(), __version__)
        self._beat_began = self._clock.monotonic()
        await self._database.write(partial(workers.register, worker=info, now=self._clock.wall()), name="register")
        self._hints.listen(self._wake.set)
        await self._reaper.run_once()

    async def run(self) -> None:
        """Work until told to stop, then let go of everything. `start` must have been called."""
        chores = [
            asyncio.create_task(chore, name=name)
            for name, chore in (
                ("settler", self._settler.run()),
                ("beat", self._beat_forever()),
                ("tick", self._tick_forever()),
                ("duties", self._duties_forever()),
                ("stop", self._wait_for_stop()),
            )
        ]
        try:
            done, _ = await asyncio.wait(chores, return_when=asyncio.FIRST_COMPLETED)
            for chore in done:
                chore.result()
        except WorkerDead:
            log.error("This worker was declared dead and stops at once", action="worker_fenced", worker=self.id)
            await self._abandon()
            raise
        finally:
            for chore in chores[1:]:
                chore.cancel()
            await asyncio.gather(*chores[1:], return_exceptions=True)
            try:
                await self._let_go(chores[0])
            finally:
                chores[0].cancel()
                await asyncio.gather(chores[0], return_exceptions=True)

    def stop(self) -> None:
        """Finish what is in flight, settle it, and end."""
        self._stopping = True
        self._stop.set()

    async def _wait_for_stop(self) -> None:
        await self._stop.wait()

    async def _abandon(self) -> None:
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._dead = True

    _dead = False

    async def _let_go(self, settler: asyncio.Task[None]) -> None:
        """A clean end: nothing in flight, nothing unsettled, no lane owned."""
        self._stopping = True
        for timer in self._timers.values():
            timer.cancel()
        self._hints.close()
        if not self._dead and not settler.done():
            if self._tasks:
                await asyncio.wait(set(self._tasks), timeout=self._settings.drain_seconds)
            for task in self._tasks:
                task.cancel()  # the page stays pending, and nothing is charged
            await asyncio.gather(*self._tasks, return_exceptions=True)
            drained = asyncio.create_task(self._settler.drained())
            await asyncio.wait({drained, settler}, return_when=asyncio.FIRST_COMPLETED)
            drained.cancel()
            if not settler.done():
                retire = partial(
                    workers.retire, worker_id=self.id, max_running=self._settings.max_running, now=self._clock.wall()
                )
                await self._database.write(retire, name="retire")
                self._lifeline.cut()

    # -- beats and duties

    async def _beat_forever(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            began = self._clock.monotonic()
            hungry = not self._tasks
            try:
                alive = await self._database.write(
                    partial(workers.beat, worker_id=self.id, hungry=hungry, now=self._clock.wall()), name="beat"
                )
            except StoreError as error:
                log.warning("The beat could not be written", action="beat_failed", error=str(error))
                continue
            if not alive:
                raise WorkerDead("This process was declared dead while it did not answer.")
            self._beat_began = began
            self._adopt(await self._database.read(partial(lanes.owned, worker_id=self.id)))

    def _adopt(self, owned: Sequence[lanes.Lane]) -> None:
        """Make memory agree with the database: an acquisition whose commit was unknown may have made us an owner."""
        names = {lane.name for lane in owned}
        for lane in owned:
            if lane.name not in self._lanes and not lane.name.startswith("!"):
                self._lanes[lane.name] = OwnedLane(lane, self._clock)
        for name in set(self._lanes) - names:
            if not self._lanes[name].active:
                del self._lanes[name]

    async def _duties_forever(self) -> None:
        while True:
            with suppress(StoreError):
                await self._reaper.run_once()
                await self._duties.run_once()
            await asyncio.sleep(DUTY_SECONDS)

    # -- ticks: look, agree, take, release

    async def _tick_forever(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._tick()
            except StoreError as error:
                log.warning("The store does not answer", action="tick_failed", error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), TICK_SECONDS)

    async def _tick(self) -> None:
        view = await self._database.read(self._look)
        self._update_runs(view)
        if view.ready_lanes or self._shares_differ(view):
            await self._negotiate(view)
        for run_id, reason in view.overdue:
            if run_id in self._runs or run_id == self._only_run or self._only_run is None:
                await self._close(run_id, reason)
        self._update_stands(view)
        for lane in list(self._lanes.values()):
            await self._close_hopeless(lane)
            self._refill(lane)
            self._pump(lane)
        await self._release(view)

    def _look(self, tx: Tx) -> View:
        now = self._clock.wall()
        stands = lanes.stands_of(tx, list(self._lanes))
        ids = {stand.run_id for stand in stands} | set(self._runs)
        if self._only_run is not None:
            ids.add(self._only_run)
        peers = [worker for worker in workers.alive(tx) if worker.serves == self._only_run or worker.id == self.id]
        return View(
            runs=runs.served(tx, sorted(ids)),
            stands=stands,
            ready_lanes=lanes.ready_count(tx, only_run=self._only_run, now=now),
            peers=len(peers),
            hungry=any(worker.hungry and worker.id != self.id for worker in peers),
            shares=slots.shares(tx, sorted(ids)),
            overdue=closing.overdue(tx, now),
        )

    def _update_runs(self, view: View) -> None:
        found = {run.id: run for run in view.runs}
        for run_id, run in found.items():
            if run_id in self._runs:
                self._runs[run_id].update(run)
            elif not run.is_over:
                self._runs[run_id] = ServedRun(run, self._clock.wall)
        for run_id in set(self._runs) - set(found):
            del self._runs[run_id]
        if self._only_run is not None:
            mine = found.get(self._only_run)
            if mine is not None and (mine.is_over or mine.status is RunStatus.PAUSED):
                self.run_over.set()

    def _shares_differ(self, view: View) -> bool:
        return any(
            slots.share(view.shares.get(run_id, {}), self.id, run.spec.concurrency, run.busy) != run.slots
            for run_id, run in self._runs.items()
            if self._stands_here(run_id) and run.run.wanted is Wanted.RUN
        )

    def _stands_here(self, run_id: str) -> bool:
        return any(run_id in lane.run_ids for lane in self._lanes.values())

    async def _negotiate(self, view: View) -> None:
        """Take lanes up to our fair share, and our share of slots of the runs that stand in them."""
        fair = -(-(view.ready_lanes + len(self._lanes)) // max(1, view.peers))
        room = min(max(1, fair) - len(self._lanes), MAX_LANES - len(self._lanes)) if not self._stopping else 0
        busy = {run_id: run.busy for run_id, run in self._runs.items()}

        def agree(tx: Tx) -> tuple[list[lanes.Lane], list[lanes.Stand], list[runs.Run], dict[str, int]]:
            taken = lanes.acquire(tx, self.id, room, only_run=self._only_run, now=self._clock.wall())
            stands = lanes.stands_of(tx, [*self._lanes, *(lane.name for lane in taken)])
            found = runs.served(tx, sorted({stand.run_id for stand in stands}))
            mine = {
                run.id: slots.claim(tx, run.id, self.id, run.spec.concurrency, busy.get(run.id, 0))
                for run in found
                if run.wanted is Wanted.RUN and not run.is_over
            }
            return taken, stands, found, mine

        taken, view.stands, found, mine = await self._database.write(agree, name="negotiate")
        for lane in taken:
            self._lanes[lane.name] = OwnedLane(lane, self._clock)
        for run in found:
            if run.id in self._runs:
                self._runs[run.id].update(run)
            elif not run.is_over:
                self._runs[run.id] = ServedRun(run, self._clock.wall)
        for run_id, share in mine.items():
            if run_id in self._runs:
                self._runs[run_id].slots = share

    def _update_stands(self, view: View) -> None:
        now = self._clock.wall()
        by_lane: dict[str, set[str]] = {}
        ready: set[str] = set()
        for stand in view.stands:
            by_lane.setdefault(stand.lane, set()).add(stand.run_id)
            if stand.ready_at is not None and stand.ready_at <= now:
                ready.add(stand.lane)
        for name, lane in self._lanes.items():
            lane.stands(by_lane.get(name, set()))
            lane.limits(self._runs)
            if name in ready and not lane.queued:
                lane.look_again()

    async def _release(self, view: View) -> None:
        """Give back lanes that have nothing to do, and the slots of runs that are paused or stand nowhere here."""
        now = self._clock.monotonic()
        if view.hungry and len(self._lanes) > max(1, -(-(view.ready_lanes + len(self._lanes)) // max(1, view.peers))):
            spare = max(self._lanes.values(), key=lambda lane: (-lane.active, lane.queued))
            spare.releasing = True
        idle = []
        for lane in self._lanes.values():
            if lane.releasing and not lane.active:
                lane.drop_queues()
            if lane.active or lane.queued or lane.held:
                lane.idle_since = None
            elif lane.idle_since is None:
                lane.idle_since = now
            if lane.idle_since is not None and (lane.releasing or now - lane.idle_since >= LANE_LINGERS):
                idle.append(lane.name)
        quiet = [run_id for run_id, run in self._runs.items() if run.slots and self._is_quiet(run_id, set(idle))]
        for run_id, run in self._runs.items():
            if run.run.wanted is Wanted.PAUSE:
                self._hold_back(run_id)
        if idle or quiet:
            await self._database.write(partial(self._give_back, idle=idle, quiet=quiet), name="release")
            for name in idle:
                del self._lanes[name]
            for run_id in quiet:
                self._runs[run_id].slots = 0

    def _is_quiet(self, run_id: str, leaving: set[str]) -> bool:
        """Nothing of the run is in flight or unsettled here, and nothing of it should be started."""
        run = self._runs[run_id]
        if run.busy or self._settler.holds(run_id):
            return False
        here = any(run_id in lane.run_ids for name, lane in self._lanes.items() if name not in leaving)
        return not here or run.run.wanted is not Wanted.RUN or run.run.is_over

    def _give_back(self, tx: Tx, idle: list[str], quiet: list[str]) -> None:
        lanes.release(tx, self.id, idle)
        for run_id in quiet:
            slots.give_back(tx, run_id, self.id)
            if tx.first("SELECT 1 FROM runs WHERE id = :id", id=run_id):
                runs.settle_pause(tx, run_id, max_running=self._settings.max_running, now=self._clock.wall())

    def _hold_back(self, run_id: str) -> None:
        """A pause is wanted: what is in flight gets a moment to finish, then it stays pending for later."""
        loop = asyncio.get_running_loop()
        for task, page in self._tasks.items():
            if page.run_id == run_id:
                loop.call_later(PAUSE_GRACE, task.cancel)

    # -- closings

    async def _close(self, run_id: str, reason: Skip) -> None:
        """Skip what a run will not do any more, a slice at a time."""
        served = self._runs.get(run_id)
        if served is not None and not served.closing:
            served.closing = True
            announce = partial(closing.announce, run_id=run_id, reason=reason, now=self._clock.wall())
            await self._database.write(announce, name="close")
        while True:
            closed = await self._database.write(
                partial(
                    closing.close_pages,
                    run_id=run_id,
                    reason=reason,
                    max_running=self._settings.max_running,
                    now=self._clock.wall(),
                ),
                name="close",
            )
            self._on_closed(closed)
            if not closed.pages:
                return

    async def _close_hopeless(self, lane: OwnedLane) -> None:
        """Three probes failed: the pages that wait for this host will not come."""
        if not lane.breaker.is_hopeless or lane.active:
            return
        for run_id in lane.run_ids:
            close = partial(
                closing.close_pages,
                run_id=run_id,
                reason=Skip.HOST_DOWN,
                lane=lane.name,
                max_running=self._settings.max_running,
                now=self._clock.wall(),
            )
            while (closed := await self._database.write(close, name="close")).pages:
                self._on_closed(closed)
        lane.drop_queues()
        lane.forget_probes()
        self._settler.poke()

    def _on_closed(self, closed: Settled) -> None:
        if self._only_run in closed.ended:
            self.run_over.set()

    # -- pages

    def _refill(self, lane: OwnedLane) -> None:
        """Read more pages before the lane runs dry."""
        if lane.name in self._refilling or self._stopping or lane.releasing:
            return
        hungry = [run_id for run_id in lane.wants_more(LOW_WATER) if run_id in self._runs]
        if hungry:
            self._refilling.add(lane.name)
            task = asyncio.create_task(self._read_pages(lane, hungry))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def _read_pages(self, lane: OwnedLane, run_ids: list[str]) -> None:
        try:
            held = list(lane.held)
            for run_id in run_ids:
                take = partial(
                    pages.take, lane=lane.name, run_id=run_id, held=held, limit=BATCH, now=self._clock.wall()
                )
                lane.add(run_id, await self._database.read(take), BATCH)
        except StoreError as error:
            log.warning("Pages could not be read", action="take_failed", lane=lane.name, error=str(error))
        finally:
            self._refilling.discard(lane.name)
        self._pump(lane)

    def _pump(self, lane: OwnedLane) -> None:
        """Start as many pages as the lane's host and the runs allow."""
        while (page := self._next(lane)) is not None:
            task = asyncio.create_task(self._work(lane, page))
            self._tasks[task] = page
            task.add_done_callback(self._tasks.pop)

    def _next(self, lane: OwnedLane) -> Page | None:
        """The page to start now in this lane, if any; a lane that waits is looked at again in time."""
        if self._stopping or lane.releasing or self._settler.is_full or not lane.queued:
            return None
        if len(self._tasks) >= self._settings.slots + 1 or not self._may_dial():
            return None
        wait = lane.wait_time()
        if wait:
            if wait < FOREVER:
                self._look_later(lane, wait)
            return None
        page = lane.pick(self._runs)
        if page is not None:
            lane.start()
            self._runs[page.run_id].busy += 1
            if lane.queued < LOW_WATER:
                self._refill(lane)
        return page

    def _may_dial(self) -> bool:
        return self._clock.monotonic() - self._beat_began < DIALS_NOTHING_AFTER

    def _look_later(self, lane: OwnedLane, seconds: float) -> None:
        if lane.name in self._timers:
            return

        def look() -> None:
            self._timers.pop(lane.name, None)
            lane.look_again()
            self._refill(lane)
            self._pump(lane)

        self._timers[lane.name] = asyncio.get_running_loop().call_later(min(seconds, 60.0) + 0.001, look)

    async def _work(self, lane: OwnedLane, page: Page | None) -> None:
        """Drain a lane with one slot of it, for as long as there is something to start."""
        this = asyncio.current_task()
        assert this is not None
        while page is not None:
            self._tasks[this] = page
            run = self._runs[page.run_id]
            try:
                outcome = await self._attempt(page, lane, run)
                if outcome is not None:
                    self._settler.put(outcome, durable=run.spec.durable)
            except asyncio.CancelledError:
                lane.held.discard(page.id)
                raise
            finally:
                lane.end()
                run.busy -= 1
            page = self._next(lane)
        self._pump(lane)

    async def _attempt(self, page: Page, lane: OwnedLane, run: ServedRun) -> Outcome | None:
        try:
            return await attempt(page, lane, run, self._tools)
        except HostMustWait as wait:
            lane.wait(wait.seconds)
            lane.put_back(page)
            self._settler.poke()
            return None

    # -- what a settle brings

    def _lane_news(self) -> Iterable[LaneNews]:
        return [news for lane in self._lanes.values() if (news := lane.news(BATCH)) is not None]

    def _on_settled(self, batch: Sequence[Outcome], result: Settled) -> None:
        now = self._clock.wall()
        touched: set[str] = set(result.woken_lanes)
        for outcome in batch:
            lane = self._lanes.get(outcome.page.lane)
            if lane is not None:
                lane.settled(outcome.page.id)
                if outcome.state is PageState.PENDING and outcome.move is None and outcome.next_at is not None:
                    self._look_later(lane, max(0.0, outcome.next_at - now))
        for run_id in result.full:
            if run_id in self._runs:
                self._runs[run_id].full = True
        if self._only_run in result.ended:
            self.run_over.set()
        elsewhere = touched - set(self._lanes)
        for name in touched & set(self._lanes):
            lane = self._lanes[name]
            lane.look_again()
            self._refill(lane)
        if elsewhere:
            self._wake.set()
            self._in_background(self._wake_owners(sorted(elsewhere)))
        if result.admitted or elsewhere:
            self._wake.set()
        if self._duties.ours:
            self._in_background(self._duties.after_commit())
        for lane in self._lanes.values():
            self._pump(lane)

    async def _wake_owners(self, names: list[str]) -> None:
        with suppress(StoreError):
            self._hints.send(await self._database.read(partial(lanes.owners, names=names)))

    def _in_background(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # -- for whoever watches

    def in_flight(self) -> list[str]:
        """The addresses that are being fetched."""
        return [page.url for page in self._tasks.values()]

    @property
    def trouble(self) -> str | None:
        """What keeps results from being stored, if anything does."""
        return self._settler.trouble
