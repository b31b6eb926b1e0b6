"""How much is going on in all runs together, and what goes wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Literal

from tarantella.domain.run import RunStatus
from tarantella.domain.struct import Frozen
from tarantella.fetchers.single_flight import Flights
from tarantella.services.app import App
from tarantella.store import overview, workers
from tarantella.store.overview import BrokenHost
from tarantella.store.tx import Tx

DAY = 86_400.0
TROUBLES_KEPT = 5.0  # seconds
STALE_BEAT = 60.0
Health = Literal["healthy", "degraded", "at_capacity"]


class SystemStatus(Frozen):
    """The whole at one moment."""

    health: Health
    runs: Mapping[str, int]  # by status
    slots: int
    troubles: Mapping[str, int]  # pages of the last day that failed or were left, by reason
    hosts: list[BrokenHost]
    workers: int
    now: float


class Overview:
    """Looks at everything together, at most once in a while however many ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._flights: Flights[str, SystemStatus] = Flights()
        self._known: tuple[float, Mapping[str, int]] = (-inf, {})

    async def look(self, app: App) -> SystemStatus:
        return await self._flights.join("", lambda: self._look(app))

    async def _look(self, app: App) -> SystemStatus:
        now = app.now()
        # Counting failed pages takes longer than all the rest, and nobody needs it to the second.
        if self._clock() - self._known[0] >= TROUBLES_KEPT:
            troubles = await app.database.read(partial(overview.troubles_since, since=now - DAY))
            self._known = (self._clock(), troubles)

        def count(tx: Tx) -> tuple[dict[str, int], list[BrokenHost], list[float]]:
            beats = [worker.beat_at for worker in workers.alive(tx)]
            return overview.runs_by_status(tx), overview.broken_hosts(tx), beats

        by_status, hosts, beats = await app.database.read(count)
        alive = sum(now - beat < STALE_BEAT for beat in beats)
        health = _health(by_status, app.settings.max_concurrent_tasks, alive)
        return SystemStatus(health, by_status, app.settings.max_concurrent_tasks, self._known[1], hosts, alive, now)


def _health(by_status: Mapping[str, int], slots: int, alive: int) -> Health:
    running = by_status.get(RunStatus.RUNNING, 0)
    if (running or by_status.get(RunStatus.QUEUED, 0)) and not alive:
        return "degraded"
    return "at_capacity" if running >= slots else "healthy"
