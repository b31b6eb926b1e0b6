"""When a job runs by itself: what people write, and the times that it means by the clocks of their places."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tarantella.domain.errors import InvalidInput
from tarantella.domain.schedule import (
    Rhythm,
    in_words,
    latest,
    local,
    meant,
    next_time,
    next_times,
    passed,
    rhythm_of,
)

NOW = datetime(2026, 11, 18, 12, 0, 30, tzinfo=UTC).timestamp()  # a Wednesday


def rhythm(frequency: str, zone: str = "UTC") -> Rhythm:
    found = rhythm_of(frequency, zone)
    assert found is not None
    return found


def times(frequency: str, zone: str, after: str, count: int) -> list[str]:
    """The next times by the clock of the place, after a moment of the world's clock."""
    start = datetime.fromisoformat(after).replace(tzinfo=UTC).timestamp()
    return [
        local(at, zone).strftime("%m-%d %H:%M %Z") for at in next_times(rhythm(frequency, zone), start, start, count)
    ]


@pytest.mark.parametrize(
    ("frequency", "first", "words"),
    [
        ("hourly", "2026-11-18 13:00:00", "At the start of every hour"),
        ("@hourly", "2026-11-18 13:00:00", "At the start of every hour"),
        ("daily", "2026-11-19 00:00:00", "At 00:00 every day"),
        ("Weekly", "2026-11-22 00:00:00", "At 00:00 on Sunday"),
        ("monthly", "2026-12-01 00:00:00", "At 00:00 on the first day of every month"),
        ("@yearly", "2027-01-01 00:00:00", "At 00:00 on the first day of January"),
        ("daily at 6:30", "2026-11-19 06:30:00", "At 06:30 every day"),
        ("every day at 18:00", "2026-11-18 18:00:00", "At 18:00 every day"),
        ("weekdays at 06:30", "2026-11-19 06:30:00", "At 06:30 on Monday through Friday"),
        ("weekends at 06:30", "2026-11-21 06:30:00", "At 06:30 on Sunday and Saturday"),
        ("mondays at 7:00", "2026-11-23 07:00:00", "At 07:00 on Monday"),
        ("every tuesday at 7:00", "2026-11-24 07:00:00", "At 07:00 on Tuesday"),
        ("  30   6 * * MON-fri ", "2026-11-19 06:30:00", "At 06:30 on Monday through Friday"),
        ("0 0 L * *", "2026-11-30 00:00:00", "At 00:00 on the last day of every month"),
        ("0 0 29 2 *", "2028-02-29 00:00:00", "At 00:00 on the 29th of February"),
        ("every minute", "2026-11-18 12:01:30", "Every minute"),
        ("every 15 minutes", "2026-11-18 12:15:30", "Every 15 minutes"),
        ("every 90m", "2026-11-18 13:30:30", "Every 90 minutes"),
        ("every 6 hours", "2026-11-18 18:00:30", "Every 6 hours"),
        ("every 2 weeks", "2026-12-02 12:00:30", "Every 2 weeks"),
    ],
)
def test_a_frequency_means_what_it_says(frequency: str, first: str, words: str) -> None:
    found = rhythm(frequency)
    at = next_time(found, NOW, NOW)
    assert at is not None
    assert datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S") == first
    if not words.startswith("At 00:00 on the"):
        assert in_words(found) == words


@pytest.mark.parametrize("frequency", ["on_demand", "On_Demand", " on_demand "])
def test_on_demand_is_no_rhythm(frequency: str) -> None:
    assert rhythm_of(frequency, "UTC") is None


@pytest.mark.parametrize(
    ("frequency", "why"),
    [
        ("", "it has no meaning"),
        ("   ", "it has no meaning"),
        ("sometimes", "it has no meaning"),
        ("* * * *", "5 fields, not 4"),
        ("* * * * * *", "5 fields, not 6"),
        ("60 * * * *", "its minute"),
        ("* 24 * * *", "its hour"),
        ("0 0 32 * *", "its day-of-month"),
        ("0 0 30 2 *", "its day-of-month"),
        ("0 0 * 13 *", "its month"),
        ("0 0 * * 8", "its day-of-week"),
        ("0 0 * * mon#1/2", "its day-of-week"),
        ("*/0 * * * *", "its minute"),
        ("5-1 * * * *", "its minute"),
        ("-1 * * * *", "its minute"),
        ("a b c d e", "its minute"),
        ("١ * * * *", "its minute"),
        ("daily at 24:00", "its hour"),
        ("daily at 6:60", "its minute"),
        ("fortnights at 6:30", "'fortnights' is no day"),
        ("every 0 minutes", "at least a minute"),
        ("every 999999 days", "at most 366 days"),
        ("every 10 seconds", "minutes, hours, days or weeks"),
        ("every -5 minutes", "minutes, hours, days or weeks"),
        ("every 1e3 minutes", "minutes, hours, days or weeks"),
        ("\0 * * * *", "its minute"),
        ("0," * 60 + "0 * * * *", "characters"),
        ("x" * 1_000_000, "1,000,000 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_and_says_what_would(frequency: str, why: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        rhythm_of(frequency, "UTC")
    assert refused.value.field == "frequency"
    assert why in refused.value.message
    assert len(refused.value.message) < 200
    assert "daily at 06:30" in (refused.value.remedy or "")


@pytest.mark.parametrize(
    "frequency", ["*/90 * * * *", "0 */36 * * *", "0 0 */40 * *", "0 0 1 */13 *", "0 0 * * */8", "1,5/61 * * * *"]
)
def test_steps_that_are_never_taken_are_refused_when_they_are_written(frequency: str) -> None:
    with pytest.raises(InvalidInput, match=r"makes no sense.*it would be the first of them.*`every 15 minutes`"):
        meant(frequency, "UTC")
    assert rhythm_of(frequency, "UTC") is not None  # what somebody has written before


@pytest.mark.parametrize(
    "frequency", ["*/60 * * * *", "0 */24 * * *", "*/15 9-17/2 * * 1-5", "every 90 minutes", "daily"]
)
def test_steps_that_come_out_are_taken(frequency: str) -> None:
    assert meant(frequency, "UTC") == rhythm_of(frequency, "UTC")


@pytest.mark.parametrize(
    ("zone", "remedy"),
    [
        ("europe/berlin", "Did you mean Europe/Berlin?"),
        ("Berlin", "Did you mean Europe/Berlin?"),
        ("utc", "Did you mean UTC?"),
        ("", "Write one like"),
        ("America", ""),  # a folder
        ("/etc/passwd", ""),
        ("../../../etc/passwd", ""),
        ("zone.tab", ""),
        ("\0", ""),
        ("\ud800", ""),
        ("x" * 1_000_000, "Write one like"),
    ],
)
def test_a_place_without_a_clock_is_refused(zone: str, remedy: str) -> None:
    for frequency in ("daily", "on_demand"):
        with pytest.raises(InvalidInput) as refused:
            rhythm_of(frequency, zone)
        assert refused.value.field == "timezone"
        assert remedy in (refused.value.remedy or "")


def test_a_time_of_day_stays_where_it_is_when_the_clocks_change() -> None:
    assert times("daily at 06:30", "Europe/Berlin", "2026-03-28T00:00", 3) == [
        "03-28 06:30 CET",
        "03-29 06:30 CEST",
        "03-30 06:30 CEST",
    ]


def test_a_time_that_the_clocks_leap_over_comes_right_after_the_leap() -> None:
    assert times("daily at 02:30", "Europe/Berlin", "2026-03-28T12:00", 2) == ["03-29 03:00 CEST", "03-30 02:30 CEST"]


def test_a_time_that_comes_twice_is_kept_once() -> None:
    assert times("daily at 02:30", "Europe/Berlin", "2026-10-24T12:00", 2) == ["10-25 02:30 CEST", "10-26 02:30 CET"]
    # Asked between the first and the second: it was kept.
    assert times("daily at 02:30", "Europe/Berlin", "2026-10-25T00:45", 1) == ["10-26 02:30 CET"]
    # And in the second of the two hours, before the minute.
    assert times("daily at 02:30", "Europe/Berlin", "2026-10-25T01:15", 1) == ["10-26 02:30 CET"]


def test_every_hour_of_a_day_is_kept_also_the_one_that_comes_twice() -> None:
    assert times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30", 4) == [
        "10-25 02:00 CEST",
        "10-25 02:00 CET",
        "10-25 03:00 CET",
        "10-25 04:00 CET",
    ]


def test_a_place_whose_clock_moves_by_half_an_hour_is_understood() -> None:
    assert times("daily at 02:15", "Australia/Lord_Howe", "2026-10-02T15:00", 2) == [
        "10-03 02:15 +1030",
        "10-04 02:30 +11",
    ]


def test_intervals_are_counted_from_when_they_were_set_and_do_not_drift() -> None:
    every = rhythm("every 15 minutes")
    assert [at - NOW for at in next_times(every, NOW, NOW, 3)] == [900.0, 1800.0, 2700.0]
    assert next_time(every, NOW + 7_205.0, NOW) == NOW + 8_100.0


def test_of_many_times_that_passed_the_last_counts() -> None:
    hourly, start = rhythm("hourly"), datetime(2026, 11, 18, 13, tzinfo=UTC).timestamp()
    now = start + 5 * 3_600 + 120
    assert latest(hourly, start, now, 0.0) == start + 5 * 3_600
    assert passed(hourly, start, now, 0.0) == 5
    assert latest(hourly, start, start, 0.0) == start
    assert passed(hourly, start, start + 59, 0.0) == 0


FREQUENCIES = st.sampled_from(
    [
        "* * * * *",
        "*/7 * * * *",
        "30 2 * * *",
        "0 0,2,3 * * *",
        "15 1-3 1,28-31 * *",
        "0 */5 * * 1-5",
        "every 7 minutes",
    ]
    + ["every 36 hours", "weekends at 01:59", "0 2 29 2 *"]
)
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"])
MOMENTS = st.floats(datetime(2020, 1, 1, tzinfo=UTC).timestamp(), datetime(2040, 1, 1, tzinfo=UTC).timestamp())
# Around the moments at which clocks change, where it is difficult.
CHANGES = st.sampled_from(
    ["2026-03-29T01:00", "2026-10-25T01:00", "2026-11-01T06:00", "2026-03-08T07:00", "2026-10-03T15:30"]
)
NEAR = st.builds(
    lambda change, minutes: (
        datetime.fromisoformat(change).replace(tzinfo=UTC) + timedelta(minutes=minutes)
    ).timestamp(),
    CHANGES,
    st.floats(-200, 200),
)


@given(FREQUENCIES, ZONES, st.one_of(MOMENTS, NEAR), st.floats(0, 400_000))
def test_the_next_time_is_always_ahead_and_no_time_is_left_out(
    frequency: str, zone: str, after: float, more: float
) -> None:
    found = rhythm(frequency, zone)
    first, second = next_times(found, after, after, 2)
    assert after < first < second
    # Whoever asks at any moment in between gets the same.
    between = min(first - 0.001, after + more)
    if between >= after:
        assert next_time(found, between, after) == first
    assert next_time(found, first, after) == second


@given(FREQUENCIES, ZONES, st.one_of(MOMENTS, NEAR), st.floats(0, 400_000))
@example("* * * * *", "UTC", 1_577_836_800.0, 179.5)
@example("30 2 * * *", "Europe/Berlin", 1_792_756_800.0, 89_100.0)  # in the second of two hours, before the minute
def test_what_passed_is_between_the_first_time_and_now(frequency: str, zone: str, after: float, more: float) -> None:
    found = rhythm(frequency, zone)
    first = next_time(found, after, after)
    assert first is not None
    now = first + more
    last = latest(found, first, now, after)
    assert first <= last <= now
    count = passed(found, first, now, after)
    if count < 1_000:
        assert (last == first) == (count == 0)
        following = next_times(found, after, after, count + 2)
        assert following[count] == last
        assert following[count + 1] > now
