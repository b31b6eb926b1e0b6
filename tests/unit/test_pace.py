"""A bucket that fills while nobody asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.pace import Bucket


def test_so_many_at_once_and_then_so_many_a_second() -> None:
    bucket = Bucket(2.0, 3)
    assert [bucket.wait(10.0) for _ in range(5)] == [0.0, 0.0, 0.0, 0.5, 1.0]
    assert bucket.wait(12.0) == 0.0


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = Bucket(1.0, 1)
    bucket.wait(10.0)
    assert bucket.wait(5.0) == 1.0


def test_of_several_limits_the_strictest_counts() -> None:
    bucket = Bucket(5.0, 10)
    bucket.be_stricter(2.0, 20)
    assert (bucket.rate, bucket.burst) == (2.0, 10)


@given(st.lists(st.floats(0, 5), max_size=50), st.floats(0.1, 50), st.integers(1, 20))
def test_in_no_second_have_more_their_turn_than_may(steps: list[float], rate: float, burst: int) -> None:
    bucket, now, turns = Bucket(rate, burst), 0.0, []
    for step in steps:
        now += step
        turns.append(now + bucket.wait(now))
    for number, turn in enumerate(turns):
        within = sum(turn <= other < turn + 1.0 for other in turns[number:])
        assert within <= burst + rate + 1e-6 + 1
    assert turns == sorted(turns) or pytest.approx(turns) == sorted(turns)
