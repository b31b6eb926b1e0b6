"""What becomes of a page after a failure: looked up in the table, applied to this page."""

from __future__ import annotations

import pytest

from tarantella.domain.backoff import Backoff
from tarantella.domain.decide import GiveUp, Retry, Situation, decide
from tarantella.domain.failure import POLICY, Failure
from tarantella.domain.strategy import HTTP, Strategy, next_strategy
from tarantella.domain.struct import replace

BROWSER = Strategy("browser", renders=True)
HTTP_ONLY = {"http": HTTP}
BOTH = {"http": HTTP, "browser": BROWSER}
FIRST = Situation(Failure.NETWORK, "http", charged=0, attempts=3)
PLAIN = Backoff(jitter=0.0)


def after(situation: Situation, available: dict[str, Strategy] = HTTP_ONLY, luck: float = 0.0) -> Retry | GiveUp:
    return decide(situation, PLAIN, available, luck)


def test_the_first_failure_is_retried_after_the_base_of_the_backoff() -> None:
    assert after(FIRST) == Retry(delay=10.0, strategy="http", charged=True, escalated=False)


def test_the_second_failure_waits_longer_and_the_third_is_the_last() -> None:
    assert after(replace(FIRST, charged=1)) == Retry(30.0, "http", charged=True, escalated=False)
    assert after(replace(FIRST, charged=2)) == GiveUp()


def test_one_attempt_means_no_retry() -> None:
    assert after(replace(FIRST, attempts=1)) == GiveUp()


def test_the_luck_makes_the_wait_longer() -> None:
    assert decide(FIRST, Backoff(), HTTP_ONLY, 1.0) == Retry(11.0, "http", charged=True, escalated=False)


@pytest.mark.parametrize("failure", [failure for failure in Failure if not POLICY[failure].retry])
def test_what_would_be_the_same_again_is_given_up_at_once(failure: Failure) -> None:
    assert after(replace(FIRST, failure=failure, status=404), BOTH) == GiveUp()


@pytest.mark.parametrize("status", [400, 402, 405, 418, 451, 304])
def test_an_answer_that_will_not_change_is_given_up_at_once(status: int) -> None:
    assert after(replace(FIRST, failure=Failure.BAD_RESPONSE, status=status)) == GiveUp()


@pytest.mark.parametrize("status", [408, 425, 500, 502, 503, 504, 599])
def test_an_answer_that_may_change_is_retried(status: int) -> None:
    found = after(replace(FIRST, failure=Failure.BAD_RESPONSE, status=status))
    assert found == Retry(10.0, "http", charged=True, escalated=False)


def test_a_failure_that_is_final_is_not_retried() -> None:
    assert after(replace(FIRST, failure=Failure.BAD_RESPONSE, final=True)) == GiveUp()
    assert after(replace(FIRST, failure=Failure.BROWSER, final=True)) == GiveUp()


def test_retry_after_counts_for_rate_limits_only() -> None:
    limited = replace(FIRST, failure=Failure.RATE_LIMITED, status=429, retry_after=77.0)
    assert after(limited) == Retry(77.0, "http", charged=True, escalated=False)
    assert after(replace(limited, retry_after=0.0)) == Retry(0.0, "http", charged=True, escalated=False)
    assert after(replace(limited, retry_after=None)) == Retry(10.0, "http", charged=True, escalated=False)
    assert after(replace(FIRST, retry_after=77.0)) == Retry(10.0, "http", charged=True, escalated=False)


def test_a_page_that_was_in_flight_when_its_host_asked_for_a_pause_is_not_charged() -> None:
    last = replace(FIRST, failure=Failure.RATE_LIMITED, charged=2, retry_after=5.0)
    assert after(last) == GiveUp()
    assert after(replace(last, excused=True)) == Retry(5.0, "http", charged=False, escalated=False)


def test_a_refused_page_goes_up_the_ladder_if_that_rung_is_there() -> None:
    for failure in (Failure.BLOCKED, Failure.RATE_LIMITED):
        refused = replace(FIRST, failure=failure, status=403)
        assert after(refused, BOTH) == Retry(10.0, "browser", charged=True, escalated=True)
        assert after(refused, HTTP_ONLY) == Retry(10.0, "http", charged=True, escalated=False)


@pytest.mark.parametrize("failure", [Failure.TIMEOUT, Failure.NETWORK, Failure.PROXY, Failure.UNKNOWN])
def test_trouble_on_the_way_does_not_change_the_strategy(failure: Failure) -> None:
    found = after(replace(FIRST, failure=failure), BOTH)
    assert isinstance(found, Retry)
    assert (found.strategy, found.escalated) == ("http", False)


def test_a_browser_stays_a_browser() -> None:
    blocked = Situation(Failure.BLOCKED, "browser", charged=0, attempts=3)
    assert after(blocked, BOTH) == Retry(10.0, "browser", charged=True, escalated=False)
    assert next_strategy("browser", BOTH) == "browser"


def test_a_shell_goes_to_the_browser_at_once_and_free_of_charge() -> None:
    shell = replace(FIRST, failure=Failure.NEEDS_RENDER, status=200, charged=2)
    assert after(shell, BOTH) == Retry(0.0, "browser", charged=False, escalated=True)


def test_a_shell_without_a_browser_is_given_up_because_nothing_would_end_the_retries() -> None:
    assert after(replace(FIRST, failure=Failure.NEEDS_RENDER)) == GiveUp()


def test_a_failed_proxy_is_not_waited_for_but_counted() -> None:
    assert after(replace(FIRST, failure=Failure.PROXY)) == Retry(0.0, "http", charged=True, escalated=False)
    assert after(replace(FIRST, failure=Failure.PROXY, charged=2)) == GiveUp()
