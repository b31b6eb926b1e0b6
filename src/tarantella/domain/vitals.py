"""Whether a worker gets on with its work: a process that merely exists is not healthy."""

from __future__ import annotations

from enum import StrEnum

from tarantella.domain.struct import Frozen

PATIENCE_PER_PAGE = 3.0  # robots.txt, the page itself, and the store


class Condition(StrEnum):
    IDLE = "idle"
    WORKING = "working"
    SUSPECT = "suspect"  # half of the time after which it is given up has passed
    STALLED = "stalled"


class Vitals(Frozen):
    """What a worker says of itself with every beat."""

    work: int = 0  # what it could be doing now
    progress: int = 0  # grows with whatever it gets done
    in_flight: int = 0
    patience: float = 0.0  # how long one of its pages may take
    lanes: int = 0  # that it owns
    rate: float = 0.0  # pages a second since the beat before
    memory: int = 0  # bytes
    progress_at: float | None = None  # when it last got something done, by its own clock


NOTHING_TO_DO = Vitals()


class Vigil:
    """Watches one worker, by a clock of the watcher's own that only goes forward."""

    def __init__(
        self, now: float, limit: float, *, beat_at: float | None = None, moved_at: float | None = None
    ) -> None:
        self._limit = limit
        self._beat: int | None = None
        self._progress: int | None = None
        self._seen = NOTHING_TO_DO
        self._beat_at = now if beat_at is None else beat_at
        self._moved_at = now if moved_at is None else moved_at

    def observe(self, now: float, beat: int, vitals: Vitals) -> Condition:
        """How the worker is, after this look at it."""
        if beat != self._beat:
            self._beat_at = self._beat_at if self._beat is None else now
            self._beat = beat
        if vitals.progress != self._progress or not vitals.work:
            self._moved_at = self._moved_at if self._progress is None and vitals.work else now
            self._progress = vitals.progress
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
