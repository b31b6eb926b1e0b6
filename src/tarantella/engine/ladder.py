"""Which strategy a page is fetched with, where that was left to us, and what is said and learned of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarantella.domain.event import STRATEGY_LEARNED, STRATEGY_MISSING, Event, Level
from tarantella.domain.failure import MISSING, POLICY, Failure
from tarantella.domain.learning import DIFFERENT, REFUSALS
from tarantella.domain.outcome import Outcome
from tarantella.domain.page import Page, PageState
from tarantella.domain.parts import host_of
from tarantella.domain.recheck import alike
from tarantella.domain.strategy import HTTP, STRATEGIES, Strategy
from tarantella.domain.url import redact
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit

_HTTP = HTTP.name
_ONLY_HTTP: Mapping[str, Strategy] = {_HTTP: HTTP}


def starts_with(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> str:
    """The strategy that a page is fetched with, where plain HTTP may be known to be in vain."""
    prefers = lane.prefers or run.climbed.get(lane.name)
    if page.strategy != _HTTP or prefers is None or prefers not in tools.strategies or prefers in tools.elsewhere:
        return page.strategy
    return prefers


def climbed(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Page:
    """The page as it starts at its host; what is known to be in vain once is known for the rest of the run."""
    strategy = starts_with(page, lane, run, tools)
    if strategy == page.strategy:
        return page
    run.climbed[lane.name] = strategy
    return page._replace(strategy=strategy)


def available(lane: OwnedLane, tools: Tools) -> Mapping[str, Strategy]:
    """Where a refused page may go: nowhere, if somebody has pinned its host to plain HTTP."""
    return _ONLY_HTTP if lane.pinned == _HTTP else tools.strategies


def without_shell(visit: Visit, page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Visit:
    """An empty page is no page, where whoever made the run has left it to us how to fetch it: a browser would fill it, and
    where there is none, that is what the page lacks.
    """
    assert visit.extracted is not None
    strategy, shell = STRATEGIES[page.strategy], visit.extracted.shell
    if not run.spec.auto or strategy.renders or lane.pinned == _HTTP:
        return visit
    empty = visit._replace(extracted=None, body=None)
    if strategy.escalates_to in tools.strategies:
        return empty._replace(failure=Failure.NEEDS_RENDER, detail=shell)
    remedy = tools.no_browser or NO_BROWSER
    why = f"{MISSING}: The page is empty until its scripts run ({shell}). {remedy} Or keep it as it is, with the strategy http."
    return empty._replace(failure=Failure.BROWSER, detail=why, final=True)


def seen_empty(outcome: Outcome, page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
    """A page is empty and stays so: the site learns from it, and the run says so where it was left to us."""
    if outcome.state is PageState.PENDING or STRATEGIES[page.strategy].renders:
        return outcome
    events = outcome.events
    if run.spec.auto:
        events += missing(page, Failure.NEEDS_RENDER, lane, run, tools)
    return outcome._replace(sights=((page.strategy, Failure.NEEDS_RENDER.value),), events=events)


def missing(page: Page, failure: Failure, lane: OwnedLane, run: ServedRun, tools: Tools) -> tuple[Event, ...]:
    """Said once: a page would have gone up the ladder, and there is nothing to stand on."""
    target = STRATEGIES[page.strategy].escalates_to
    if target is None or target in tools.strategies or lane.pinned == _HTTP or run.told_missing:
        return ()
    if not POLICY[failure].escalate:
        return ()
    run.told_missing = True
    meta = {
        "wanted": target,
        "used": page.strategy,
        "reason": failure,
        "url": redact(page.url),
        "remedy": tools.no_browser or NO_BROWSER,
    }
    return (Event(STRATEGY_MISSING, Level.WARN, meta),)


NO_BROWSER = "There is no browser."


def refused(page: Page, failure: Failure, lane: OwnedLane, run: ServedRun, tools: Tools) -> tuple[Event, ...]:
    """What a refusal means for the host's next pages, if it is one: they may start higher up."""
    if failure not in REFUSALS or page.strategy != _HTTP or not lane.refused_plain() or not run.spec.auto:
        return ()
    if lane.prefers not in tools.strategies:
        return ()
    meta = {
        "host": lane.host,
        "strategy": lane.prefers,
        "why": f"of its last pages {lane.plain_refused:.0f} were refused over HTTP, and {lane.plain_ok:.0f} were not",
        "url": redact(page.url),
    }
    return (Event(STRATEGY_LEARNED, meta=meta),)


def with_strategy(outcome: Outcome, taken: Page, page: Page, run: ServedRun) -> Outcome:
    """Write down with what the page was fetched, if that was not as it was taken; what it found starts as its run does."""
    found = outcome.page._replace(strategy=run.spec.strategy) if outcome.links else outcome.page
    started = page.strategy if page is not taken else None
    return outcome._replace(page=found, strategy=outcome.strategy or started)


# -- rechecks


def is_to_be_rechecked(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> bool:
    """Whether a page that is about to be rendered is asked for over HTTP first, to see whether that has come to work."""
    if not run.spec.auto or page.tries or lane.pinned is not None or lane.tasting:
        return False
    renders = STRATEGIES[starts_with(page, lane, run, tools)].renders
    return renders and tools.luck() < tools.recheck_share


def compared(outcome: Outcome, visit: Visit, cheap: list[Mapping[str, Any]], page: Page) -> Outcome:
    """Compare what HTTP gave of a page with what the browser has given now."""
    if outcome.state is not PageState.DONE or visit.extracted is None:
        return outcome
    same = alike(cheap, visit.extracted.records())
    sights = ((page.strategy, None), (_HTTP, None if same else DIFFERENT))
    events = outcome.events
    if same:
        meta = {
            "host": host_of(page.lane),
            "url": redact(page.url),
            "strategy": _HTTP,
            "why": f"a recheck over HTTP gave the same records as {page.strategy}",
        }
        events = (*events, Event(STRATEGY_LEARNED, meta=meta))
    return outcome._replace(sights=sights, events=events)
