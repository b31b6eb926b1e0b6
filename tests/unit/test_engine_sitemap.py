"""Reading a sitemap can be interrupted at any moment; whoever reads it next finds everything in it."""

from __future__ import annotations

import asyncio

import pytest

from tarantella.domain.breaker import Breaker
from tarantella.domain.page import Page, PageKind
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.struct import replace
from tarantella.engine import sitemap
from tarantella.engine.clock import Clock
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.sitemap import attempt_sitemap
from tarantella.engine.taster import pack_request, pack_visit, unpack_request, unpack_visit
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Wants
from tarantella.extractors.sitemap import MAX_BYTES, Listing
from tarantella.fetchers.contract import Request
from tarantella.store.lanes import Lane
from tests.unit.made import RUN

HOST = "example.com"
URL = f"https://{HOST}/sitemap.xml"
PAGE = Page(1, RUN.id, "0" * 32, HOST, URL, 1, 0, 0, "http", 0, False, None, kind=PageKind.SITEMAP)


class Given:
    """A visitor who always comes back with the same sitemap."""

    def __init__(self, *urls: str) -> None:
        self.visit_ = Visit(URL, 200, 10, listing=Listing("sitemap", list(urls), []))
        self.asked: list[tuple[Request, Wants]] = []

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        self.asked.append((request, wants))
        return self.visit_


def tools(visitor: Given) -> Tools:
    return Tools({"http": visitor}, visitor, None, STRATEGIES)  # type: ignore[arg-type]


def served() -> ServedRun:
    return ServedRun(replace(RUN, spec=Spec(obey_robots=False), roots=(f"https://{HOST}/",)))


def lane() -> OwnedLane:
    return OwnedLane(Lane(HOST, 0.0, Breaker(), 0), Clock())


def test_addresses_of_a_reading_that_was_cancelled_are_found_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "ADMITTED_AT_ONCE", 10)
    visitor, run = Given(*(f"https://{HOST}/{n}" for n in range(100))), served()

    async def story() -> int:
        reading = asyncio.create_task(attempt_sitemap(PAGE, lane(), run, tools(visitor)))
        for _ in range(5):
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        return len((await attempt_sitemap(PAGE, lane(), run, tools(visitor))).links)

    assert asyncio.run(story()) == 100


def test_only_the_beginning_of_a_sitemap_is_asked_for_and_a_taster_does_the_same() -> None:
    visitor = Given(f"https://{HOST}/1")
    asyncio.run(attempt_sitemap(PAGE, lane(), served(), tools(visitor)))
    [(request, wants)] = visitor.asked
    assert (request.cut, wants.sitemap) == (MAX_BYTES + 1, True)
    passed_on, wanted, _ = unpack_request(pack_request(request, wants, False))
    assert (passed_on.cut, wanted) == (request.cut, wants)
    assert unpack_visit(pack_visit(visitor.visit_)) == visitor.visit_
