"""What becomes of a page that its site gave: a record and links, a way to another host, or nothing of use."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from tarantella.domain.breaker import BreakerState
from tarantella.domain.event import BREAKER_CLOSED, PAGE_CUT, Event, Level
from tarantella.domain.jsonable import jsonable
from tarantella.domain.outcome import Attempt, Body, Move, Outcome
from tarantella.domain.page import Page, PageState, Skip
from tarantella.domain.refused import Refused, summed
from tarantella.domain.robots_tag import asks_not_to_be_followed
from tarantella.domain.struct import replace
from tarantella.domain.url import Url, fingerprint, redact
from tarantella.engine.failing import MAX_DETAIL
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.links import NOTHING_DISCOVERED, Discovered
from tarantella.extractors.page import Extracted
from tarantella.fetchers.robots import product

_DONE = PageState.DONE  # looking up a member of an enumeration takes longer than making an outcome
MAX_LINKS = 50_000  # of one page; more would block everybody else's pages, and no settle could take them


def done(page: Page, run: ServedRun, visit: Visit, tried: Attempt) -> Outcome:
    extracted = visit.extracted
    assert extracted is not None
    redirected = visit.url != page.url
    away = redirected and page.is_start and not run.contains(visit.url)
    if away:
        # The start address led somewhere else (example.com to www.example.com): that is where the run's scope is now.
        run.rebase_to(visit.url)
    found = _links(page, run, visit) if extracted.hrefs or extracted.following else NOTHING_DISCOVERED
    # A page that moved here from another host has been taken before, and its own mark is that of its first address.
    final = fingerprint(visit.url) if redirected or page.tries else None
    return Outcome(
        page,
        _DONE,
        tried,
        charged=True,
        status=visit.status,
        final_url=visit.url if redirected else None,
        final_fingerprint=final if final != page.fingerprint else None,
        records=_records(page, visit, tried, extracted),
        body=Body(visit.content_type, zlib.compress(visit.body, 6)) if visit.body is not None else None,
        links=found.links,
        refused=found.refused,
        traps=found.traps,
        events=(page_cut(page, visit),) if extracted.cut else (),
        root=visit.url if away else None,
        lacking=extracted.lacking,
    )


def _links(page: Page, run: ServedRun, visit: Visit) -> Discovered:
    extracted = visit.extracted
    assert extracted is not None
    if extracted.following:
        found = _with_following(page, run, visit)
    else:
        found = _discovered(extracted.hrefs, page, run, visit)
    if run.full and found.links:
        # Not even rows: a run that is full would fill the disk with what it must not fetch.
        return replace(_refused(found, Skip.MAX_PAGES.value, [link.url for link in found.links]), links=())
    return found


def _discovered(hrefs: Collection[str], page: Page, run: ServedRun, visit: Visit) -> Discovered:
    extracted = visit.extracted
    assert extracted is not None
    if run.minds_robots and (extracted.nofollow or _asks_in_its_headers(visit, run)):
        return _refused(NOTHING_DISCOVERED, "nofollow", list(hrefs))
    if len(hrefs) <= MAX_LINKS:
        return run.links.discover(hrefs, visit.url, extracted.base, page.depth)
    first, beyond = list(hrefs)[:MAX_LINKS], list(hrefs)[MAX_LINKS:]
    found = run.links.discover(first, visit.url, extracted.base, page.depth)
    return _refused(found, "too_many", beyond)


def _asks_in_its_headers(visit: Visit, run: ServedRun) -> bool:
    tags = visit.headers.get("x-robots-tag")
    return tags is not None and asks_not_to_be_followed(tags, product(run.user_agent))


def _refused(found: Discovered, reason: str, hrefs: Sequence[str]) -> Discovered:
    """The same, and these too were found and are not wanted."""
    return replace(found, refused=summed(found.refused, {reason: Refused.of(hrefs)}))


def _with_following(page: Page, run: ServedRun, visit: Visit) -> Discovered:
    """The next page of a list is as deep as this one. It is looked at first: as an ordinary link it would be deeper."""
    extracted = visit.extracted
    assert extracted is not None
    ahead = list(extracted.following)[:MAX_LINKS]
    first = run.links.discover(ahead, visit.url, extracted.base, page.depth - 1)
    others = [href for href in extracted.hrefs if href not in extracted.following]
    second = _discovered(others, page, run, visit)
    refused = summed(first.refused, second.refused)
    return Discovered((*first.links, *second.links), refused, first.traps + second.traps)


def _records(page: Page, visit: Visit, tried: Attempt, extracted: Extracted) -> tuple[str, ...]:
    if extracted.items is None:
        return (record_of(page, visit, tried, extracted.data),)
    return tuple(record_of(page, visit, tried, data) for data in extracted.records())


def record_of(page: Page, visit: Visit, tried: Attempt, data: Mapping[str, Any]) -> str:
    return _written(
        {
            "url": page.asked_url or page.url,
            "final_url": visit.url,
            **data,
            "depth": page.depth,
            "status": visit.status,
            "content_type": visit.content_type,
            "fetched_at": _moment(int(tried.started_at * 1000)),
            "elapsed_ms": tried.elapsed_ms,
            "bytes": visit.size,
            "from_cache": visit.from_cache,
        }
    )


def _written(record: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(record, option=orjson.OPT_PASSTHROUGH_SUBCLASS).decode()
    except TypeError:
        # A page can hold a number of thirty digits, or half a character. That must not cost all that is in it.
        return orjson.dumps(jsonable(record)).decode()


@lru_cache(maxsize=64)
def _moment(milliseconds: int) -> str:
    """Pages that are fetched fast share theirs with others."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def told_of_breaker(outcome: Outcome, lane: OwnedLane, was: BreakerState) -> Outcome:
    """The same; if the breaker of its host was not closed before, and is now, that is told, too."""
    if was is BreakerState.CLOSED or lane.breaker.state is not BreakerState.CLOSED:
        return outcome
    return outcome._replace(events=(*outcome.events, Event(BREAKER_CLOSED, meta={"host": lane.host})))


def moved(page: Page, run: ServedRun, visit: Visit, target: Url, tried: Attempt, tools: Tools) -> Outcome:
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


def page_cut(page: Page, visit: Visit) -> Event:
    """Said aloud, because links and fields may be missing that are there."""
    return Event(PAGE_CUT, Level.WARN, {"url": redact(page.url), "bytes": visit.size})
