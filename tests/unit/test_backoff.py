"""Waits grow, but not for ever, and not all at the same moment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.backoff import Backoff, obeyed_retry_after
from tarantella.domain.errors import InvalidInput


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(1, 10.0), (2, 30.0), (3, 90.0), (4, 270.0), (5, 300.0), (6, 300.0), (10**9, 300.0)],
)
def test_the_default_waits_are_10_30_90_and_never_more_than_300(failures: int, seconds: float) -> None:
    assert Backoff().delay(failures, luck=0.0) == seconds


def test_jitter_adds_up_to_a_tenth_and_takes_nothing_away() -> None:
    assert Backoff().delay(1, luck=0.5) == pytest.approx(10.5)
    assert Backoff().delay(9, luck=1.0) == pytest.approx(330.0)


def test_jitter_can_be_switched_off() -> None:
    assert Backoff(jitter=0.0).delay(2, luck=1.0) == 30.0


def test_before_any_failure_the_wait_is_the_first_one() -> None:
    assert Backoff().delay(0, luck=0.0) == 10.0


@given(
    failures=st.integers(1, 10_000),
    luck=st.floats(0, 1),
    base=st.floats(0, 86_400),
    factor=st.floats(1, 100),
    cap=st.floats(0, 86_400),
    jitter=st.floats(0, 1),
)
def test_no_backoff_is_negative_or_beyond_its_cap_and_jitter(
    failures: int, luck: float, base: float, factor: float, cap: float, jitter: float
) -> None:
    backoff = Backoff(base, factor, cap, jitter)
    assert 0 <= backoff.delay(failures, luck) <= cap * (1 + jitter)
    assert backoff.delay(failures, 0) <= backoff.delay(failures + 1, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base", -0.1),
        ("base", 86_401.0),
        ("base", float("nan")),
        ("factor", 0.99),
        ("factor", 101.0),
        ("cap", -1.0),
        ("cap", float("inf")),
        ("jitter", -0.01),
        ("jitter", 1.01),
    ],
)
def test_a_backoff_out_of_bounds_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=name) as caught:
        Backoff(**{name: value})
    assert caught.value.field == f"backoff.{name}"


@pytest.mark.parametrize(
    ("asked", "obeyed"),
    [(None, None), (-5.0, 0.0), (0.0, 0.0), (7.5, 7.5), (3_600.0, 3_600.0), (3.2e8, 3_600.0)],
)
def test_retry_after_is_obeyed_between_now_and_an_hour(asked: float | None, obeyed: float | None) -> None:
    assert obeyed_retry_after(asked) == obeyed
