"""A worker's beat: that it lives, and what it has to tell, over and over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tarantella.domain.errors import SchemaTooNew, StoreError, WorkerDead
from tarantella.engine.clock import Clock
from tarantella.engine.holdings import Holdings
from tarantella.engine.pulse import Pulse, Reading
from tarantella.log import log
from tarantella.store import lanes, schema, times, workers
from tarantella.store.database import Database
from tarantella.store.lanes import Lane
from tarantella.store.tx import Tx
from tarantella.store.workers import WorkerInfo


class Beat:
    """Says that a worker lives. Who can't, and is thought dead, must not write any more."""

    def __init__(
        self,
        database: Database,
        me: WorkerInfo,
        held: Holdings,
        pulse: Pulse,
        clock: Clock,
        *,
        lives: Callable[[float], None],
        owns: Callable[[Sequence[Lane]], None],
    ) -> None:
        self._database = database
        self._me = me
        self._held = held
        self._pulse = pulse
        self._clock = clock
        self._lives = lives  # told when a confirmed beat began, by the clock that only goes forward
        self._owns = owns  # told which lanes the database says are ours
        self._began = clock.monotonic()
        self._ahead = clock.wall() - self._began

    @property
    def clock_was_set(self) -> bool:
        """Whether the wall clock has been set since the last beat."""
        return abs(self._clock.wall() - self._clock.monotonic() - self._ahead) > times.TOLERANCE

    async def register(self) -> None:
        """The first one: from here on this worker exists."""
        began, now = self._clock.monotonic(), self._clock.wall()
        self._ahead = now - began

        def register(tx: Tx) -> float:
            jump = times.follow_clock(tx, self._me.host, now)
            workers.register(tx, self._me, now)
            return jump

        if jump := await self._database.write(register, name="register"):
            _say_clock_was_set(jump)
        self._confirmed(began)

    async def run(self, every: float, stop: Callable[[], None]) -> None:
        """Beat until cancelled; `stop` is called where there is nothing to live for."""
        trouble: str | None = None  # told once, however long it lasts
        while True:
            await asyncio.sleep(every)
            try:
                await self.once()
                trouble = None
            except SchemaTooNew as error:
                # Whoever brought the database up to date has workers that know it.
                log.error("The database was upgraded; this worker ends", action="schema_too_new", why=str(error))
                stop()
            except StoreError as error:
                if str(error) != trouble:
                    trouble = str(error)
                    log.warning("The beat could not be written", action="beat_failed", error=trouble)

    async def once(self) -> None:
        reading = self._pulse.read()
        try:
            await self._tell(reading)
        except BaseException:
            self._pulse.untold(reading)
            raise

    async def _tell(self, reading: Reading) -> None:
        began, now, hungry = self._clock.monotonic(), self._clock.wall(), not self._held.tasks
        elapsed = began - self._began

        def say(tx: Tx) -> tuple[bool, list[Lane]]:
            schema.check(tx)
            times.follow_clock(tx, self._me.host, now, worker_id=self._me.id, elapsed=elapsed)
            # In one transaction: read on their own, the lanes could be those of before or after a take or a release.
            alive = workers.beat(tx, self._me.id, hungry, now, reading.vitals)
            reading.store(tx, self._me.id, now)
            return alive, lanes.owned(tx, self._me.id)

        alive, owned = await self._database.write(say, name="beat")
        if not alive:
            raise WorkerDead("This process was declared dead while it did not answer; its work goes on elsewhere.")
        self._follow_clock(now - began)
        self._confirmed(began)
        self._owns(owned)

    def _confirmed(self, since: float) -> None:
        self._began = since
        self._lives(since)

    def _follow_clock(self, ahead: float) -> None:
        """The wall clock is so much ahead of the monotonic one: if that is news, our own times go with it."""
        jump, self._ahead = ahead - self._ahead, ahead
        if abs(jump) > times.TOLERANCE:
            _say_clock_was_set(jump)
            for lane in self._held.lanes.values():
                lane.follow_clock()


def _say_clock_was_set(jump: float) -> None:
    log.warning(
        f"The clock was put {'forward' if jump > 0 else 'back'} by {abs(jump):.0f} s; what was to happen later was moved with it",
        action="clock_set",
        seconds=round(jump),
    )
