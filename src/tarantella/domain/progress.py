"""How far a run is, how fast it goes, and when it might end."""

from __future__ import annotations

from collections import deque

from tarantella.domain.run import Counts, RunStatus
from tarantella.domain.struct import Frozen

WINDOW = 15.0
STEADY_AFTER = 3.0
STILL_FINDING = 3.0


class Pace(Frozen):
    """Pages a second, and the range of seconds until the end; None while that can't be told."""

    rate: float
    eta: tuple[float, float] | None
    discovering: bool


class Speedometer:
    """Remembers the last seconds of a run's counts."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, int]] = deque()
        self._grew_at: float | None = None

    def observe(self, now: float, counts: Counts) -> Pace:
        """The pace after this look. `now` is any clock that only goes forward."""
        ended = counts.total - counts.pending
        # A run of which nothing has ended yet has only just been given its first pages.
        if (counts.total > self._seen[-1][2]) if self._seen else not ended:
            self._grew_at = now
        discovering = self._grew_at is not None and now - self._grew_at <= STILL_FINDING
        self._seen.append((now, ended, counts.total))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        first, ended_then, total_then = self._seen[0]
        span = now - first
        if span <= 0:
            return Pace(0.0, None, discovering)
        rate = (ended - ended_then) / span
        growth = (counts.total - total_then) / span
        if rate <= 0 or span < STEADY_AFTER:
            return Pace(rate, None, discovering)
        soonest = counts.pending / rate
        # While pages are still found as fast as they are done, the end is only known to be later than this.
        latest = counts.pending / max(rate - growth, rate / 4) if discovering else soonest * 1.5
        return Pace(rate, (soonest, max(latest, soonest * 1.2)), discovering)


def at_least(eta: tuple[float, float] | None, waits: float | None) -> tuple[float, float] | None:
    """When the end can be expected, if the next page is due only in so many seconds."""
    if eta is None or waits is None:
        return eta
    return max(eta[0], waits), max(eta[1], waits)


def phase(status: RunStatus, pace: Pace, in_flight: int, waits: float | None) -> str:
    """One word for what a run is doing."""
    if status is not RunStatus.RUNNING:
        return status.value
    if not in_flight and waits is not None and waits > 0.5:
        return "waiting"
    return "discovering" if pace.discovering else "fetching"
