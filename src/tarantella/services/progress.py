"""How far runs are and how fast they go, for whoever asks now and then."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from tarantella.domain.progress import Speedometer, at_least, phase
from tarantella.domain.run import Counts, RunStatus
from tarantella.domain.struct import Frozen
from tarantella.services.app import App
from tarantella.store import progress
from tarantella.store.progress import Look
from tarantella.store.runs import Run

MOST_RUNS = 1_000


class Progress(Frozen):
    """A run at one moment, with its pace."""

    run: Run
    now: float
    phase: str
    rate: float | None  # pages a second
    eta: tuple[float, float] | None
    current: str | None

    @property
    def percent(self) -> float:
        counts = self.run.counts
        if self.run.is_over:
            return 100.0
        # All of a run that goes on is never finished: pages may be found until its very end.
        return min(99.9, round(100 * (counts.total - counts.pending) / counts.total, 1)) if counts.total else 0.0

    @property
    def success_rate(self) -> float | None:
        return success_rate(self.run.counts)

    @property
    def duration(self) -> float:
        """Seconds since it was started, or that it took."""
        began = self.run.started_at
        return 0.0 if began is None else max(0.0, (self.run.finished_at or self.now) - began)


def success_rate(counts: Counts) -> float | None:
    tried = counts.done + counts.failed
    return round(counts.done / tried, 4) if tried else None


class Speedometers:
    """One for each run that was asked about lately: a pace needs two looks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[str, Speedometer] = OrderedDict()

    async def look(self, app: App, run_id: str) -> Progress:
        return self.seen(await app.database.read(partial(progress.look, run_id=run_id)), app.now())

    def seen(self, look: Look, now: float) -> Progress:
        """The pace of a run after this look at it."""
        run = look.run
        if run.status is not RunStatus.RUNNING:
            self._known.pop(run.id, None)
            rate = _average(run, now) if run.is_over else None
            return Progress(run, now, run.status.value, rate, None, look.current)
        pace = self._speedometer(run.id).observe(self._clock(), run.counts)
        waits = None if look.next_ready is None else look.next_ready - now
        rate, eta = pace.rate, pace.eta
        if eta is None and (average := _average(run, now)):
            # Nobody has looked for long enough: what it did since it was started has to do.
            rate, soonest = average, run.counts.pending / average
            eta = (soonest, soonest * (4.0 if pace.discovering else 1.5))
        return Progress(run, now, phase(run.status, pace, 0, waits), rate, at_least(eta, waits), look.current)

    def _speedometer(self, run_id: str) -> Speedometer:
        found = self._known.pop(run_id, None) or Speedometer()
        self._known[run_id] = found
        if len(self._known) > MOST_RUNS:
            self._known.popitem(last=False)
        return found


def _average(run: Run, now: float) -> float | None:
    ended = run.counts.total - run.counts.pending
    seconds = (run.finished_at or now) - (run.started_at or now)
    return ended / seconds if ended and seconds > 0.001 else None
