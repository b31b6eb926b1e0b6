"""Keeps an eye on all workers of the database, and says whether work gets done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tarantella.domain.errors import StoreError
from tarantella.domain.vitals import Condition, Vigil, Vitals
from tarantella.engine.lifeline import is_cut
from tarantella.services.app import App
from tarantella.store import workers
from tarantella.store.connection import Row


@dataclass(frozen=True, slots=True)
class Watched:
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


class Vigils:
    """One look after another; who stands still between them is noticed."""

    def __init__(self, app: App, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._vigils: dict[str, Vigil] = {}
        self.workers: Sequence[Watched] = ()
        self.looked_at: float | None = None  # by the clock; None until the first look
        self.trouble: str | None = None  # why the store could not be asked, if it could not

    async def look(self) -> Sequence[Watched]:
        """See all workers that live, and how each of them gets on."""
        try:
            found = [row for row in await self._app.database.read(workers.alive) if not self._is_gone(row)]
        except StoreError as error:
            # Nobody can be blamed for what can't be seen: the watch begins anew.
            self._vigils.clear()
            self.trouble = str(error)
            raise
        self.trouble = None
        now = self.looked_at = self._clock()
        self._vigils = {
            row.id: self._vigils.get(row.id) or Vigil(now, self._app.settings.stall_seconds) for row in found
        }
        self.workers = [self._watched(row, now) for row in found]
        return self.workers

    def start_anew(self, worker_id: str) -> None:
        """Forget what was held against a worker."""
        self._vigils.pop(worker_id, None)

    def serving(self) -> list[Watched]:
        """Those that work for all runs."""
        return [worker for worker in self.workers if worker.serves is None]

    def _is_gone(self, row: Row) -> bool:
        """Whether its process has ended, and only nobody has noted it yet."""
        return row.host == self._app.hostname and is_cut(self._app.settings.workers_dir, row.id) is True

    def _watched(self, row: Row, now: float) -> Watched:
        vigil = self._vigils[row.id]
        vitals = Vitals(row.work, row.progress, row.in_flight, row.patience)
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
        )
