"""Whether an autopilot does what it is there for: that it lives is not enough."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from tarantella.domain.struct import Frozen

BEATS_EVERY = 2.0
FROZEN_AFTER = 30.0  # seconds without a beat
LATE_AFTER = 60.0  # seconds behind a time at which something should have happened
LONGEST_SCAN = 3_600.0
MOST_FAILED_CYCLES = 3  # in a row


class Phase(StrEnum):
    """What an autopilot is at."""

    SCANNING = "scanning"
    FILLING = "filling"
    WAITING = "waiting"
    STOPPED = "stopped"


class Flight(Frozen):
    """What an autopilot tells of itself, over and over."""

    pid: int
    host: str
    started_at: float
    beat_at: float
    phase: Phase
    since: float  # when the phase began
    progress_at: float  # when something was last begun or ended
    interval_seconds: float
    patience: float = 0.0  # how long a script may take that is running now
    cycles: int = 0
    failed_cycles: int = 0  # in a row
    running: int = 0
    left: int = 0
    eta_seconds: float | None = None
    next_at: float | None = None
    trouble: str | None = None
    last: dict[str, Any] | None = None  # what came of the last cycle
    port: int | None = None  # where its health can be asked for


def unwell(flight: Flight, now: float) -> str | None:
    """Why nobody should rely on it; None where it is well. Work that waits in its queue is no reason."""
    if flight.phase is Phase.STOPPED:
        return "it was stopped"
    if now - flight.beat_at > FROZEN_AFTER:
        return f"it has not been heard of for {now - flight.beat_at:.0f} s"
    if flight.phase is Phase.FILLING and now - flight.progress_at > flight.patience + LATE_AFTER:
        return f"nothing has begun or ended for {now - flight.progress_at:.0f} s"
    if flight.phase is Phase.SCANNING and now - flight.since > LONGEST_SCAN:
        return f"it has been looking for gaps for {now - flight.since:.0f} s"
    if flight.phase is Phase.WAITING and flight.next_at is not None and now - flight.next_at > LATE_AFTER:
        return f"its next cycle is {now - flight.next_at:.0f} s late"
    if flight.failed_cycles >= MOST_FAILED_CYCLES:
        return f"{flight.failed_cycles} cycles in a row could not be done: {flight.trouble}"
    return None
