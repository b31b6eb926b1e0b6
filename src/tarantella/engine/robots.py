"""The first gate of a page: what robots.txt says of it."""

from __future__ import annotations

from tarantella.domain.backoff import obeyed_retry_after
from tarantella.domain.event import ROBOTS_UNREADABLE, Event, Level
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import Attempt, Outcome
from tarantella.domain.page import Page, PageState, Skip
from tarantella.domain.url import Url
from tarantella.engine.failing import MAX_DETAIL, failed, page_failed
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.robots import ENOUGH_TRIES, Robots, RobotsUnreachable
from tarantella.log import log

# What goes wrong before a server is asked for anything.
SAME_FOR_THE_PAGE = frozenset({"tls", "dns", "refused", "unreachable", "connect"})


class HostMustWait(Exception):
    """The page was not tried: its host has to be left alone first. Nothing is charged."""

    def __init__(self, seconds: float, because: RobotsUnreachable) -> None:
        super().__init__(f"wait {seconds:.0f} s")
        self.seconds = seconds
        self.because = because


def known_to_be_allowed(url: Url, lane: OwnedLane, run: ServedRun, tools: Tools) -> bool:
    """Whether robots.txt was read before and has nothing to say against this page: that is so for nearly every page."""
    rules = tools.robots.known(url)
    return rules is not None and lane.heeded == (rules, run.user_agent) and rules.allowed(url.href, run.user_agent)


async def robots_refusal(page: Page, url: Url, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome | None:
    """What robots.txt means for this page: None when it may be fetched."""
    try:
        rules = tools.robots.known(url) or await tools.robots.rules(url, run.options)
    except RobotsUnreachable as error:
        if error.failure is not Failure.PROXY and error.detail in SAME_FOR_THE_PAGE:
            # Where nobody is, or nobody who can be trusted, the page is not either: that is its failure, and says more.
            visit = Visit(url.href, failure=error.failure, detail=f"{error.detail}: {error.message}")
            tried = Attempt(page.strategy, tools.clock.wall(), 0, "")
            return failed(page, lane, run, tools, visit, tried, tools.clock.monotonic())
        if error.tries >= ENOUGH_TRIES and error.failure is Failure.PROXY:
            # What robots.txt says is not the question: nothing at all can be had that way.
            return _in_vain(page, Failure.PROXY, f"{error.detail}: {error.message}")
        if error.tries >= ENOUGH_TRIES:
            return Outcome(page, PageState.SKIPPED, reason=Skip.ROBOTS_UNREACHABLE, detail=str(error)[:MAX_DETAIL])
        asked = obeyed_retry_after(error.retry_after)
        wait = asked if asked is not None else run.spec.backoff.delay(error.tries, tools.luck())
        if error.failure is Failure.PROXY:
            # The host has nothing to do with it: others, who don't go that way, need not wait.
            due = tools.clock.wall() + wait
            return Outcome(page, PageState.PENDING, reason=error.failure, detail=str(error)[:MAX_DETAIL], next_at=due)
        raise HostMustWait(wait, error) from error
    except FetchError as error:
        return _in_vain(page, error.failure, f"{error.detail}: {error.message}")
    if lane.heeded != (rules, run.user_agent):
        lane.heeded = (rules, run.user_agent)
        whose = (url.origin, run.user_agent)
        if lane.set_crawl_delay(whose, rules.crawl_delay(run.user_agent)) and rules.clamped(run.user_agent):
            log.warning(
                "A site asks for a longer Crawl-delay than it gets", action="crawl_delay_clamped", host=lane.host
            )
    if rules.allowed(url.href, run.user_agent):
        return None
    return Outcome(page, PageState.SKIPPED, reason=Skip.ROBOTS, detail="disallowed by robots.txt")


def left_alone(page: Page, lane: OwnedLane, wait: HostMustWait, tools: Tools) -> Outcome | None:
    """Leave the host alone; what the page has to tell of that, if it is the first to meet it."""
    if not lane.wait(wait.seconds):
        return None
    why = wait.because
    meta = {"host": lane.host, "failure_code": why.failure, "detail": str(why)[:MAX_DETAIL], "tries": why.tries}
    return Outcome(
        page,
        PageState.PENDING,
        reason=why.failure,
        detail=str(why)[:MAX_DETAIL],
        next_at=tools.clock.wall() + wait.seconds,
        events=(Event(ROBOTS_UNREADABLE, Level.WARN, {**meta, "seconds": round(wait.seconds, 3)}),),
    )


def _in_vain(page: Page, failure: Failure, detail: str) -> Outcome:
    """The page fails for what kept robots.txt from being read."""
    detail = detail[:MAX_DETAIL]
    events = (page_failed(page, failure, detail),)
    return Outcome(page, PageState.FAILED, reason=failure, detail=detail, events=events)


def may_follow(robots: Robots, user_agent: str, target: Url) -> bool:
    """Whether a redirect is known to lead where we may go; otherwise the page moves there, and is looked at once more."""
    rules = robots.known(target)
    return rules is not None and rules.allowed(target.href, user_agent)
