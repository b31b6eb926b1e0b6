"""A worker: owns lanes, drains them, and lets go of them cleanly. One per process, for as long as the process lives."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tarantella import __version__
from tarantella.domain.errors import StoreError
from tarantella.domain.learning import REMEMBERED_SECONDS
from tarantella.domain.outcome import Outcome
from tarantella.domain.run import RunStatus, Wanted
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.struct import Frozen
from tarantella.engine import process
from tarantella.engine.beat import Beat
from tarantella.engine.closer import Closer
from tarantella.engine.counters import Counters
from tarantella.engine.drain import Drain
from tarantella.engine.duties import Duties
from tarantella.engine.holdings import Holdings
from tarantella.engine.lifeline import Lifeline
from tarantella.engine.pulse import Pulse
from tarantella.engine.reaper import Reaper
from tarantella.engine.settler import Settler
from tarantella.engine.tenure import Taken, Tenure, View
from tarantella.engine.timing import Timing
from tarantella.engine.tools import Tools
from tarantella.log import log
from tarantella.queues import embedded
from tarantella.queues.contract import Hints
from tarantella.store import lanes, workers
from tarantella.store.database import Database
from tarantella.store.ids import new_id
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tarantella.store.workers import WorkerInfo

OWED_FOR = 0.25  # seconds after which is seen whether what is somebody else's share can be given
LAST_WORDS = 5.0  # seconds for a database server to hear that we end
WORTH_A_LOOK = 64  # lanes that there is room for, where more wait than one worker can have
MOST_OWED_LOOKS = 8  # in a row; what takes longer waits for the usual look


class WorkerSettings(Frozen):
    """What a worker is told when it starts."""

    folder: Path  # for lifelines and hints
    max_running: int = 5
    slots: int = 256  # requests in flight in this process, whatever the runs allow
    only_run: str | None = None  # a one-shot command's: it takes only lanes in which this run stands
    drain_seconds: float = 5.0
    artifacts: Path | None = None  # where those of runs are kept
    cleanup_interval: float = 86_400.0  # seconds for which a task is kept once it is over
    remembers: float = REMEMBERED_SECONDS  # for how long, what sites teach
    node: str | None = None  # Celery's name for the worker that it is a child of
    in_fleet: bool = False  # others may be able to do what it can't, and it leaves that to them
    timing: Timing = Timing()


class Worker:
    """Wires the parts of an engine together and gives them a life."""

    def __init__(
        self,
        database: Database,
        tools: Tools,
        settings: WorkerSettings,
        make_hints: Callable[[str], Hints] | None = None,
    ) -> None:
        self.id = new_id()
        self._tools = tools
        self._has = sorted(tools.strategies)
        has = self._has if settings.in_fleet else None
        self.run_over = asyncio.Event()  # the one run that it serves has ended or was paused
        self._database = database
        self._settings = settings
        self._clock = clock = tools.clock
        host = socket.gethostname()
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._at_work = asyncio.Event()  # it has looked for work for the first time
        self._background: set[asyncio.Task[Any]] = set()
        self._hungry = False  # and has said so
        self._owed_looks = 0
        self._peers: list[str] = []  # who else works for the same runs, when it last looked
        self._held = Holdings(clock.wall)
        shared: dict[str, Any] = {"max_running": settings.max_running, "clock": clock}
        self._settler = Settler(
            database,
            self.id,
            news=self._held.news,
            spread=self._held.spread,
            settled=self._on_settled,
            run_is_full=self._held.is_full,
            **shared,
        )
        self._pulse = Pulse(self._held, self._settler, clock, settings.remembers)
        self._drain = Drain(
            database, tools, self._held, self._settler, slots=process.slots_for_files(settings.slots), has=has
        )
        self._tenure = Tenure(
            database,
            self._held,
            self._settler,
            self.id,
            only_run=settings.only_run,
            remembers=settings.remembers,
            has=has,
            **shared,
        )
        me = WorkerInfo(self.id, settings.only_run, host, os.getpid(), __version__, settings.node, self._has)
        self._beat = Beat(database, me, self._held, self._pulse, clock, lives=self._on_alive, owns=self._on_owned)
        self._closer = Closer(database, self._held, self.id, **shared)
        self._reaper = Reaper(database, settings.folder, host, me=self.id, timing=settings.timing, **shared)
        self._duties = Duties(
            database, self.id, cleanup_interval=settings.cleanup_interval, artifacts=settings.artifacts, **shared
        )
        self._hints: Hints = make_hints(self.id) if make_hints else embedded.Hints(settings.folder, self.id)

    # -- life

    async def start(self) -> None:
        """Exist: from here on this process can own lanes and keep runs."""
        self._lifeline = Lifeline(self._settings.folder, self.id)
        try:
            await self._beat.register()
            self._hints.listen(self._wake.set)
            await self._reaper.run_once()
        except BaseException:
            # Whether or not the store knows of us: others see that we are gone.
            await self._hints.close()
            self._lifeline.let_go()
            raise

    async def run(self) -> None:
        """Work until told to stop, then let go of everything. `start` comes first."""
        process.tune()
        settler = asyncio.create_task(self._settler.run())
        beat = self._beat.run(self._settings.timing.beat, self.stop)
        chores = {asyncio.create_task(chore) for chore in (beat, self._tick(), self._do_duties(), self._stop.wait())}
        try:
            done, _ = await asyncio.wait({settler, *chores}, return_when=asyncio.FIRST_COMPLETED)
            for chore in done:
                chore.result()
        except BaseException:
            await self._drain.stop(grace=0.0)
            self._lifeline.let_go()
            raise
        else:
            await self._finish(settler)
        finally:
            await self._hints.close()
            for task in {settler, *chores, *self._background}:
                task.cancel()
            await asyncio.gather(settler, *chores, *self._background, return_exceptions=True)

    def expect(self, others: int) -> None:
        """So many others are about to come and help."""
        self._tenure.expect(others)

    def wake(self, task_id: str, run_ids: Sequence[str]) -> None:
        """A message says that there may be work. Where somebody else owns the lane that it is in, they are told so."""
        self._pulse.woken(task_id, run_ids)
        self._wake.set()
        self._in_background(self._wake_owners(partial(lanes.owners_for, run_ids=run_ids)))

    def stop(self) -> None:
        """Finish what is in flight, settle it, and end."""
        self._stop.set()

    async def _finish(self, settler: asyncio.Task[None]) -> None:
        """A clean end: nothing in flight, nothing unsettled, no lane owned."""
        await self._drain.stop(self._settings.drain_seconds)
        drained = asyncio.create_task(self._settler.drained())
        while not drained.done() and not settler.done():
            await asyncio.wait(
                {drained, settler}, timeout=self._settings.drain_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if self._settler.trouble is not None:
                # Who wants to stop must not wait for a disk to be emptied. The pages stay pending, and are fetched again.
                log.warning("The last results could not be stored", action="dropped", error=self._settler.trouble)
                break
        drained.cancel()
        if settler.done():
            settler.result()

        reading = self._pulse.read()
        distances = self._held.distances(self._held.lanes)

        def retire(tx: Tx) -> None:
            # Without this, who was thought dead would end as if nothing had happened.
            workers.check_alive(tx, self.id)
            reading.store(tx, self.id, self._clock.wall())
            lanes.keep_distance(tx, self.id, distances)
            workers.retire(tx, self.id, max_running=self._settings.max_running, now=self._clock.wall())

        try:
            await self._database.write(retire, name="retire", within=LAST_WORDS)
        except StoreError as error:
            # All that mattered is stored. Whoever comes next finds the lifeline cut, and frees what we owned.
            log.warning("The end could not be written", action="retire_failed", error=str(error))
            self._lifeline.let_go()
        else:
            self._lifeline.cut()
        log.info("The worker has ended", action="worker_ended", worker=self.id)

    # -- what it does over and over

    def _on_alive(self, since: float) -> None:
        """A beat that began then is confirmed: for some time nobody can take our lanes, and we may dial."""
        self._drain.dials_until = since + self._settings.timing.dials_nothing_after

    def _on_owned(self, owned: Sequence[lanes.Lane]) -> None:
        self._tenure.adopt(owned)
        self._tenure.disown(owned)

    async def _tick(self) -> None:
        """Once a second, and when woken: see what is wanted, take, close, start, release."""
        trouble: str | None = None
        while True:
            self._wake.clear()
            if self._database.damage is not None:
                # Whoever met it tries again, for all else passes. This does not; what was not stored is fetched again.
                raise self._database.damage
            try:
                await self._tick_once()
                trouble = None
            except StoreError as error:
                if str(error) != trouble:
                    # Once: it is tried every second.
                    log.warning("The store does not answer", action="tick_failed", error=str(error))
                trouble = str(error)
            self._at_work.set()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._settings.timing.tick)

    async def _tick_once(self) -> None:
        if self._beat.clock_was_set:
            # The clock was set: a deadline must not be taken for past, nor a page for one that waits, before the store knows.
            await self._beat.once()
        view = await self._tenure.look()
        if self._settings.in_fleet and view.strategies != self._tools.strategies.keys():
            # A page may escalate to what somebody can do, whoever that is.
            self._tools.strategies = {name: STRATEGIES[name] for name in view.strategies if name in STRATEGIES}
            self._tools.elsewhere = view.strategies.difference(self._has)
        self._ended({run.id for run in view.runs if run.is_over})
        # A run that is new in a lane of ours needs slots now, not with the next look.
        self._tenure.update_stands(view)
        taken = Taken() if self._stop.is_set() else await self._tenure.take(view)
        if view.hungry and view.ready_lanes > taken.lanes:
            self._hints.send(view.hungry)
        if taken.gave or taken.lacks:
            # They may have what was ours, or still have what is.
            self._hints.send([*view.hungry, *view.sated])
        self._owed_looks = self._owed_looks + 1 if taken.owes else 0
        if 0 < self._owed_looks <= MOST_OWED_LOOKS:
            asyncio.get_running_loop().call_later(OWED_FOR, self._wake.set)
        self._tenure.update_stands(view)
        for run_id, reason in view.overdue:
            self._ended(await self._closer.close_run(run_id, reason))
        for lane in list(self._held.lanes.values()):
            self._ended(await self._closer.close_hopeless(lane))
            self._drain.look(lane)
        for run in self._held.runs.values():
            if run.run.wanted is Wanted.PAUSE:
                self._drain.hold_back(run.id)
        others_wait = view.ready_lanes > taken.lanes
        if released := await self._tenure.release(view, others_wait=others_wait):
            self._hints.send(view.hungry)
            if others_wait and released >= WORTH_A_LOOK:
                self._wake.set()
        self._pulse.looked(taken.lanes, taken.left)
        self._peers = [*view.hungry, *view.sated]
        await self._say_hunger(view)
        mine = next((run for run in view.runs if run.id == self._settings.only_run), None)
        if mine is not None and (mine.is_over or mine.status is RunStatus.PAUSED):
            self.run_over.set()

    async def _say_hunger(self, view: View) -> None:
        """Tell those who have more than one lane that we have none, when that is news: they let go of what they can spare."""
        hungry, was_hungry = not self._held.lanes, self._hungry
        self._hungry = hungry and view.owned_by_others > len(view.sated)
        if self._hungry and not was_hungry:
            await self._beat.once()
            self._hints.send(view.sated)

    async def _do_duties(self) -> None:
        # Work first: the store takes one of us at a time, and repairs can wait.
        await self._at_work.wait()
        while True:
            with suppress(StoreError):
                await self._reaper.run_once()
                await self._duties.run_once()
            await asyncio.sleep(self._settings.timing.duty)

    # -- what a settle brings

    def _on_settled(self, batch: Sequence[Outcome], result: Settled) -> None:
        self._pulse.settled(result)
        self._hints.tell({outcome.page.run_id for outcome in batch})
        self._let_go([outcome for outcome in batch if not outcome.partial])
        if result.lost:
            # What they had found went with them; somebody must be able to find it again.
            for run_id in {outcome.page.run_id for outcome in batch} & set(self._held.runs):
                self._held.runs[run_id].links.forget()
        for run_id in result.full & set(self._held.runs):
            self._held.runs[run_id].full = True
        self._ended(result.ended)
        if self._settings.only_run in result.ended:
            # The command that keeps it, and whoever helps, need not find out by themselves.
            self._hints.send(self._peers)
        elsewhere = result.woken_lanes - set(self._held.lanes)
        if elsewhere:
            self._in_background(self._wake_owners(partial(lanes.owners, names=sorted(elsewhere))))
        if elsewhere or result.admitted:
            self._wake.set()
        self._in_background(self._duties.after_commit())
        for run_id, name in result.woken:
            if (woken := self._held.lanes.get(name)) is not None:
                woken.pages.look_again()
                if run_id not in woken.pages.run_ids:
                    # The run had nothing left here and was forgotten; the next look finds that it stands here again.
                    self._wake.set()
        for lane in self._held.lanes.values():
            self._drain.look(lane)

    def _let_go(self, outcomes: Sequence[Outcome]) -> None:
        """These pages are the store's again. Those that are to be tried once more are looked at in time."""
        now = self._clock.wall()
        by_lane: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            by_lane[outcome.page.lane].append(outcome)
        for name, here in by_lane.items():
            if (lane := self._held.lanes.get(name)) is None:
                continue
            lane.settled([outcome.page.id for outcome in here])
            if due := [each.next_at for each in here if each.next_at is not None and each.move is None]:
                self._drain.look_later(lane, max(0.0, min(due) - now))
            if lane.releasing and not lane.pages.held:
                self._wake.set()  # somebody waits for it

    def _ended(self, run_ids: Collection[str]) -> None:
        if run_ids:
            self._drain.drop(run_ids)
        if self._settings.only_run in run_ids:
            self.run_over.set()

    async def _wake_owners(self, find: Callable[[Tx], set[str]]) -> None:
        with suppress(StoreError):
            self._hints.send(await self._database.read(find) - {self.id})

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # -- for whoever watches

    @property
    def counters(self) -> Counters:
        return self._pulse.counters

    def in_flight(self) -> list[str]:
        """The addresses that are being fetched."""
        return [page.url for page in self._held.tasks.values()]

    @property
    def trouble(self) -> str | None:
        """What keeps results from being stored, if anything does."""
        return self._settler.trouble
