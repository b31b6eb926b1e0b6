"""A host that fails five times in a row is left alone, then probed once, then given up."""

from __future__ import annotations

from tarantella.domain.breaker import BREAKER_TRANSITIONS, CLOSED, Breaker, BreakerState

NOW = 1_000.0


def failed(times: int, breaker: Breaker = CLOSED) -> Breaker:
    for _ in range(times):
        breaker = breaker.after_failure(NOW)
    return breaker


def opened() -> Breaker:
    return failed(5)


def probed(breaker: Breaker, at: float) -> Breaker:
    """The breaker after one probe that failed."""
    return breaker.probing(at).after_failure(at)


def test_four_failures_leave_it_closed_and_the_fifth_opens_it_for_300_seconds() -> None:
    assert failed(4) == Breaker(BreakerState.CLOSED, failures=4)
    assert opened() == Breaker(BreakerState.OPEN, failures=5, open_until=NOW + 300)


def test_a_success_in_between_starts_the_count_anew() -> None:
    assert failed(4).after_success() == CLOSED
    assert failed(4, failed(4).after_success()).state is BreakerState.CLOSED


def test_a_success_changes_nothing_of_a_healthy_host() -> None:
    assert CLOSED.after_success() is CLOSED


def test_what_was_in_flight_when_it_opened_tells_nothing_new() -> None:
    assert failed(3, opened()) == opened()


def test_it_stays_open_until_its_time_is_up() -> None:
    assert opened().probing(NOW + 299.9) == opened()
    assert opened().probing(NOW + 300).state is BreakerState.HALF_OPEN


def test_a_probe_that_succeeds_closes_it() -> None:
    assert opened().probing(NOW + 300).after_success() == CLOSED


def test_a_probe_that_fails_opens_it_again_for_300_seconds() -> None:
    again = probed(opened(), NOW + 300)
    assert (again.state, again.open_until, again.failed_probes) == (BreakerState.OPEN, NOW + 600, 1)


def test_three_failed_probes_are_enough() -> None:
    breaker = opened()
    for number in range(1, 4):
        assert not breaker.is_hopeless
        breaker = probed(breaker, NOW + 300 * number)
    assert breaker.is_hopeless
    assert breaker.failed_probes == 3


def test_a_success_forgets_the_failed_probes() -> None:
    assert probed(opened(), NOW + 300).probing(NOW + 600).after_success() == CLOSED


def test_every_change_is_one_that_the_table_of_transitions_has() -> None:
    seen = {(was, is_) for was, allowed in BREAKER_TRANSITIONS.items() for is_ in allowed}
    half_open = opened().probing(NOW + 300)
    made = {
        (CLOSED.state, opened().state),
        (opened().state, half_open.state),
        (opened().state, opened().after_success().state),
        (half_open.state, half_open.after_success().state),
        (half_open.state, half_open.after_failure(NOW).state),
    }
    assert made == seen
