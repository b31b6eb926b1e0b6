"""How a run's pace is told: what is known, and no more."""

from __future__ import annotations

import pytest

from tarantella.domain.progress import Pace, Speedometer, at_least, phase
from tarantella.domain.run import Counts, RunStatus


def counts(total: int, ended: int) -> Counts:
    return Counts(total=total, done=ended, pending=total - ended)


def watch(*looks: tuple[float, int, int]) -> Pace:
    """The pace after looks at (seconds, total, ended)."""
    meter = Speedometer()
    pace = None
    for now, total, ended in looks:
        pace = meter.observe(now, counts(total, ended))
    assert pace is not None
    return pace


def test_the_first_look_knows_no_rate_and_no_end() -> None:
    assert watch((0.0, 1, 0)) == Pace(0.0, None, discovering=True)


def test_a_run_that_is_taken_up_again_is_not_thought_to_discover() -> None:
    assert watch((0.0, 100, 40)) == Pace(0.0, None, discovering=False)


def test_it_discovers_only_while_pages_were_found_in_the_last_seconds() -> None:
    assert watch((0.0, 10, 1), (1.0, 20, 2)).discovering
    assert watch((0.0, 10, 1), (1.0, 20, 2), (3.0, 20, 5)).discovering
    assert not watch((0.0, 10, 1), (1.0, 20, 2), (4.5, 20, 8)).discovering
    assert watch((0.0, 10, 1), (1.0, 20, 2), (4.5, 20, 8), (5.0, 21, 9)).discovering


def test_the_rate_is_that_of_the_last_seconds() -> None:
    looks = [(float(second), 1_000, min(second, 30) * 10) for second in range(61)]
    assert watch(*looks[:31]).rate == pytest.approx(10.0)
    assert watch(*looks).rate == 0.0


def test_there_is_no_eta_before_the_rate_is_steady_or_when_nothing_moves() -> None:
    assert watch((0.0, 100, 0), (2.0, 100, 20)).eta is None
    assert watch((0.0, 100, 50), (10.0, 100, 50)).eta is None


def test_the_eta_is_a_range_around_what_is_left() -> None:
    eta = watch((0.0, 100, 10), (5.0, 100, 60)).eta
    assert eta is not None
    soonest, latest = eta
    assert soonest == pytest.approx(4.0)
    assert soonest * 1.2 <= latest <= soonest * 2


def test_while_pages_are_found_the_end_may_be_much_later() -> None:
    still = watch((0.0, 100, 0), (5.0, 150, 50))
    settled = watch((0.0, 150, 0), (5.0, 150, 50))
    assert still.eta is not None and settled.eta is not None
    assert still.discovering
    assert still.eta[0] == settled.eta[0]
    assert still.eta[1] > settled.eta[1]


def test_a_run_that_grows_faster_than_it_is_done_still_has_an_eta_that_is_a_number() -> None:
    eta = watch((0.0, 100, 0), (5.0, 10_000, 50)).eta
    assert eta is not None
    assert eta[0] < eta[1] < 10_000


def test_when_nothing_is_pending_the_end_is_now() -> None:
    assert watch((0.0, 100, 0), (5.0, 100, 100)).eta == (0.0, 0.0)


FETCHING = Pace(1.0, None, discovering=False)
DISCOVERING = Pace(1.0, None, discovering=True)


@pytest.mark.parametrize(
    ("status", "pace", "in_flight", "waits", "told"),
    [
        (RunStatus.RUNNING, DISCOVERING, 3, None, "discovering"),
        (RunStatus.RUNNING, FETCHING, 3, None, "fetching"),
        (RunStatus.RUNNING, FETCHING, 0, 12.0, "waiting"),
        (RunStatus.RUNNING, DISCOVERING, 0, 12.0, "waiting"),
        (RunStatus.RUNNING, FETCHING, 0, 0.2, "fetching"),
        (RunStatus.RUNNING, FETCHING, 1, 12.0, "fetching"),
        (RunStatus.RUNNING, FETCHING, 0, None, "fetching"),
        (RunStatus.QUEUED, DISCOVERING, 0, None, "queued"),
        (RunStatus.PAUSED, DISCOVERING, 0, 12.0, "paused"),
        (RunStatus.PARTIAL, FETCHING, 0, None, "partial"),
    ],
)
def test_one_word_says_what_a_run_is_doing(
    status: RunStatus, pace: Pace, in_flight: int, waits: float | None, told: str
) -> None:
    assert phase(status, pace, in_flight, waits) == told


def test_nothing_ends_before_its_next_page_is_due() -> None:
    assert at_least((1.0, 2.0), 30.0) == (30.0, 30.0)
    assert at_least((10.0, 60.0), 30.0) == (30.0, 60.0)
    assert at_least((1.0, 2.0), None) == (1.0, 2.0)
    assert at_least(None, 30.0) is None
