"""The failure table says what the design says, row by row, and nothing else decides."""

from __future__ import annotations

import pytest

from tarantella.domain.failure import (
    IN_WORDS,
    POLICY,
    RETRYABLE_STATUS,
    Failure,
    Policy,
    classify_status,
    trips_breaker,
)

# code: retry, escalate, backoff, honours Retry-After, charged
TABLE = {
    "blocked": (True, True, True, False, True),
    "rate_limited": (True, True, True, True, True),
    "timeout": (True, False, True, False, True),
    "network": (True, False, True, False, True),
    "bad_response": (True, False, True, False, True),
    "not_found": (False, False, True, False, True),
    "needs_render": (True, True, False, False, False),
    "recording": (True, True, False, False, False),
    "too_large": (False, False, True, False, True),
    "denied": (False, False, True, False, True),
    "proxy": (True, False, False, False, True),
    "browser": (True, False, True, False, True),
    "unknown": (True, False, True, False, True),
}


@pytest.mark.parametrize("failure", Failure)
def test_the_policy_of_each_failure_is_the_row_of_the_table(failure: Failure) -> None:
    policy = POLICY[failure]
    assert (
        policy.retry,
        policy.escalate,
        policy.backoff,
        policy.honour_retry_after,
        policy.charged,
    ) == TABLE[failure]


def test_every_failure_has_a_row_and_words() -> None:
    assert set(POLICY) == set(IN_WORDS) == set(Failure)
    assert {str(failure) for failure in Failure} == set(TABLE)


def test_a_policy_that_says_nothing_retries_nowhere_else() -> None:
    assert Policy(retry=True) == Policy(
        retry=True, escalate=False, backoff=True, honour_retry_after=False, charged=True, trips_breaker=False
    )


@pytest.mark.parametrize(
    ("status", "retry_after", "expected"),
    [
        (200, False, None),
        (204, False, None),
        (206, True, None),
        (299, False, None),
        (401, False, Failure.BLOCKED),
        (403, True, Failure.BLOCKED),
        (429, False, Failure.RATE_LIMITED),
        (429, True, Failure.RATE_LIMITED),
        (503, True, Failure.RATE_LIMITED),
        (503, False, Failure.BAD_RESPONSE),
        (404, False, Failure.NOT_FOUND),
        (404, True, Failure.NOT_FOUND),
        (410, False, Failure.NOT_FOUND),
        (300, False, Failure.BAD_RESPONSE),
        (304, False, Failure.BAD_RESPONSE),
        (400, False, Failure.BAD_RESPONSE),
        (402, False, Failure.BAD_RESPONSE),
        (408, False, Failure.BAD_RESPONSE),
        (418, False, Failure.BAD_RESPONSE),
        (451, False, Failure.BAD_RESPONSE),
        (500, True, Failure.BAD_RESPONSE),
        (502, True, Failure.BAD_RESPONSE),
        (599, False, Failure.BAD_RESPONSE),
        (999, False, Failure.BAD_RESPONSE),
    ],
)
def test_a_status_means_one_failure(status: int, retry_after: bool, expected: Failure | None) -> None:
    assert classify_status(status, retry_after=retry_after) is expected


def test_of_bad_responses_only_5xx_408_and_425_can_be_better_the_next_time() -> None:
    assert {408, 425, *range(500, 600)} == RETRYABLE_STATUS


@pytest.mark.parametrize(
    ("failure", "status", "ill"),
    [
        (Failure.TIMEOUT, None, True),
        (Failure.NETWORK, None, True),
        (Failure.BAD_RESPONSE, 500, True),
        (Failure.BAD_RESPONSE, 503, True),
        (Failure.BAD_RESPONSE, 418, False),
        (Failure.BAD_RESPONSE, 408, False),
        (Failure.BAD_RESPONSE, None, False),
        (Failure.NOT_FOUND, 404, False),
        (Failure.RATE_LIMITED, 429, False),
        (Failure.RATE_LIMITED, 503, False),
        (Failure.BLOCKED, 403, False),
        (Failure.TOO_LARGE, 200, False),
        (Failure.DENIED, None, False),
        (Failure.PROXY, None, False),
        (Failure.BROWSER, None, False),
        (Failure.NEEDS_RENDER, 200, False),
        (Failure.UNKNOWN, None, False),
    ],
)
def test_only_timeouts_network_trouble_and_5xx_say_that_a_host_is_ill(
    failure: Failure, status: int | None, ill: bool
) -> None:
    assert trips_breaker(failure, status) is ill
