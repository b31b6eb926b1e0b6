"""A recheck: a page that is about to be rendered is asked for over HTTP first. The two are compared when both are there.

It is a try of its own, which waits for its turn as every request does, is written down, and costs the page no attempt.
"""

from __future__ import annotations

import asyncio

from tarantella.domain.event import Event
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import FROM_CACHE, Attempt, Outcome
from tarantella.domain.page import Page, PageState
from tarantella.domain.strategy import HTTP
from tarantella.domain.url import redact, stored
from tarantella.engine.answering import told_of_breaker
from tarantella.engine.attempt import request_of, went_wrong, with_cookies
from tarantella.engine.failing import MAX_DETAIL, host_learns
from tarantella.engine.ladder import climbed
from tarantella.engine.lane import OwnedLane
from tarantella.engine.robots import HostMustWait, robots_refusal
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.log import log

MOST_WAITING = 20  # of a lane; what a page gave is kept in memory until the other has come


async def attempt_recheck(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
    """Ask for a page over HTTP, and leave it pending for the strategy that it is to have."""
    clock = tools.clock
    began_at, began = clock.wall(), clock.monotonic()
    page = climbed(page, lane, run, tools)
    try:
        url = stored(page.url)
        if (run.spec.obey_robots or lane.obeys_robots) and (
            refusal := await robots_refusal(page, url, lane, run, tools)
        ) is not None:
            return refusal
        began_at, began = clock.wall(), clock.monotonic()
        visit = await tools.visitors[HTTP.name].visit(request_of(page, url, run, tools), run.wants, False)
        outcome = _both(page, lane, tools, visit, began_at, clock.monotonic() - began - visit.reading)
        return with_cookies(outcome, visit, run, tools)
    except (HostMustWait, asyncio.CancelledError):
        raise
    except Exception as error:
        log.exception("An attempt went wrong", action="attempt_broken", url=redact(page.url))
        return went_wrong(page, lane, run, tools, error, (began_at, began))


def _both(page: Page, lane: OwnedLane, tools: Tools, visit: Visit, began_at: float, elapsed: float) -> Outcome:
    """Keep what HTTP gave until the page was rendered as well."""
    failure, detail = visit.failure, visit.detail
    was = lane.breaker.state
    events: tuple[Event, ...] = ()
    if visit.protocol == FROM_CACHE:
        lane.spared()
    elif failure is not None:
        events = host_learns(lane, visit, tools)
    else:
        lane.succeeded(elapsed)
    if visit.extracted is not None:
        if visit.extracted.shell is not None:
            failure, detail = Failure.NEEDS_RENDER, visit.extracted.shell
        elif len(lane.to_compare) < MOST_WAITING:
            lane.to_compare[page.id] = list(visit.extracted.records())
    tried = Attempt(
        HTTP.name,
        began_at,
        round(elapsed * 1000),
        f"a recheck: to be compared with {page.strategy}",
        visit.status,
        visit.size,
        failure,
        (detail or "")[:MAX_DETAIL] if failure is not None else None,
        visit.protocol,
    )
    outcome = Outcome(
        page,
        PageState.PENDING,
        attempt=tried,
        next_at=tools.clock.wall(),
        strategy=page.strategy,
        status=visit.status,
        events=events,
    )
    return told_of_breaker(outcome, lane, was)
