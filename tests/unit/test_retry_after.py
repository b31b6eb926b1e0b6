"""Whatever a site writes into Retry-After, it means some seconds or nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.backoff import obeyed_retry_after
from tarantella.fetchers.retry_after import parse_retry_after

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("-5", -5.0),
        ("315360000", 315_360_000.0),
        ("9" * 500, 1e9),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10.0),
        ("Sun Nov  6 08:49:47 1994", 10.0),
        ("Sun, 06 Nov 1994 08:49:27 GMT", -10.0),
        ("Sun, 06 Nov 1994 08:49:47 -0000", 10.0),
        ("Fri, 06 Nov 2004 08:49:37 GMT", 315_619_200.0),
    ],
)
def test_seconds_and_dates_become_seconds_from_now(value: str, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "soon",
        "nan",
        "inf",
        "1e400",
        "12 parsecs",
        "١٢",
        "0x10",
        "99 Nov 1994",
        "Sun, 99 Nov 9999 99:99",
    ],
)
def test_junk_is_nothing(value: str | None) -> None:
    assert parse_retry_after(value, NOW) is None


@given(st.text() | st.from_regex(r"[A-Za-z]{3}, [0-9]{1,4} [A-Za-z]{3} [0-9]{1,6} [0-9:]{1,9} ?[A-Z+0-9]{0,6}"))
def test_nothing_that_a_site_can_write_raises_or_is_obeyed_for_more_than_an_hour(value: str) -> None:
    seconds = parse_retry_after(value, NOW)
    assert seconds is None or math.isfinite(seconds)
    assert (obeyed_retry_after(seconds) or 0.0) <= 3_600
