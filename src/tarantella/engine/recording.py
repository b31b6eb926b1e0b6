"""Makes a recording of what a rendered page asked for, when the records of the page can be found there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import urljoin

from tarantella.domain.event import NO_RECORDING, RECORDING_MADE, Event
from tarantella.domain.json_tree import told
from tarantella.domain.outcome import Outcome
from tarantella.domain.page import PageState
from tarantella.domain.recording import Made, Recording, purpose_of
from tarantella.domain.recording_finding import Heard, Known, NotFound, find
from tarantella.domain.recording_request import template_of
from tarantella.domain.struct import replace
from tarantella.domain.url import Unfetchable, redact, resolve
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.recorded import answer_of
from tarantella.fetchers.contract import Exchange
from tarantella.fetchers.link_header import next_link
from tarantella.store.ids import new_id

MOST_HEARD = 200
MOST_BYTES = 10_000_000  # of all answers together
_ABOUT = ("title", "description", "language")


async def with_recording(outcome: Outcome, visit: Visit, run: ServedRun, tools: Tools) -> Outcome:
    """The outcome of a start page together with what can be asked again instead of rendering it."""
    if outcome.state is not PageState.DONE or not outcome.page.is_start or not run.records or visit.extracted is None:
        return outcome
    given = outcome.page.asked_url or outcome.page.url
    found = await asyncio.to_thread(_found, visit, run)
    if isinstance(found, Recording) and not _robots_allow(found, run, tools):
        found = NotFound("robots.txt asks crawlers to stay away from what it asks for")
    if isinstance(found, NotFound):
        return outcome._replace(
            events=(*outcome.events, Event(NO_RECORDING, meta={"url": redact(given), "why": found.why}))
        )
    spec = run.spec
    made = Made(new_id(), purpose_of(given, spec.fields, spec.item), found)
    return outcome._replace(recording=made, events=(*outcome.events, recording_made(made)))


def recording_made(made: Made) -> Event:
    """Said without anything that could be a secret."""
    recording, reading = made.recording, made.recording.reading
    meta: dict[str, Any] = {
        "recording": made.id,
        "method": recording.template.method,
        "url": redact(recording.template.url),
        "items": told(reading.items) if reading.items is not None else None,
        "fields": {name: told(place.path) for name, place in reading.places.items()},
        "pages": reading.paging.kind if reading.paging is not None else None,
        "confidence": recording.confidence,
    }
    return Event(RECORDING_MADE, meta=meta)


def heard_of(exchanges: Sequence[Exchange]) -> list[Heard]:
    """The exchanges whose answer is JSON, as far as they are small enough to be looked at."""
    heard: list[Heard] = []
    left = MOST_BYTES
    for exchange in exchanges[:MOST_HEARD]:
        left -= len(exchange.body)
        if left < 0:
            break
        if not 200 <= exchange.status < 300 or not _is_web(exchange.url):
            continue
        template = template_of(exchange.method, exchange.url, exchange.request_headers, exchange.request_body)
        answer = answer_of(exchange.body) if template is not None else None
        if template is not None and answer is not None:
            link = next_link(exchange.headers.get("link"))
            heard.append(Heard(template, template.url, answer, urljoin(template.url, link) if link else None))
    return heard


def _found(visit: Visit, run: ServedRun) -> Recording | NotFound:
    extracted, spec = visit.extracted, run.spec
    assert extracted is not None
    known = Known(
        fields=spec.fields,
        records=[record.get("fields") or {} for record in extracted.records()],
        is_list=extracted.items is not None,
        page_url=visit.url,
        about={name: extracted.data.get(name) for name in _ABOUT},
    )
    found = find(heard_of(visit.exchanges), known)
    if isinstance(found, Recording):
        paging = found.reading.paging
        goes_on = spec.pagination is not None or spec.browser.scroll > 0 or spec.browser.load_more is not None
        if paging is not None and not paging.seen and not goes_on:
            # The page shows the first part of its list, and nobody asked for more: neither does a replay.
            return replace(found, reading=replace(found.reading, paging=None))
    return found


def _robots_allow(recording: Recording, run: ServedRun, tools: Tools) -> bool:
    """What is known to be closed to crawlers is not recorded; what is not known is asked when it is replayed."""
    url = resolve(recording.template.url)
    rules = tools.robots.known(url) if run.spec.obey_robots else None
    return rules is None or rules.allowed(url.href, run.user_agent)


def _is_web(url: str) -> bool:
    try:
        resolve(url)
    except Unfetchable:
        return False
    return True
