"""Where the strategy is left to us and there is no browser: empty pages fail, and what is missing is said."""

from __future__ import annotations

from functools import partial

import pytest

from tarantella.domain.event import STRATEGY_ESCALATED, STRATEGY_MISSING
from tarantella.services.app import App
from tarantella.store import sites
from tests.integration.crawling import awaited, crawl
from tests.site import Site
from tests.site.shells import NO_SHELLS, SHELLS


@awaited
async def test_empty_pages_fail_for_want_of_a_browser_and_the_run_says_once_what_is_missing(app: App) -> None:
    async with Site() as site:
        pages = [f"/filled/{number}" for number in range(4)]
        found = await crawl(app, site, *pages, auto=True)
        assert found.states == dict.fromkeys(pages, "failed(browser)")
        assert [len(found.attempts(page)) for page in pages] == [1] * 4
        assert "TARANTELLA_BROWSER" in found.pages["/filled/1"]["detail"]
        told = found.event(STRATEGY_MISSING)
        assert (told["wanted"], told["used"], told["reason"]) == ("browser", "http", "needs_render")
        assert "TARANTELLA_BROWSER" in told["remedy"]
        evidence = app.database.read_now(partial(sites.get, host="127.0.0.1")).evidence
        assert (evidence["http"].ok, evidence["http"].refused) == (0, {"needs_render": 4})


@pytest.mark.parametrize("path", ["/403", "/429?after=0", "/challenge"])
@awaited
async def test_refused_pages_are_tried_again_with_what_there_is_and_the_run_says_so(app: App, path: str) -> None:
    async with Site() as site:
        found = await crawl(app, site, path, auto=True, attempts=3)
        assert [attempt["strategy"] for attempt in found.attempts(path)] == ["http"] * 3
        assert found.event(STRATEGY_MISSING)["url"] == site.url_for(path)
        assert STRATEGY_ESCALATED not in found.messages


@awaited
async def test_a_plain_crawl_says_nothing_of_strategies(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/list?n=5", "/404", "/500", auto=True, depth=2, attempts=2)
        assert STRATEGY_MISSING not in found.messages
        assert found.run.cost["pages_by_strategy"] == {"http": found.run.counts.done}


@awaited
async def test_named_http_keeps_empty_pages_without_a_word(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/filled/1", strategy="http")
        assert found.states == {"/filled/1": "done"}
        assert STRATEGY_MISSING not in found.messages


@awaited
async def test_each_page_is_known_for_what_it_is_in_a_whole_crawl(app: App) -> None:
    async with Site() as site:
        shells = [f"/shell/{number}" for number in range(len(SHELLS))]
        pages = [f"/no-shell/{number}" for number in range(len(NO_SHELLS))]
        found = await crawl(app, site, *shells, *pages, auto=True, concurrency=20, text="fast")
        assert found.states == {**dict.fromkeys(shells, "failed(browser)"), **dict.fromkeys(pages, "done")}
        evidence = app.database.read_now(partial(sites.get, host="127.0.0.1")).evidence
        assert (evidence["http"].ok, evidence["http"].refused) == (len(pages), {"needs_render": len(shells)})
