"""A worker that does one thing at a time, when it is told to, with the calls to the store that an engine makes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from tarantella.domain.errors import WorkerDead
from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.page import Page
from tarantella.domain.run import Wanted
from tarantella.engine.clock import Clock
from tarantella.engine.settler import Settler
from tarantella.store import duties, lanes, pages, runs, settle, slots, steering, times, workers
from tarantella.store.database import Database
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tests.model.puppet import Loop, Time
from tests.model.unsure import Fault, Unsure

HERE = "here"  # the machine they all run on
UNSTORABLE = 2**70  # a number that no database takes


@dataclass
class Hand:
    """What one process knows, which may be out of date: it can have been declared dead, and its lanes be others'."""

    name: str
    serves: str | None
    database: Database
    clock: Clock
    max_running: int
    committed: Callable[[object], None]
    held: dict[str, dict[int, Page]] = field(default_factory=dict)  # lane → what of it is in flight
    finished: list[Outcome] = field(default_factory=list)  # and not yet settled
    news: dict[str, LaneNews] = field(default_factory=dict)
    beaten_at: float = 0.0
    ahead: float = 0.0  # of the monotonic clock was the other one then

    def register(self) -> None:
        info = workers.WorkerInfo(self.name, self.serves, HERE, 1, "0")

        def exist(tx: Tx) -> None:
            times.follow_clock(tx, HERE, self.clock.wall())
            workers.register(tx, info, self.clock.wall())

        self.database.write_now(exist)
        self._has_beaten()

    def beat(self) -> bool:
        """Whether it is still thought alive; it then learns which lanes it owns."""
        elapsed = self.clock.monotonic() - self.beaten_at

        def say(tx: Tx) -> tuple[bool, list[lanes.Lane]]:
            times.follow_clock(tx, HERE, self.clock.wall(), worker_id=self.name, elapsed=elapsed)
            return workers.beat(tx, self.name, not self.held, self.clock.wall()), lanes.owned(tx, self.name)

        alive, owned = self.database.write_now(say)
        self._has_beaten()
        names = {lane.name for lane in owned if lane.name != duties.LANE}
        for name in names:
            self.held.setdefault(name, {})
        for name in set(self.held) - names:
            if not self.held[name]:
                del self.held[name]
        return alive

    def _has_beaten(self) -> None:
        self.beaten_at = self.clock.monotonic()
        self.ahead = self.clock.wall() - self.beaten_at

    def take_lanes(self, limit: int) -> list[str]:
        """Own some lanes in which work is due, and a share of the slots of the runs that stand there."""
        if abs(self.clock.wall() - self.clock.monotonic() - self.ahead) > times.TOLERANCE and not self.beat():
            raise WorkerDead(f"{self.name} sees that the clock was set, and hears that it is dead.")
        in_use = Counter(page.run_id for held in self.held.values() for page in held.values())

        def agree(tx: Tx) -> list[str]:
            workers.check_alive(tx, self.name)
            taken = lanes.acquire(tx, self.name, limit, only_run=self.serves, now=self.clock.wall())
            names = [lane.name for lane in taken]
            stands = lanes.stands_of(tx, [*self.held, *names])
            for run in runs.served(tx, sorted({stand.run_id for stand in stands})):
                if run.wanted is Wanted.RUN and not run.is_over:
                    slots.claim(tx, self.name, {run.id: (run.spec.concurrency, in_use[run.id])})
            return names

        taken = self.database.write_now(agree)
        for name in taken:
            self.held.setdefault(name, {})
        return taken

    def read(self, lane: str, run_id: str, limit: int) -> list[Page]:
        """Read ahead, as a lane's owner does; it does not look whether it still is that."""
        held = self.held[lane]
        take = partial(pages.take, lane=lane, run_id=run_id, held=list(held), limit=limit, now=self.clock.wall())
        found = self.database.read_now(take)
        held.update({page.id: page for page in found})
        return found

    def in_flight(self) -> list[Page]:
        """What was read and not yet finished."""
        done = {outcome.page.id for outcome in self.finished}
        return [page for held in self.held.values() for page in held.values() if page.id not in done]

    def idle(self) -> list[str]:
        """The lanes in which nothing is in flight."""
        return [lane for lane in sorted(self.held) if not self.held[lane]]

    def holds_what_cant_be_stored(self) -> bool:
        return any(outcome.status == UNSTORABLE for outcome in self.finished)

    def settle(self, faults: Sequence[Fault] = ()) -> None:
        """Store all that was finished, through the settler, however often it has to be sent."""
        loop = Loop(Time(0.0, 0.0))
        try:
            settled = loop.create_task(self._settle(faults))
            while not settled.done():
                loop.run_until_quiet()
                loop.now.monotonic += 1.0
            settled.result()
        finally:
            loop.close()

    async def _settle(self, faults: Sequence[Fault]) -> None:
        database = Unsure(self.database, self.committed)
        database.faults.extend(faults)
        settler = Settler(
            database,
            self.name,
            max_running=self.max_running,
            clock=self.clock,
            news=self._told,
            settled=self._settled,
        )
        work = asyncio.create_task(settler.run())
        drained = asyncio.create_task(settler.drained())
        try:
            for outcome in self.finished:
                settler.put(outcome)
            settler.poke()
            await asyncio.sleep(0)
            await asyncio.wait({work, drained}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
        finally:
            work.cancel()
            drained.cancel()
            await asyncio.gather(work, drained, return_exceptions=True)

    def settle_and_die(self) -> None:
        """The commit is through, and nobody ever hears of it."""
        work = partial(
            settle.settle,
            worker_id=self.name,
            outcomes=self.finished,
            news=list(self._told()),
            max_running=self.max_running,
            now=self.clock.wall(),
        )
        self.committed(self.database.write_now(work))

    def _told(self) -> list[LaneNews]:
        told, self.news = list(self.news.values()), {}
        return told

    def _settled(self, batch: Sequence[Outcome], _: Settled) -> None:
        for outcome in batch:
            self.held.get(outcome.page.lane, {}).pop(outcome.page.id, None)
        ids = {outcome.page.id for outcome in batch}
        self.finished = [outcome for outcome in self.finished if outcome.page.id not in ids]

    def release(self, lane: str) -> None:
        """Give a lane back in which nothing is in flight, and the slots of runs of which nothing is."""
        del self.held[lane]
        busy = {page.run_id for held in self.held.values() for page in held.values()}

        def give_back(tx: Tx) -> None:
            lanes.release(tx, self.name, [lane])
            held = tx.all("SELECT run_id FROM run_workers WHERE worker_id = :me", me=self.name)
            for run_id in sorted({row.run_id for row in held} - busy):
                slots.give_back(tx, [run_id], self.name)
                steering.settle_pause(tx, run_id, max_running=self.max_running, now=self.clock.wall())

        self.database.write_now(give_back)

    def retire(self) -> None:
        """A clean end: what is in flight is dropped, everything finished has been settled."""

        def end(tx: Tx) -> None:
            workers.check_alive(tx, self.name)
            workers.retire(tx, self.name, max_running=self.max_running, now=self.clock.wall())

        self.database.write_now(end)
