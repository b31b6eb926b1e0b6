"""Keeps an eye on all workers of the database, and says whether work gets done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import orjson

from tarantella.domain.errors import StoreError
from tarantella.domain.struct import Frozen
from tarantella.domain.vitals import Condition, Vigil, Vitals
from tarantella.engine.lifeline import is_cut
from tarantella.services.app import App
from tarantella.store import workers
from tarantella.store.connection import Row

LONGEST_LOOK = 5.0  # seconds; whoever is seen after more than that is watched anew


class Watched(Frozen):
    """A worker as it was last seen."""

    id: str
    serves: str | None
    host: str
    pid: int
    version: str
    started_at: float
    beat_at: float
    vitals: Vitals
    condition: Condition
    silent_for: float
    stuck_for: float
    node: str | None = None
    has: tuple[str, ...] = ()

    @property
    def trouble(self) -> str | None:
        """What makes it suspect, in words."""
        if self.condition in (Condition.IDLE, Condition.WORKING):
            return None
        if self.stuck_for > self.silent_for:
            return f"it has had work and made no progress for {self.stuck_for:.0f} s"
        return f"it has given no sign of life for {self.silent_for:.0f} s"


class Vigils:
    """One look after another; who stands still between them is noticed.

    Who looks only once has to believe what workers say of the time, by clocks of their own.
    """

    def __init__(self, app: App, clock: Callable[[], float] = time.monotonic, *, as_told: bool = False) -> None:
        self._app = app
        self._as_told = as_told
        self._clock = clock
        self._vigils: dict[str, Vigil] = {}
        self.workers: Sequence[Watched] = ()
        self.since = clock()  # when the watch over all of them began, or began anew
        self.trouble: str | None = None  # why the store could not be asked, if it could not

    async def look(self) -> Sequence[Watched]:
        """See all workers that live, and how each of them gets on."""
        began = self._clock()
        try:
            found = [row for row in await self._app.database.read(workers.alive) if not self._is_gone(row)]
        except StoreError as error:
            # Nobody can be blamed for what can't be seen: the watch begins anew.
            self._begin(self._clock())
            self.trouble = str(error)
            raise
        self.trouble = None
        now = self._clock()
        if now - began > LONGEST_LOOK:
            # They wait for the same store as we did: that nothing was heard of them for so long says nothing of them.
            self._begin(now)
        self._vigils = {
            row.id: self._vigils.get(row.id) or Vigil(now, self._app.settings.stall_seconds, **self._since(row, now))
            for row in found
        }
        self.workers = [self._watched(row, now) for row in found]
        return self.workers

    def _begin(self, now: float) -> None:
        self._vigils.clear()
        self.since = now

    def start_anew(self, worker_id: str) -> None:
        """Forget what was held against a worker."""
        self._vigils.pop(worker_id, None)

    def serving(self) -> list[Watched]:
        """Those that work for all runs."""
        return [worker for worker in self.workers if worker.serves is None]

    def _since(self, row: Row, now: float) -> dict[str, float]:
        """Since when it has not been heard of, and not got on, as far as that can be believed."""
        if not self._as_told:
            return {}
        ahead = now - self._app.now()
        progress_at = row.started_at if row.progress_at is None else row.progress_at
        return {"beat_at": min(now, row.beat_at + ahead), "moved_at": min(now, progress_at + ahead)}

    def _is_gone(self, row: Row) -> bool:
        """Whether its process has ended, and only nobody has noted it yet."""
        return row.host == self._app.hostname and is_cut(self._app.settings.workers_dir, row.id) is True

    def _watched(self, row: Row, now: float) -> Watched:
        vigil = self._vigils[row.id]
        vitals = Vitals(
            row.work, row.progress, row.in_flight, row.patience, row.lanes, row.rate, row.memory, row.progress_at
        )
        condition = vigil.observe(now, row.beat, vitals)
        return Watched(
            row.id,
            row.serves,
            row.host,
            row.pid,
            row.version,
            row.started_at,
            row.beat_at,
            vitals,
            condition,
            vigil.silent_for(now),
            vigil.stuck_for(now),
            row.node,
            tuple(orjson.loads(row.has)),
        )
