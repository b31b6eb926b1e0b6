"""Fills the gaps of a queue: has their scrapers executed, the most urgent first, and stores what came of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from tarantella.domain.errors import StoreError, WorkerDead
from tarantella.domain.gap import PRIORITIES
from tarantella.domain.run import Priority
from tarantella.domain.scraper import Retry
from tarantella.domain.script_end import Ended
from tarantella.domain.struct import Frozen, Mutable, field, replace
from tarantella.log import log
from tarantella.services.app import App
from tarantella.services.foreground import Interrupt
from tarantella.services.pacing import Pacer
from tarantella.services.queue import GapStatus, Plan, StoredGap, TakenIn, command_for, shown_path, take_in
from tarantella.services.script import end_marked, execute
from tarantella.store import gaps, workers
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx

LOOK_SECONDS = 0.5
USUAL_AT_ONCE = 5


class Filled(Frozen):
    """One execution, as those who watch are told of it."""

    gap: StoredGap
    ended: Ended
    status: GapStatus  # `pending` where it is tried again


class Summary(Mutable):
    """What came of one go at a queue."""

    taken_in: TakenIn
    results: list[Filled] = field(default_factory=list)
    seconds: float = 0.0
    left: int = 0  # that were not begun
    elsewhere: int = 0  # that somebody else is at
    interrupted: bool = False

    @property
    def last(self) -> list[Filled]:
        """The last execution of each gap."""
        return list({each.gap.id: each for each in self.results}.values())

    def count(self, status: GapStatus) -> int:
        return sum(each.status is status for each in self.last)

    def to_json(self, plan: Plan) -> dict[str, Any]:
        last = self.last
        total = len(last) + self.left
        completed = self.count(GapStatus.COMPLETED)
        return {
            "task_queue": str(plan.file),
            "total": total,
            "completed": completed,
            "failed": self.count(GapStatus.FAILED),
            "skipped": 0,
            "left": self.left,
            "success_rate": round(completed / total, 4) if total else None,
            "duration_seconds": self.seconds,
            "executions": len(self.results),
            "by_priority": self.by_priority(),
            "by_scraper": self.by_scraper(),
            "problems": [{"place": each.place, "id": each.id, "told": each.told} for each in plan.read.problems],
            "interrupted": self.interrupted,
        }

    def by_priority(self) -> dict[str, dict[str, int]]:
        """The most urgent first."""
        of = {name: [each for each in self.last if each.gap.priority is which] for name, which in PRIORITIES.items()}
        return {name: _counts(some) for name, some in of.items() if some}

    def by_scraper(self) -> dict[str, dict[str, int]]:
        names = sorted({each.gap.scraper for each in self.last})
        return {name: _counts([each for each in self.last if each.gap.scraper == name]) for name in names}


def _counts(some: Sequence[Filled]) -> dict[str, int]:
    return {str(which): sum(each.status is which for each in some) for which in (GapStatus.COMPLETED, GapStatus.FAILED)}


class Look(Frozen):
    """How far it is."""

    running: int
    left: int
    eta_seconds: float | None
    next_in: float | None  # seconds until the next one may be begun
    elsewhere: int = 0  # that somebody else is at


class Watcher:
    """Somebody who is told what happens; who wants to know something says so by having it."""

    def taken_in(self, plan: Plan, taken: TakenIn) -> None: ...
    def began(self, gap: StoredGap, command: list[str]) -> None: ...
    def filled(self, filled: Filled) -> None: ...
    def looked(self, look: Look) -> None: ...


async def fill(
    app: App,
    plan: Plan,
    *,
    priority: Priority | None = None,
    at_once: int = USUAL_AT_ONCE,
    watcher: Watcher | None = None,
    interrupt: Interrupt | None = None,
) -> Summary:
    """Take the file in, and execute what is to be done until nothing is left; an interrupt lets the current ones end."""
    watcher, interrupt = watcher or Watcher(), interrupt or Interrupt()
    began = time.monotonic()
    taken = await take_in(app, plan)
    watcher.taken_in(plan, taken)
    summary = Summary(taken)
    tools = app.make_tools()
    try:
        # A worker of its own says that this process lives. It serves a run that nobody has, so it fetches nothing.
        worker = app.make_worker(tools, new_id())
        await worker.start()
        life = asyncio.create_task(worker.run())
        try:
            pacer = Pacer(tools.guard)
            try:
                filling = _Filling(app, plan, worker.id, pacer, priority, at_once, summary, watcher, interrupt)
                await filling.run(life)
            finally:
                await pacer.close()
        finally:
            worker.stop()
            await life
    finally:
        await tools.close()
        summary.seconds = round(time.monotonic() - began, 3)
        summary.interrupted = interrupt.is_set
    return summary


class _Filling:
    """One go at a queue."""

    def __init__(
        self,
        app: App,
        plan: Plan,
        worker_id: str,
        pacer: Pacer,
        priority: Priority | None,
        at_once: int,
        summary: Summary,
        watcher: Watcher,
        interrupt: Interrupt,
    ) -> None:
        self._app = app
        self._plan = plan
        self._worker_id = worker_id
        self._pacer = pacer
        self._priority = priority
        self._at_once = at_once
        self._summary = summary
        self._watcher = watcher
        self._interrupt = interrupt
        self._at_hand: dict[asyncio.Task[None], StoredGap] = {}

    async def run(self, life: asyncio.Task[None]) -> None:
        stopped = asyncio.create_task(self._interrupt.wait())
        trouble: str | None = None
        try:
            while True:
                is_over = False
                try:
                    is_over = await self._look()
                    trouble = None
                except WorkerDead:
                    raise
                except StoreError as error:
                    if str(error) != trouble:
                        log.warning("The queue can't be looked at", action="queue", error=str(error))  # once
                    trouble = str(error)
                if is_over:
                    return
                waits = {life, *self._at_hand} | (set() if stopped.done() else {stopped})
                done, _ = await asyncio.wait(waits, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if life in done:
                    life.result()
                    raise WorkerDead("The process was told to end while it filled gaps.")
        finally:
            stopped.cancel()
            await self._put_back()

    async def _look(self) -> bool:
        """Begin what can be begun; whether nothing is left to do."""
        now = self._app.now()
        for orphan in await self._app.database.read(partial(gaps.orphans, queue=self._plan.queue)):
            if orphan.host == self._app.hostname:
                # Its script may have outlived whoever watched over it: two at a time must not be at one gap.
                await asyncio.to_thread(end_marked, _mark(orphan))
            await self._app.database.write(partial(gaps.take_back, gap=orphan, now=now), name="gaps")
        if not self._interrupt.is_set:
            while len(self._at_hand) < self._at_once and await self._begin_next():
                pass
        left = await self._app.database.read(partial(gaps.left, queue=self._plan.queue, priority=self._priority))
        self._summary.left, self._summary.elsewhere = left.waiting, max(0, left.running - len(self._at_hand))
        next_in = max(0.0, left.next_at - now) if left.next_at is not None else None
        eta = self._eta(left.waiting, left.expected_seconds)
        self._watcher.looked(Look(len(self._at_hand), left.waiting, eta, next_in, self._summary.elsewhere))
        return not self._at_hand and (left.waiting == 0 or self._interrupt.is_set)

    async def _begin_next(self) -> bool:
        """Begin the most urgent one that can be; False where none can."""
        database = self._app.database
        limits = {name: scraper.max_concurrent for name, scraper in self._plan.scrapers.by_name.items()}
        running = await database.read(gaps.running)
        busy = {name for name, limit in limits.items() if limit is not None and running.get(name, 0) >= limit}
        gap = await database.read(
            partial(gaps.next_due, queue=self._plan.queue, priority=self._priority, busy=busy, now=self._app.now())
        )
        if gap is None or not await database.write(partial(self._claim, gap=gap, limits=limits), name="gaps"):
            return False
        doing = asyncio.create_task(self._do(gap))
        self._at_hand[doing] = gap
        doing.add_done_callback(self._at_hand.pop)
        return True

    def _claim(self, tx: Tx, gap: StoredGap, limits: Mapping[str, int | None]) -> bool:
        workers.check_alive(tx, self._worker_id)
        now, limit = self._app.now(), limits.get(gap.scraper)
        return gaps.begin(tx, gap, owner=self._worker_id, host=self._app.hostname, now=now, limit=limit)

    async def _do(self, gap: StoredGap) -> None:
        found = command_for(self._plan, gap.gap)
        retry = Retry()
        if isinstance(found, Ended):
            ended = found
        else:
            scraper, path, told = found
            retry = scraper.retry
            self._watcher.began(gap, [shown_path(path, self._plan.base), *told])
            try:
                ended = await execute(
                    path,
                    told,
                    base=self._plan.base,
                    limit=scraper.seconds_for(gap.gap),
                    mark=_mark(gap, 1),
                    said=orjson.dumps(gap.gap.to_json()) + b"\n",
                    more={**await self._pacer.environment(scraper), "TARANTELLA_GAP": gap.name},
                )
            except OSError as error:
                log.warning("There is no room to execute a script", action="gap_waits", error=str(error))
                await asyncio.sleep(LOOK_SECONDS)
                await self._app.database.write(partial(gaps.release, gap=gap, now=self._app.now()), name="gaps")
                return
        await self._settle(gap, ended, retry)

    async def _settle(self, gap: StoredGap, ended: Ended, retry: Retry) -> None:
        status = await self._stored(partial(gaps.settle, gap=gap, ended=ended, retry=retry))
        if status is None:
            # A commit of which nobody heard, or somebody who thought us dead: the row tells which.
            status = (await self._app.database.read(partial(gaps.get, gap_id=gap.id))).status
        # What the script said is stored. Kept for a summary, it would take gigabytes in a long queue.
        filled = Filled(gap, replace(ended, stdout="", stderr=""), status)
        self._summary.results.append(filled)
        self._watcher.filled(filled)

    async def _stored(self, settle: Callable[..., GapStatus | None]) -> GapStatus | None:
        """Until it is: sent twice, it changes nothing the second time."""
        trouble: str | None = None
        while True:
            try:
                return await self._app.database.write(partial(settle, now=self._app.now()), durable=True, name="gaps")
            except StoreError as error:
                if str(error) != trouble:
                    log.warning("The end of a script can't be stored yet", action="gap_waits", error=str(error))  # once
                trouble = str(error)
                await asyncio.sleep(LOOK_SECONDS)

    async def _put_back(self) -> None:
        """What is still being executed is ended, and is for others to begin again, at no cost."""
        left = dict(self._at_hand)
        for doing in left:
            doing.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for gap in left.values():
            try:
                await self._app.database.write(partial(gaps.release, gap=gap, now=self._app.now()), name="gaps")
            except StoreError as error:
                # Whoever sees that we are gone puts it back.
                log.warning("A gap could not be put back", action="gap_left", error=str(error))

    def _eta(self, left: int, expected_left: float) -> float | None:
        """How long the rest takes, by what is expected of it and by how right that was so far."""
        ended = [each for each in self._summary.last if each.status is not GapStatus.PENDING]
        if not ended:
            return None
        taken = sum(each.ended.seconds for each in ended)
        expected = sum((each.gap.estimated_minutes or 0.0) * 60 for each in ended)
        usual, running = taken / len(ended), len(self._at_hand)
        rest = expected_left * taken / expected if expected and expected_left else left * usual
        return round((rest + running * usual / 2) / max(1, min(self._at_once, left + running)), 1)


def _mark(gap: StoredGap, further: int = 0) -> str:
    """What all processes of an execution bear; `further` where the gap is as it was before it."""
    return f"{gap.id}-{gap.tries + further}"
