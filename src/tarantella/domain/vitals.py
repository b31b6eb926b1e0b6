"""Whether a worker gets on with its work: a process that merely exists is not healthy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PATIENCE_PER_PAGE = 3.0  # robots.txt, the page itself, and the store


class Condition(StrEnum):
    IDLE = "idle"
    WORKING = "working"
    SUSPECT = "suspect"  # half of the time after which it is given up has passed
    STALLED = "stalled"


@dataclass(frozen=True, slots=True)
class Vitals:
    """What a worker says of itself with every beat."""

    work: int = 0  # what it could be doing now
    progress: int = 0  # grows with whatever it gets done
    in_flight: int = 0
    patience: float = 0.0  # how long one of its pages may take


NOTHING_TO_DO = Vitals()


class Vigil:
    """Watches one worker, by a clock of the watcher's own that only goes forward."""

    def __init__(self, now: float, limit: float) -> None:
        self._limit = limit
        self._beat: int | None = None
        self._seen = NOTHING_TO_DO
        self._beat_at = now
        self._moved_at = now

    def observe(self, now: float, beat: int, vitals: Vitals) -> Condition:
        """How the worker is, after this look at it."""
        if beat != self._beat:
            self._beat, self._beat_at = beat, now
        if vitals.progress != self._seen.progress or not vitals.work:
            self._moved_at = now
        self._seen = vitals
        return self.judged(now)

    def judged(self, now: float) -> Condition:
        share = max(self.silent_for(now) / self._limit, self.stuck_for(now) / self._stuck_limit())
        if share >= 1.0:
            return Condition.STALLED
        if share >= 0.5:
            return Condition.SUSPECT
        return Condition.WORKING if self._seen.work else Condition.IDLE

    def silent_for(self, now: float) -> float:
        """Seconds without a beat."""
        return now - self._beat_at

    def stuck_for(self, now: float) -> float:
        """Seconds with work and without progress."""
        return now - self._moved_at if self._seen.work else 0.0

    def _stuck_limit(self) -> float:
        # One slow page is no stall: each may take as long as its run allows.
        return self._limit + PATIENCE_PER_PAGE * self._seen.patience
