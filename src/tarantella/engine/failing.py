"""What becomes of a page whose attempt failed, and what its host learns from that."""

from __future__ import annotations

from tarantella.domain.backoff import obeyed_retry_after
from tarantella.domain.breaker import BreakerState
from tarantella.domain.decide import GiveUp, Retry, Situation, decide
from tarantella.domain.event import (
    BREAKER_OPENED,
    HOST_WAITS,
    PAGE_FAILED,
    RETRY_SCHEDULED,
    STRATEGY_ESCALATED,
    Event,
    Level,
)
from tarantella.domain.failure import POLICY, Blame, Failure
from tarantella.domain.outcome import FROM_CACHE, Attempt, Outcome
from tarantella.domain.page import Page, PageState
from tarantella.domain.url import redact
from tarantella.engine import ladder
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.fetchers.retry_after import parse_retry_after

MAX_DETAIL = 500
# A request that took so many seconds longer than it could was not what took so long: this process, or its machine, stood still.
OVERSLEPT = 10.0
STOOD_STILL = "this process stood still meanwhile"


def failed(
    page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, visit: Visit, tried: Attempt, began: float
) -> Outcome:
    """Look up what follows from this failure, for the page and for its host."""
    failure = visit.failure
    assert failure is not None
    overslept = _overslept(page, failure, run, tools.clock.monotonic() - began)
    excused = overslept or (failure is Failure.RATE_LIMITED and lane.excuses(began))
    events = host_learns(lane, visit, tools) if visit.protocol != FROM_CACHE and not overslept else ()
    retry_after = obeyed_retry_after(parse_retry_after(visit.headers.get("retry-after"), tools.clock.wall()))
    situation = Situation(
        failure=failure,
        strategy=page.strategy,
        charged=page.charged,
        attempts=run.spec.attempts,
        status=visit.status,
        retry_after=retry_after,
        excused=excused,
        final=visit.final,
    )
    decision = decide(situation, run.spec.backoff, ladder.available(lane, tools), tools.luck())
    events += ladder.refused(page, failure, lane, run, tools)
    detail = (f"{visit.detail} ({STOOD_STILL})" if overslept else visit.detail or "")[:MAX_DETAIL]
    tried = tried._replace(failure=failure, detail=detail)
    if isinstance(decision, GiveUp):
        return Outcome(
            page=page,
            state=PageState.FAILED,
            attempt=tried._replace(decision="failed"),
            reason=failure,
            detail=detail,
            charged=True,
            status=visit.status,
            events=(*events, page_failed(page, failure, detail)),
        )
    if not decision.escalated:
        events += ladder.missing(page, failure, lane, run, tools)
    return _again(page, decision, failure, detail, tried, events, tools)


def _overslept(page: Page, failure: Failure, run: ServedRun, elapsed: float) -> bool:
    """Whether the site need not have been the reason."""
    late = elapsed > run.spec.total_timeout + OVERSLEPT
    return late and page.strategy == "http" and failure in (Failure.TIMEOUT, Failure.NETWORK)


def _again(
    page: Page, decision: Retry, failure: Failure, detail: str, tried: Attempt, events: tuple[Event, ...], tools: Tools
) -> Outcome:
    meta = {
        "url": redact(page.url),
        "failure_code": failure,
        "detail": detail,
        "delay_seconds": round(decision.delay, 3),
    }
    meta |= {"attempt": page.charged + (1 if decision.charged else 0), "strategy": decision.strategy}
    if decision.escalated:
        climb = {"from": page.strategy, "to": decision.strategy, "reason": failure, "detail": detail}
        events = (*events, Event(STRATEGY_ESCALATED, meta={**climb, "url": redact(page.url)}))
    return Outcome(
        page=page,
        state=PageState.PENDING,
        attempt=tried._replace(decision=f"retry in {decision.delay:.1f} s with {decision.strategy}"),
        reason=failure,
        detail=detail,
        charged=decision.charged,
        next_at=tools.clock.wall() + decision.delay,
        strategy=decision.strategy,
        status=tried.status,
        # A page that goes up the ladder at once, and at no cost, is told of already.
        events=(*events, Event(RETRY_SCHEDULED, Level.WARN, meta)) if decision.charged or decision.delay else events,
    )


def host_learns(lane: OwnedLane, visit: Visit, tools: Tools) -> tuple[Event, ...]:
    """What the failure says of the host: too fast, ill, or asking for a pause."""
    failure = visit.failure
    assert failure is not None
    was = lane.breaker.state
    blame = POLICY[failure].blame
    if blame is Blame.PAGE:
        lane.answered()
    elif blame is Blame.HOST:
        lane.failed(failure, visit.status)
    events: tuple[Event, ...] = ()
    pause = obeyed_retry_after(parse_retry_after(visit.headers.get("retry-after"), tools.clock.wall()))
    if failure is Failure.RATE_LIMITED and pause is not None and lane.wait(pause):
        events = (Event(HOST_WAITS, Level.WARN, {"host": lane.host, "seconds": round(pause, 3)}),)
    if was is not BreakerState.OPEN and lane.breaker.state is BreakerState.OPEN:
        meta = {"host": lane.host, "failures": lane.breaker.failures, "failed_probes": lane.breaker.failed_probes}
        events = (*events, Event(BREAKER_OPENED, Level.WARN, meta))
    return events


def page_failed(page: Page, failure: Failure, detail: str) -> Event:
    meta = {"url": redact(page.url), "failure_code": failure, "detail": detail}
    return Event(PAGE_FAILED, Level.ERROR, meta)
