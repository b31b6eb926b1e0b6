"""A run: its states, the moves between them, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from tarantella.domain.struct import Frozen


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Wanted(StrEnum):
    """What a user asked of a run; its owners make it so."""

    RUN = "run"
    PAUSE = "pause"
    CANCEL = "cancel"


class Priority(IntEnum):
    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


# A run of the next lower priority starts as if it had been submitted this much later.
SECONDS_PER_PRIORITY = 600.0

_S = RunStatus
RUN_TRANSITIONS: Mapping[RunStatus, frozenset[RunStatus]] = {
    # A run can end while it waits: when it is cancelled, or its time is up, before it was ever admitted.
    _S.QUEUED: frozenset({_S.RUNNING, _S.PAUSED, _S.COMPLETED, _S.PARTIAL, _S.FAILED, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.QUEUED, _S.PAUSED, _S.COMPLETED, _S.PARTIAL, _S.FAILED, _S.CANCELLED}),
    _S.PAUSED: frozenset({_S.QUEUED, _S.RUNNING, _S.CANCELLED}),
    _S.COMPLETED: frozenset(),
    _S.PARTIAL: frozenset({_S.QUEUED}),
    _S.FAILED: frozenset({_S.QUEUED}),
    _S.CANCELLED: frozenset({_S.QUEUED}),
}
TERMINAL = frozenset({_S.COMPLETED, _S.PARTIAL, _S.FAILED, _S.CANCELLED})


class Counts(Frozen):
    """How a run's pages stand. `total = done + failed + skipped + pending`, always."""

    total: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    pending: int = 0
    incomplete: int = 0  # of the skipped, those that left something undone


def room_for_pages(max_pages: int, *, total: int, surplus: int, sitemaps: int) -> int:
    """How many more pages a run may have. What was skipped for want of room takes none, nor do sitemaps."""
    return max(0, max_pages - (total - surplus - sitemaps))


def terminal_status(counts: Counts, wanted: Wanted, *, partial_ok: bool) -> RunStatus:
    """How a run without pending pages ended."""
    if wanted is Wanted.CANCEL:
        return RunStatus.CANCELLED
    if counts.failed == 0 and counts.incomplete == 0:
        return RunStatus.COMPLETED
    return RunStatus.PARTIAL if counts.done and partial_ok else RunStatus.FAILED


def admission_rank(submitted_at: float, priority: Priority) -> float:
    """Runs are admitted in this order: by age, with a head start for the urgent, so that none starves."""
    return submitted_at + SECONDS_PER_PRIORITY * priority
