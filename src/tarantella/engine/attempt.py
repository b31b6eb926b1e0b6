"""The way of one page: gate → fetch → classify → extract → decide. What comes out is an outcome for the settle."""

from __future__ import annotations

import asyncio
from functools import partial

from tarantella.domain.failure import Failure
from tarantella.domain.outcome import FROM_CACHE, Attempt, Outcome
from tarantella.domain.page import Page, Skip
from tarantella.domain.url import Url, redact, stored
from tarantella.engine import ladder
from tarantella.engine.answering import done, moved, skipped, told_of_breaker
from tarantella.engine.failing import failed
from tarantella.engine.lane import OwnedLane
from tarantella.engine.robots import HostMustWait, known_to_be_allowed, may_follow, robots_refusal
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.fetchers.contract import Request
from tarantella.log import log


async def attempt(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
    """Try one page once, and say what should become of it. A page's trouble is an outcome, never an exception."""
    clock = tools.clock
    began_at, began = clock.wall(), clock.monotonic()
    taken = page
    if (lane.prefers is not None or run.climbed) and run.spec.auto:
        page = ladder.climbed(page, lane, run, tools)
    try:
        url = stored(page.url)
        if (run.spec.obey_robots or lane.obeys_robots) and not known_to_be_allowed(url, lane, run, tools):
            if (refusal := await robots_refusal(page, url, lane, run, tools)) is not None:
                return refusal
            began_at, began = clock.wall(), clock.monotonic()
        visitor = tools.taster if lane.tasting or page.kills else tools.visitors[page.strategy]
        visit = await visitor.visit(request_of(page, url, run, tools), run.wants, run.spec.keep_bodies)
        elapsed = clock.monotonic() - began - visit.reading
        tried = Attempt(
            page.strategy, began_at, round(elapsed * 1000), "done", visit.status, visit.size, protocol=visit.protocol
        )
        if visit.plain and page is taken and page.strategy == run.spec.strategy and lane.is_usual:
            # Nearly every page: what follows would find nothing to do.
            lane.succeeded(elapsed)
            lane.plain_ok += 1
            return done(page, run, visit, tried)
        return await _become(page, taken, lane, run, tools, visit, tried, began, elapsed)
    except HostMustWait:
        raise
    except asyncio.CancelledError:
        # What it may have found by now goes with it, and it is the same page that will find it again.
        run.links.forget()
        raise
    except Exception as error:
        log.exception("An attempt went wrong", action="attempt_broken", url=redact(page.url))
        # What it had found is dropped with it; another page must be able to find it again.
        run.links.forget()
        return went_wrong(page, lane, run, tools, error, (began_at, began))


async def _become(
    page: Page,
    taken: Page,
    lane: OwnedLane,
    run: ServedRun,
    tools: Tools,
    visit: Visit,
    tried: Attempt,
    began: float,
    elapsed: float,
) -> Outcome:
    """What becomes of a page about which there is something to say; it may be fetched in another way than it was taken."""
    if visit.protocol == FROM_CACHE:
        lane.spared()
    if visit.artifacts and tools.artifacts is not None:
        await tools.artifacts.keep(page.run_id, page.id, visit.artifacts)
    cheap = lane.to_compare.pop(page.id, None) if lane.to_compare else None
    shell = visit.extracted is not None and visit.extracted.shell is not None
    if shell:
        visit = ladder.without_shell(visit, page, lane, run, tools)
    if visit.failure is not None:
        outcome = failed(page, lane, run, tools, visit, tried, began)
    else:
        outcome = _answered(page, lane, run, tools, visit, tried, elapsed)
        if cheap is not None and not shell:
            outcome = ladder.compared(outcome, visit, cheap, page)
    if shell:
        outcome = ladder.seen_empty(outcome, page, lane, run, tools)
    if page is not taken or page.strategy != run.spec.strategy:
        outcome = ladder.with_strategy(outcome, taken, page, run)
    if visit.exchanges or (run.wants_recording and page.strategy == "browser"):
        # Loaded by the first page whose scripts asked for something.
        from tarantella.engine.recording import with_recording

        outcome = await with_recording(outcome, visit, run, tools)
    return with_cookies(outcome, visit, run, tools) if visit.cookies else outcome


def _answered(
    page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, visit: Visit, tried: Attempt, elapsed: float
) -> Outcome:
    """The site gave what was asked for: is it a page of this run?"""
    was = lane.breaker.state
    if visit.protocol != FROM_CACHE:
        lane.succeeded(elapsed, rendered=page.strategy == "browser")
    if page.strategy == "http":
        lane.plain_ok += 1
    if visit.redirect_to is not None:
        outcome = moved(page, run, visit, visit.redirect_to, tried, tools)
    elif visit.not_a_document is not None:
        outcome = skipped(page, Skip.CONTENT_TYPE, visit.not_a_document, tried, visit)
    elif visit.url != page.url and not page.is_start and not run.contains(visit.url):
        outcome = skipped(page, Skip.SCOPE, f"redirected to {redact(visit.url)}", tried, visit)
    else:
        outcome = done(page, run, visit, tried)
    return told_of_breaker(outcome, lane, was)


def went_wrong(
    page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, error: Exception, began: tuple[float, float]
) -> Outcome:
    """Something that nobody foresaw, at an attempt that began then, by both clocks."""
    visit = Visit(page.url, failure=Failure.UNKNOWN, detail=f"{type(error).__name__}: {error}")
    tried = Attempt(page.strategy, began[0], round((tools.clock.monotonic() - began[1]) * 1000), "")
    return failed(page, lane, run, tools, visit, tried, began[1])


def request_of(page: Page, url: Url, run: ServedRun, tools: Tools) -> Request:
    """What is asked for a page of a run, with the cookies that its host has set."""
    cookies = run.jar.of_host(url.host) if run.jar else ()
    if run.follows is None and run.minds_robots:
        run.follows = partial(may_follow, tools.robots, run.user_agent)
    request = Request(url, run.options, page.hops, cookies, run.follows)
    return request if page.strategy == "http" else request._replace(strategy=page.strategy)


def with_cookies(outcome: Outcome, visit: Visit, run: ServedRun, tools: Tools) -> Outcome:
    """The outcome together with what the site wants to be sent back to it."""
    if not visit.cookies or not run.spec.keep_cookies:
        return outcome
    return outcome._replace(cookies=run.jar.take(visit.cookies, tools.clock.wall()))
