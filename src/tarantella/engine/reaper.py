"""Finds workers that died, and frees what they owned."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tarantella.engine.clock import Clock
from tarantella.engine.lifeline import bury, is_cut, sweep
from tarantella.engine.timing import Timing
from tarantella.log import log
from tarantella.store import workers
from tarantella.store.connection import Row
from tarantella.store.database import Database


class Reaper:
    """Watches the other workers' lifelines and, where there is none, their beats."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        host: str,
        *,
        max_running: int,
        clock: Clock,
        me: str | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._database = database
        self._folder = folder
        self._host = host
        self._max_running = max_running
        self._clock = clock
        self._me = me
        self._timing = timing or Timing()
        self._seen: dict[str, tuple[int, float]] = {}
        self._looked = clock.monotonic()

    async def run_once(self) -> list[str]:
        """Declare dead who is; their ids."""
        living = await self._database.read(workers.alive)
        dead = self._dead_among(living)
        for worker_id in dead:
            log.warning("A worker is gone; its lanes are free", action="worker_dead", worker=worker_id)
            declare = partial(
                workers.declare_dead, worker_id=worker_id, max_running=self._max_running, now=self._clock.wall()
            )
            await self._database.write(declare, name="reap")
            bury(self._folder, worker_id)
        sweep(self._folder, {worker.id for worker in living})
        return dead

    def _dead_among(self, living: Sequence[Row]) -> list[str]:
        now = self._clock.monotonic()
        if now - self._looked > self._timing.looks_at_most_apart:
            self._seen.clear()
        self._looked = now
        self._seen = {id_: seen for id_, seen in self._seen.items() if id_ in {worker.id for worker in living}}
        return [worker.id for worker in living if worker.id != self._me and self._is_dead(worker, now)]

    def _is_dead(self, worker: Row, now: float) -> bool:
        cut = is_cut(self._folder, worker.id) if worker.host == self._host else None
        if cut is not None:
            # The lock speaks for the process. A frozen one still holds it: then only its beat tells.
            if cut:
                return True
        beat, since = self._seen.get(worker.id, (None, now))
        if beat != worker.beat:
            self._seen[worker.id] = (worker.beat, now)
            return False
        return now - since >= self._timing.thought_dead_after
