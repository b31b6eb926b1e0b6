"""The way of one page: gate → fetch → classify → extract → decide. What comes out is an outcome for the settle."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial

import orjson

from tarantella.domain.backoff import obeyed_retry_after
from tarantella.domain.breaker import BreakerState
from tarantella.domain.decide import GiveUp, Retry, Situation, decide
from tarantella.domain.event import (
    BREAKER_CLOSED,
    BREAKER_OPENED,
    HOST_WAITS,
    PAGE_CUT,
    PAGE_FAILED,
    RETRY_SCHEDULED,
    STRATEGY_ESCALATED,
    Event,
    Level,
)
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import FROM_CACHE, REFUSED_SAMPLES, Attempt, Body, Move, Outcome, Refused
from tarantella.domain.page import Page, PageState, Skip
from tarantella.domain.strategy import Strategy
from tarantella.domain.url import Url, fingerprint, redact, stored
from tarantella.engine.lane import Clock, OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.visit import Visit, Visitor
from tarantella.extractors.links import NOTHING_DISCOVERED, Discovered
from tarantella.fetchers.contract import FetchError, Request
from tarantella.fetchers.retry_after import parse_retry_after
from tarantella.fetchers.robots import ENOUGH_TRIES, Robots, RobotsUnreachable
from tarantella.log import log

MAX_DETAIL = 500
MAX_LINKS = 50_000  # of one page; more would block everybody else's pages, and no settle could take them


class HostMustWait(Exception):
    """The page was not tried: its host has to be left alone first. Nothing is charged."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"wait {seconds:.0f} s")
        self.seconds = seconds


@dataclass(slots=True)
class Tools:
    """What an attempt works with."""

    visitors: Mapping[str, Visitor]
    taster: Visitor
    robots: Robots
    strategies: Mapping[str, Strategy]
    clock: Clock = Clock()
    luck: Callable[[], float] = random.random
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def close(self) -> None:
        for closer in self.closers:
            await closer()


async def attempt(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
    """Try one page once, and say what should become of it. A page's trouble is an outcome, never an exception."""
    clock = tools.clock
    began_at, began = clock.wall(), clock.monotonic()
    try:
        url = stored(page.url)
        if run.spec.obey_robots and not _known_to_be_allowed(url, lane, run, tools):
            if (refusal := await robots_refusal(page, url, lane, run, tools)) is not None:
                return refusal
            began_at, began = clock.wall(), clock.monotonic()
        visitor = tools.taster if lane.tasting or page.kills else tools.visitors[page.strategy]
        visit = await visitor.visit(request_of(page, url, run, tools), run.wants, run.spec.keep_bodies)
        elapsed = clock.monotonic() - began
        tried = Attempt(
            page.strategy, began_at, round(elapsed * 1000), "done", visit.status, visit.size, protocol=visit.protocol
        )
        if visit.protocol == FROM_CACHE:
            lane.spared()
        if visit.failure is not None:
            outcome = failed(page, lane, run, tools, visit, tried, began)
        else:
            outcome = _answered(page, lane, run, tools, visit, tried, elapsed)
        return with_cookies(outcome, visit, run, tools) if visit.cookies else outcome
    except (HostMustWait, asyncio.CancelledError):
        raise
    except Exception as error:
        log.exception("An attempt went wrong", action="attempt_broken", url=redact(page.url))
        # What it had found is dropped with it; another page must be able to find it again.
        run.links.forget()
        return went_wrong(page, lane, run, tools, error, (began_at, began))


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
    if run.follows is None and run.spec.obey_robots:
        run.follows = partial(_may_follow, tools.robots, run.user_agent)
    return Request(url, run.options, page.hops, cookies, run.follows)


def with_cookies(outcome: Outcome, visit: Visit, run: ServedRun, tools: Tools) -> Outcome:
    """The outcome together with what the site wants to be sent back to it."""
    if not visit.cookies or not run.spec.keep_cookies:
        return outcome
    return outcome._replace(cookies=run.jar.take(visit.cookies, tools.clock.wall()))


def _may_follow(robots: Robots, user_agent: str, target: Url) -> bool:
    """Whether a redirect is known to lead where we may go; otherwise the page moves there, and is looked at once more."""
    rules = robots.known(target)
    return rules is not None and rules.allowed(target.href, user_agent)


def _known_to_be_allowed(url: Url, lane: OwnedLane, run: ServedRun, tools: Tools) -> bool:
    """Whether robots.txt was read before and has nothing to say against this page: that is so for nearly every page."""
    rules = tools.robots.known(url)
    return rules is not None and rules is lane.rules and rules.allowed(url.href, run.user_agent)


def _answered(
    page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, visit: Visit, tried: Attempt, elapsed: float
) -> Outcome:
    """The site gave what was asked for: is it a page of this run?"""
    lane_was = lane.breaker.state
    if visit.protocol != FROM_CACHE:
        lane.succeeded(elapsed)
    events = () if lane_was is BreakerState.CLOSED else (Event(BREAKER_CLOSED, meta={"host": lane.name}),)
    if visit.redirect_to is not None:
        outcome = _moved(page, run, visit, visit.redirect_to, tried, tools)
    elif visit.not_a_document is not None:
        outcome = skipped(page, Skip.CONTENT_TYPE, visit.not_a_document, tried, visit)
    elif visit.url != page.url and not page.is_start and not run.contains(visit.url):
        outcome = skipped(page, Skip.SCOPE, f"redirected to {redact(visit.url)}", tried, visit)
    else:
        outcome = _done(page, run, visit, tried)
    return outcome._replace(events=outcome.events + events) if events else outcome


async def robots_refusal(page: Page, url: Url, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome | None:
    """What robots.txt means for this page: None when it may be fetched."""
    try:
        rules = tools.robots.known(url) or await tools.robots.rules(url, run.options)
    except RobotsUnreachable as error:
        if error.detail == "tls":
            # Nobody who can't be trusted with robots.txt can be with the page: that is its failure, and says more.
            visit = Visit(url.href, failure=error.failure, detail=f"tls: {error.message}")
            tried = Attempt(page.strategy, tools.clock.wall(), 0, "")
            return failed(page, lane, run, tools, visit, tried, tools.clock.monotonic())
        if error.tries >= ENOUGH_TRIES:
            return Outcome(page, PageState.SKIPPED, reason=Skip.ROBOTS_UNREACHABLE, detail=str(error)[:MAX_DETAIL])
        asked = obeyed_retry_after(error.retry_after)
        raise HostMustWait(asked if asked is not None else run.spec.backoff.delay(error.tries, tools.luck())) from error
    except FetchError as error:
        detail = f"{error.detail}: {error.message}"[:MAX_DETAIL]
        events = (_page_failed(page, error.failure, detail),)
        return Outcome(page, PageState.FAILED, reason=error.failure, detail=detail, events=events)
    if rules is not lane.rules:
        lane.rules = rules
        if rules.clamped(run.user_agent):
            log.warning(
                "A site asks for a longer Crawl-delay than it gets", action="crawl_delay_clamped", host=lane.name
            )
        lane.set_crawl_delay(rules.crawl_delay(run.user_agent) or 0.0)
    if rules.allowed(url.href, run.user_agent):
        return None
    return Outcome(page, PageState.SKIPPED, reason=Skip.ROBOTS, detail="disallowed by robots.txt")


def _done(page: Page, run: ServedRun, visit: Visit, tried: Attempt) -> Outcome:
    extracted = visit.extracted
    assert extracted is not None
    found = _links(page, run, visit) if extracted.hrefs else NOTHING_DISCOVERED
    redirected = visit.url != page.url
    # A page that moved here from another host has been taken before, and its own mark is that of its first address.
    final = fingerprint(visit.url) if redirected or page.tries else None
    return Outcome(
        page=page,
        state=PageState.DONE,
        attempt=tried,
        charged=True,
        status=visit.status,
        final_url=visit.url if redirected else None,
        final_fingerprint=final if final != page.fingerprint else None,
        records=(_record(page, visit, tried),),
        body=Body(visit.content_type, zlib.compress(visit.body, 6)) if visit.body is not None else None,
        links=found.links,
        refused=found.refused,
        traps=found.traps,
        events=(_page_cut(page, visit),) if extracted.cut else (),
        root=visit.url if page.is_start and redirected and not run.contains(visit.url) else None,
    )


def _links(page: Page, run: ServedRun, visit: Visit) -> Discovered:
    extracted = visit.extracted
    assert extracted is not None
    if page.is_start and visit.url != page.url and not run.contains(visit.url):
        # The start address led somewhere else (example.com to www.example.com): that is where the run's scope is now.
        run.rebase_to(visit.url)
    hrefs: Collection[str] = extracted.hrefs
    beyond: list[str] = []
    if len(hrefs) > MAX_LINKS:
        beyond = list(hrefs)[MAX_LINKS:]
        hrefs = list(hrefs)[:MAX_LINKS]
    found = run.links.discover(hrefs, visit.url, extracted.base, page.depth)
    if beyond:
        samples = tuple(redact(href[:MAX_DETAIL]) for href in beyond[:REFUSED_SAMPLES])
        found = replace(found, refused={**found.refused, "too_many": Refused(len(beyond), samples)})
    if run.full and found.links:
        # Not even rows: a run that is full would fill the disk with what it must not fetch.
        samples = tuple(redact(link.url) for link in found.links[:REFUSED_SAMPLES])
        refused = {**found.refused, Skip.MAX_PAGES.value: Refused(len(found.links), samples)}
        return replace(found, links=(), refused=refused)
    return found


def _record(page: Page, visit: Visit, tried: Attempt) -> str:
    extracted = visit.extracted
    assert extracted is not None
    return orjson.dumps(
        {
            "url": page.asked_url or page.url,
            "final_url": visit.url,
            **extracted.data,
            "depth": page.depth,
            "status": visit.status,
            "content_type": visit.content_type,
            "fetched_at": _moment(tried.started_at),
            "elapsed_ms": tried.elapsed_ms,
            "bytes": visit.size,
            "from_cache": visit.from_cache,
        },
        option=orjson.OPT_PASSTHROUGH_SUBCLASS,
    ).decode()


def _moment(at: float) -> str:
    return f"{_second(int(at))}.{int(at % 1 * 1000):03d}+00:00"


@lru_cache(maxsize=64)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _moved(page: Page, run: ServedRun, visit: Visit, target: Url, tried: Attempt, tools: Tools) -> Outcome:
    """A redirect to another host, or to where robots.txt has to be asked first: the page goes and waits there."""
    if not page.is_start and not run.contains(target.href):
        return skipped(page, Skip.SCOPE, f"redirected to {redact(target.href)}", tried, visit)
    root = target.href if page.is_start and not run.contains(target.href) else None
    if root is not None:
        run.rebase_to(root)
    return moved_to(page, visit, target, tried, tools)._replace(root=root)


def moved_to(page: Page, visit: Visit, target: Url, tried: Attempt, tools: Tools) -> Outcome:
    return Outcome(
        page=page,
        state=PageState.PENDING,
        attempt=tried._replace(decision=f"moved to {redact(target.href)}"[:MAX_DETAIL]),
        next_at=tools.clock.wall(),
        move=Move(target.href, target.lane, visit.hops),
        status=visit.status,
    )


def skipped(page: Page, reason: Skip, detail: str, tried: Attempt, visit: Visit) -> Outcome:
    return Outcome(
        page=page,
        state=PageState.SKIPPED,
        attempt=tried._replace(decision=f"skipped: {reason}"),
        reason=reason,
        detail=detail[:MAX_DETAIL],
        charged=True,
        status=visit.status,
        final_url=visit.url if visit.url != page.url else None,
    )


def failed(
    page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, visit: Visit, tried: Attempt, began: float
) -> Outcome:
    """Look up what follows from this failure, for the page and for its host."""
    failure = visit.failure
    assert failure is not None
    excused = failure is Failure.RATE_LIMITED and lane.excuses(began)
    events = _host_learns(lane, visit, tools) if visit.protocol != FROM_CACHE else ()
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
    decision = decide(situation, run.spec.backoff, tools.strategies, tools.luck())
    detail = (visit.detail or "")[:MAX_DETAIL]
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
            events=(*events, _page_failed(page, failure, detail)),
        )
    return _again(page, decision, failure, detail, tried, events, tools)


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
        events = (
            *events,
            Event(STRATEGY_ESCALATED, meta={"from": page.strategy, "to": decision.strategy, "reason": failure}),
        )
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
        events=(*events, Event(RETRY_SCHEDULED, Level.WARN, meta)),
    )


def _host_learns(lane: OwnedLane, visit: Visit, tools: Tools) -> tuple[Event, ...]:
    """What the failure says of the host: too fast, ill, or asking for a pause."""
    failure = visit.failure
    assert failure is not None
    was = lane.breaker.state
    if failure is Failure.NOT_FOUND:
        lane.answered()
    else:
        lane.failed(failure, visit.status)
    events: tuple[Event, ...] = ()
    pause = obeyed_retry_after(parse_retry_after(visit.headers.get("retry-after"), tools.clock.wall()))
    if failure is Failure.RATE_LIMITED and pause is not None and lane.wait(pause):
        events = (Event(HOST_WAITS, Level.WARN, {"host": lane.name, "seconds": round(pause, 3)}),)
    if was is not BreakerState.OPEN and lane.breaker.state is BreakerState.OPEN:
        meta = {"host": lane.name, "failures": lane.breaker.failures, "failed_probes": lane.breaker.failed_probes}
        events = (*events, Event(BREAKER_OPENED, Level.WARN, meta))
    return events


def _page_cut(page: Page, visit: Visit) -> Event:
    """Said aloud, because links and fields may be missing that are there."""
    return Event(PAGE_CUT, Level.WARN, {"url": redact(page.url), "bytes": visit.size})


def _page_failed(page: Page, failure: Failure, detail: str) -> Event:
    meta = {"url": redact(page.url), "failure_code": failure, "detail": detail}
    return Event(PAGE_FAILED, Level.ERROR, meta)
