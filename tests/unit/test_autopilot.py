"""When an autopilot is not well: health means progress."""

from __future__ import annotations

from typing import Any

import pytest

from tarantella.domain.autopilot import Flight, Phase, unwell

NOW = 100_000.0


def flight(phase: Phase, **more: Any) -> Flight:
    told: dict[str, Any] = {"beat_at": NOW, "since": NOW, "progress_at": NOW, "interval_seconds": 3_600.0, **more}
    return Flight(1, "here", 0.0, phase=phase, **told)


@pytest.mark.parametrize(
    "seen",
    [
        flight(Phase.WAITING, next_at=NOW + 3_000),
        flight(Phase.WAITING, next_at=NOW - 59, left=1_000_000),
        flight(Phase.FILLING, left=1_000_000, progress_at=NOW - 1_000, patience=3_600.0),
        flight(Phase.SCANNING, since=NOW - 600),
        flight(Phase.WAITING, failed_cycles=2, trouble="a disk"),
    ],
)
def test_work_that_waits_and_work_that_takes_its_time_are_no_illness(seen: Flight) -> None:
    assert unwell(seen, NOW) is None


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (flight(Phase.STOPPED), "was stopped"),
        (flight(Phase.WAITING, beat_at=NOW - 31), "not been heard of for 31 s"),
        (flight(Phase.FILLING, progress_at=NOW - 400, patience=300.0), "nothing has begun or ended for 400 s"),
        (flight(Phase.SCANNING, since=NOW - 3_601), "looking for gaps for 3601 s"),
        (flight(Phase.WAITING, next_at=NOW - 61), "61 s late"),
        (flight(Phase.WAITING, failed_cycles=3, trouble="a disk"), "3 cycles in a row could not be done: a disk"),
    ],
)
def test_who_lives_and_does_nothing_is_not_well(seen: Flight, why: str) -> None:
    assert why in str(unwell(seen, NOW))
