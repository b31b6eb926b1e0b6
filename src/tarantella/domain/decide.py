"""What becomes of a page after an attempt failed."""

from __future__ import annotations

from collections.abc import Mapping

from tarantella.domain.backoff import Backoff
from tarantella.domain.failure import POLICY, RETRYABLE_STATUS, Failure
from tarantella.domain.strategy import Strategy, next_strategy
from tarantella.domain.struct import Frozen


class Retry(Frozen):
    """Try again after some seconds, perhaps in another way."""

    delay: float
    strategy: str
    charged: bool
    escalated: bool


class GiveUp(Frozen):
    """The page has failed for good."""


class Situation(Frozen):
    """All that the decision depends on."""

    failure: Failure
    strategy: str
    charged: int
    attempts: int
    status: int | None = None
    retry_after: float | None = None
    excused: bool = False
    final: bool = False


def decide(now: Situation, backoff: Backoff, available: Mapping[str, Strategy], luck: float) -> Retry | GiveUp:
    """Look the failure up in the policy table and apply it to this page."""
    policy = POLICY[now.failure]
    if not policy.retry or now.final or _hopeless(now):
        return GiveUp()
    strategy = next_strategy(now.strategy, available) if policy.escalate else now.strategy
    if not policy.charged and strategy == now.strategy:
        # Nothing would be different the next time, and nothing would count it either.
        return GiveUp()
    charged = policy.charged and not now.excused
    spent = now.charged + (1 if charged else 0)
    if spent >= now.attempts:
        return GiveUp()
    return Retry(
        delay=_delay(now, spent, backoff, luck),
        strategy=strategy,
        charged=charged,
        escalated=strategy != now.strategy,
    )


def _hopeless(now: Situation) -> bool:
    return now.failure is Failure.BAD_RESPONSE and now.status is not None and now.status not in RETRYABLE_STATUS


def _delay(now: Situation, spent: int, backoff: Backoff, luck: float) -> float:
    policy = POLICY[now.failure]
    if policy.honour_retry_after and now.retry_after is not None:
        return now.retry_after
    return backoff.delay(spent, luck) if policy.backoff else 0.0
