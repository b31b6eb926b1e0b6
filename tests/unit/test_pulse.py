"""What a worker tells of itself with a beat is told once."""

from __future__ import annotations

from typing import Any

from tarantella.engine.holdings import Holdings
from tarantella.engine.pulse import Pulse
from tests.unit.made import Time


def told(reading: Any) -> int:
    return int(reading.counted["tarantella_settles_total"])


def test_two_who_tell_at_the_same_time_tell_everything_once() -> None:
    time, idle = Time(), type("Idle", (), {"trouble": None, "is_idle": True})()
    pulse = Pulse(Holdings(time.now), idle, time.clock, remembers=60.0)
    for _ in range(7):
        pulse.counters.count([], lost=0)
    first = pulse.read()
    pulse.counters.count([], lost=0)
    second = pulse.read()
    assert (told(first), told(second)) == (7, 1)
    pulse.untold(first)
    assert told(pulse.read()) == 7
    assert told(pulse.read()) == 0
