"""One try at a page: whatever goes wrong in it, nothing that it found is forgotten."""

from __future__ import annotations

import asyncio
from typing import cast

from tarantella.domain.page import Page, PageState
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.url import fingerprint
from tarantella.engine.attempt import attempt
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted, Wants
from tarantella.fetchers.contract import Request
from tarantella.fetchers.robots import Robots
from tests.unit.test_lane import Time, lane, served

NEXT = "https://a.example/next"


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
