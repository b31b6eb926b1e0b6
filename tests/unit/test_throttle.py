"""A host gets as much as it can take, and begins with little."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.throttle import Throttle


def quick(throttle: Throttle, times: int, latency: float = 0.05) -> Throttle:
    for _ in range(times):
        throttle = throttle.after_success(latency)
    return throttle


def test_it_starts_with_one_slot() -> None:
    assert Throttle(limit=8).slots == 1.0


def test_every_quick_answer_adds_a_slot_up_to_the_limit() -> None:
    assert quick(Throttle(limit=8), 1).slots == 2
    assert quick(Throttle(limit=8), 7).slots == 8
    assert quick(Throttle(limit=8), 70).slots == 8


def test_a_host_that_becomes_slow_gets_less() -> None:
    fast = quick(Throttle(limit=8), 20)
    slow = quick(fast, 20, latency=2.0)
    assert slow.slots < fast.slots
    assert slow.slots >= 1


def test_a_host_that_was_always_slow_is_not_taken_for_an_overloaded_one() -> None:
    assert quick(Throttle(limit=8), 20, latency=2.0).slots == 8


def test_one_slow_page_does_not_empty_the_slots() -> None:
    assert quick(quick(Throttle(limit=8), 20), 1, latency=2.0).slots > 7


def test_a_host_that_is_slow_for_one_request_at_a_time_too_gets_its_slots_back() -> None:
    throttle = quick(Throttle(limit=8), 1, latency=0.005)
    taken = [(throttle := throttle.after_success(0.5)).slots for _ in range(100)]
    assert min(taken) == 1
    assert taken[-1] == 8


def test_a_host_that_is_slow_for_many_requests_at_a_time_gets_no_more_for_it() -> None:
    throttle = Throttle(limit=64)
    taken = [(throttle := throttle.after_success(0.4 * throttle.slots)).slots for _ in range(2_000)]
    assert max(taken[200:]) < 6
    assert throttle.best == 0.4


def test_trouble_takes_some_slots_but_never_the_last() -> None:
    throttle = quick(Throttle(limit=10), 20).after_trouble()
    assert throttle.slots == 7
    for _ in range(50):
        throttle = throttle.after_trouble()
    assert throttle.slots == 1


@given(
    limit=st.integers(1, 1_000),
    answers=st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=60),
)
def test_errors_never_make_it_faster_and_no_answer_takes_it_out_of_bounds(
    limit: int, answers: list[float | None]
) -> None:
    throttle = Throttle(limit)
    for latency in answers:
        before = throttle
        throttle = throttle.after_trouble() if latency is None else throttle.after_success(latency)
        assert 1 <= throttle.slots <= limit
        if latency is None:
            assert throttle.slots <= before.slots
        else:
            assert throttle.slots <= before.slots + 1


def test_a_lower_limit_holds_at_once_and_a_higher_one_is_grown_into() -> None:
    throttle = quick(Throttle(limit=8), 20)
    assert throttle.limited_to(3).slots == 3
    assert throttle.limited_to(20).slots == 8
    assert quick(throttle.limited_to(20), 1).slots == 9
    assert throttle.limited_to(8) is throttle
