"""The way of a sitemap: fetched as every page is, but what it lists becomes pages, and it makes no record itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from tarantella.domain.event import NO_SITEMAP, SITEMAP_READ, SITEMAPS_NAMED, Event, Level
from tarantella.domain.failure import RETRYABLE_STATUS, Failure
from tarantella.domain.outcome import FROM_CACHE, Attempt, Link, Outcome
from tarantella.domain.page import Page, PageKind, PageState, Skip
from tarantella.domain.refused import NOTHING_REFUSED, Refused, summed
from tarantella.domain.sitemap import AUTO, DEEPEST_INDEX, MOST_SITEMAPS, guess_link, may_name, sitemap_link
from tarantella.domain.url import Unfetchable, Url, redact, resolve, start_url, stored
from tarantella.engine.answering import moved_to, skipped, told_of_breaker
from tarantella.engine.attempt import attempt, request_of, went_wrong, with_cookies
from tarantella.engine.failing import failed
from tarantella.engine.lane import OwnedLane
from tarantella.engine.robots import HostMustWait, robots_refusal
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Wants
from tarantella.extractors.sitemap import MAX_BYTES, Listing
from tarantella.fetchers.contract import FetchError
from tarantella.fetchers.robots import RobotsUnreachable
from tarantella.log import log

ADDRESSES = Wants(text="none", sitemap=True)
ADMITTED_AT_ONCE = 1_000  # about ten milliseconds
UNREAD = "not read: the run has all the pages that it may have"


async def attempt_start(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
    """Sitemaps are read after a start page: where that leads decides which of their addresses are in scope."""
    outcome = await attempt(page, lane, run, tools)
    if outcome.state is PageState.PENDING:
        return outcome
    wanted = run.spec.sitemaps
    links = [sitemap_link(start_url(text)) for text in wanted if text != AUTO]
    # Where nobody answered, nobody has a sitemap.
    if AUTO in wanted and not (outcome.state is PageState.FAILED and outcome.status is None):
        links.append(guess_link(outcome.final_url or outcome.page.url))
    return outcome._replace(links=(*links, *outcome.links))


async def attempt_sitemap(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools) -> Outcome:
    """Try to read one sitemap, and say what should become of it and of its addresses."""
    if run.full:
        return Outcome(page, PageState.SKIPPED, reason=Skip.SITEMAP, detail=UNREAD)
    clock = tools.clock
    began_at, began = clock.wall(), clock.monotonic()
    try:
        url = stored(page.url)
        minds = run.spec.obey_robots or lane.obeys_robots
        refusal = await robots_refusal(page, url, lane, run, tools) if minds else None
        if page.kind is PageKind.SITEMAP_GUESS and (named := await _named_by_robots(page, url, run, tools)) is not None:
            return named
        if refusal is not None:
            return refusal
        began_at, began = clock.wall(), clock.monotonic()
        visitor = tools.taster if lane.tasting or page.kills else tools.visitors[page.strategy]
        request = request_of(page, url, run, tools)._replace(cut=MAX_BYTES + 1)
        visit = await visitor.visit(request, ADDRESSES, False)
        elapsed = round((clock.monotonic() - began) * 1000)
        tried = Attempt(page.strategy, began_at, elapsed, "", visit.status, visit.size, protocol=visit.protocol)
        if visit.protocol == FROM_CACHE:
            lane.spared()
        return with_cookies(await _become(page, lane, run, tools, visit, tried, began), visit, run, tools)
    except (HostMustWait, asyncio.CancelledError):
        raise
    except Exception as error:
        log.exception("An attempt went wrong", action="attempt_broken", url=redact(page.url))
        return went_wrong(page, lane, run, tools, error, (began_at, began))


async def _become(
    page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, visit: Visit, tried: Attempt, began: float
) -> Outcome:
    """What becomes of a sitemap for which this came back."""
    if page.kind is PageKind.SITEMAP_GUESS and _is_nothing(visit):
        if visit.protocol != FROM_CACHE:
            lane.answered()
        return _nothing_there(page, visit, tried)
    if visit.listing is not None and visit.listing.form is None:
        detail = f"not a sitemap: {visit.listing.trouble}"
        visit = visit._replace(failure=Failure.BAD_RESPONSE, detail=detail, final=True)
    if visit.failure is not None:
        return failed(page, lane, run, tools, visit, tried, began)
    return await _answered(page, lane, run, tools, visit, tried)


# --- where a host's sitemaps are ---


async def _named_by_robots(page: Page, url: Url, run: ServedRun, tools: Tools) -> Outcome | None:
    """What robots.txt names takes the place of the guess; None where it names nothing."""
    rules = tools.robots.known(url)
    if rules is None and not run.spec.obey_robots:
        with suppress(RobotsUnreachable, FetchError):
            rules = await tools.robots.rules(url, run.options)
    if rules is None or not rules.sitemaps:
        return None
    links, refused = _sitemaps(rules.sitemaps, page, url, run)
    event = Event(SITEMAPS_NAMED, meta={"host": url.host, "found": len(rules.sitemaps), "admitted": len(links)})
    detail = f"robots.txt names {len(rules.sitemaps):,} instead"
    return Outcome(
        page, PageState.SKIPPED, reason=Skip.SITEMAP, detail=detail, links=links, refused=refused, events=(event,)
    )


def _is_nothing(visit: Visit) -> bool:
    """Whether a guess was wrong: no such page, one for people, or one that we are not to see."""
    if visit.listing is not None:
        return visit.listing.form is None
    status = visit.status
    return (
        visit.failure not in (None, Failure.RATE_LIMITED)
        and status is not None
        and 400 <= status < 500
        and status not in RETRYABLE_STATUS
    )


def _nothing_there(page: Page, visit: Visit, tried: Attempt) -> Outcome:
    why = (visit.listing.trouble if visit.listing is not None else visit.detail) or ""
    event = Event(NO_SITEMAP, Level.WARN, {"url": redact(page.url), "detail": f"robots.txt names none; {why}"})
    outcome = skipped(page, Skip.NO_SITEMAP, why, tried, visit)
    return outcome._replace(events=(event,))


# --- what is in it ---


async def _answered(page: Page, lane: OwnedLane, run: ServedRun, tools: Tools, visit: Visit, tried: Attempt) -> Outcome:
    was = lane.breaker.state
    if visit.protocol != FROM_CACHE:
        # Reading takes as long as the sitemap is: that says nothing about how fast the host is.
        lane.answered()
    if (target := visit.redirect_to) is not None:
        if _may_follow(page, target, run):
            outcome = moved_to(page, visit, target, tried, tools)
        else:
            outcome = skipped(page, Skip.SCOPE, f"redirected to {redact(target.href)}", tried, visit)
    else:
        assert visit.listing is not None
        outcome = await _read(page, run, visit, visit.listing, tried)
    return told_of_breaker(outcome, lane, was)


async def _read(page: Page, run: ServedRun, visit: Visit, listing: Listing, tried: Attempt) -> Outcome:
    try:
        links, refused = await _pages(listing.urls, visit.url, run)
        sitemaps, refused_sitemaps = _sitemaps(listing.sitemaps, page, stored(visit.url), run)
    except BaseException:
        # What was let through and goes no further must be found again by whoever reads this sitemap next.
        run.links.forget()
        raise
    refused = summed(refused, refused_sitemaps)
    admitted = len(links) + len(sitemaps)
    meta = {
        "url": redact(visit.url),
        "form": listing.form,
        "found": listing.found,
        "admitted": admitted,
        "refused": {reason: entry.count for reason, entry in refused.items()},
    }
    if listing.trouble is not None:
        meta["trouble"] = listing.trouble
    told = f"{listing.found:,} addresses, {admitted:,} of them new to the run"
    outcome = skipped(page, Skip.SITEMAP, f"{told}; {listing.trouble}" if listing.trouble else told, tried, visit)
    return outcome._replace(
        attempt=tried._replace(decision=f"read as a sitemap: {told}"),
        links=(*sitemaps, *links),
        refused=refused,
        events=(Event(SITEMAP_READ, Level.WARN if listing.trouble else Level.INFO, meta),),
    )


async def _pages(urls: Sequence[str], sitemap_url: str, run: ServedRun) -> tuple[list[Link], Mapping[str, Refused]]:
    """The listed pages that are new to the run, found out a few at a time."""
    links: list[Link] = []
    refused = NOTHING_REFUSED
    for start in range(0, len(urls), ADMITTED_AT_ONCE):
        found = run.links.listed(urls[start : start + ADMITTED_AT_ONCE], sitemap_url)
        links += found.links
        refused = summed(refused, found.refused)
        await asyncio.sleep(0)
    return links, refused


def _sitemaps(
    addresses: Iterable[str], page: Page, here: Url, run: ServedRun
) -> tuple[list[Link], Mapping[str, Refused]]:
    """The sitemaps that robots.txt or an index names, as far as they are to be read."""
    links: dict[str, Link] = {}
    refused: dict[str, list[str]] = {}
    by_robots = page.kind is PageKind.SITEMAP_GUESS
    depth = 1 if by_robots else page.depth + 1
    for address in addresses:
        found = _sitemap(address, here, depth, run, anywhere=by_robots)
        if isinstance(found, str):
            refused.setdefault(found, []).append(address)
        elif found.fingerprint not in links:
            links[found.fingerprint] = found
            run.sitemaps += 1
    return list(links.values()), {reason: Refused.of(hrefs) for reason, hrefs in refused.items()}


def _sitemap(address: str, here: Url, depth: int, run: ServedRun, *, anywhere: bool) -> Link | str:
    """A sitemap to read, or the reason for which it is not."""
    try:
        url = resolve(address, here.href)
    except Unfetchable as error:
        return error.reason
    if depth > DEEPEST_INDEX:
        return "depth"
    if run.sitemaps >= MOST_SITEMAPS:
        return "too_many"
    return sitemap_link(url, depth) if anywhere or may_name(here, url) or run.links.contains(url) else "scope"


def _may_follow(page: Page, target: Url, run: ServedRun) -> bool:
    """A sitemap that the user or robots.txt named may be anywhere; one that an index named, on its site or in scope."""
    return page.depth == 1 or may_name(stored(page.url), target) or run.links.contains(target)
