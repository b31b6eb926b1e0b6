"""One try at a page: whatever goes wrong in it, nothing that it found is forgotten."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from tarantella.domain.outcome import Outcome
from tarantella.domain.page import Page, PageState
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.url import fingerprint
from tarantella.engine import recording
from tarantella.engine.attempt import attempt
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted, Wants
from tarantella.fetchers.contract import Request
from tarantella.fetchers.robots import Robots
from tests.unit.test_lane import Time, lane, served

NEXT = "https://a.example/next"
EXCHANGE: Any = object()


class OneSite:
    """Every page links to the same one. What the first holds can't be written down."""

    def __init__(self) -> None:
        self.visits = 0

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        self.visits += 1
        title = "half a character: \ud800" if self.visits == 1 else "fine"
        return Visit(request.url.href, 200, extracted=Extracted({"title": title}, hrefs=[NEXT]))


def test_links_of_an_attempt_that_went_wrong_are_found_again_on_another_page() -> None:
    site = OneSite()
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]})
    run = served("r", spec=Spec(depth=None, obey_robots=False, scope=ScopeKind.HOST))
    place = lane(Time())

    def page(path: str) -> Page:
        url = f"https://a.example/{path}"
        return Page(1, "r", fingerprint(url), "a.example", url, 1, 0, 0, "http", 0, False, None)

    broken = asyncio.run(attempt(page("one"), place, run, tools))
    fine = asyncio.run(attempt(page("two"), place, run, tools))
    assert (broken.state, broken.reason) == (PageState.PENDING, "unknown")
    assert [link.url for link in fine.links] == [NEXT]


class Slow:
    """Its page has a picture, which takes so long to be stored that somebody loses patience."""

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        return Visit(request.url.href, 200, extracted=Extracted({"title": "fine"}, hrefs=[NEXT]), exchanges=(EXCHANGE,))


def test_links_of_an_attempt_that_was_cancelled_are_found_when_it_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(*_: object) -> Outcome:
        await asyncio.sleep(60)
        raise AssertionError

    async def at_once(outcome: Outcome, *_: object) -> Outcome:
        return outcome

    site = Slow()
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]})
    run = served("r", spec=Spec(depth=None, obey_robots=False, scope=ScopeKind.HOST))
    place = lane(Time())
    url = "https://a.example/one"
    page = Page(1, "r", fingerprint(url), "a.example", url, 1, 0, 0, "http", 0, False, None)

    async def twice() -> Outcome:
        monkeypatch.setattr(recording, "with_recording", never)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await attempt(page, place, run, tools)
        monkeypatch.setattr(recording, "with_recording", at_once)
        return await attempt(page, place, run, tools)

    assert [link.url for link in asyncio.run(twice()).links] == [NEXT]
