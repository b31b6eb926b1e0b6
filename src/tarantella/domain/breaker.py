"""The breaker of a host: after five failures in a row it is left alone for a while, then probed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tarantella.domain.struct import Frozen, replace

TRIPS_AFTER = 5
STAYS_OPEN = 300.0
PROBES_BEFORE_GIVING_UP = 3


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


BREAKER_TRANSITIONS: Mapping[BreakerState, frozenset[BreakerState]] = {
    BreakerState.CLOSED: frozenset({BreakerState.OPEN}),
    # Closed at once by an answer that was in flight when it opened, or by people.
    BreakerState.OPEN: frozenset({BreakerState.HALF_OPEN, BreakerState.CLOSED}),
    BreakerState.HALF_OPEN: frozenset({BreakerState.CLOSED, BreakerState.OPEN}),
}


class Breaker(Frozen):
    """What is known of a host's health. Times are seconds since the epoch."""

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    open_until: float = 0.0
    failed_probes: int = 0

    def after_success(self) -> Breaker:
        return CLOSED

    def after_failure(self, now: float) -> Breaker:
        """One more failure that says the host is ill."""
        if self.state is BreakerState.OPEN:
            # In flight when it opened: it tells nothing new.
            return self
        if self.state is BreakerState.HALF_OPEN:
            return Breaker(BreakerState.OPEN, self.failures, now + STAYS_OPEN, self.failed_probes + 1)
        failures = self.failures + 1
        if failures < TRIPS_AFTER:
            return replace(self, failures=failures)
        return Breaker(BreakerState.OPEN, failures, now + STAYS_OPEN)

    def probing(self, now: float) -> Breaker:
        """The breaker as the next request finds it: an open one lets a single probe through when its time is up."""
        if self.state is BreakerState.OPEN and now >= self.open_until:
            return replace(self, state=BreakerState.HALF_OPEN)
        return self

    @property
    def opened_at(self) -> float:
        """When it opened, or a probe failed, the last time."""
        return self.open_until - STAYS_OPEN

    @property
    def is_hopeless(self) -> bool:
        return self.failed_probes >= PROBES_BEFORE_GIVING_UP


CLOSED = Breaker()
