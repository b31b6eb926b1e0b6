"""Where there is no browser, pages that need one fail at once and say what to do; everything else goes on."""

from __future__ import annotations

from tarantella.services.app import App
from tests.integration.crawling import awaited, crawl, hits
from tests.site import Site


@awaited
async def test_a_page_that_must_have_a_browser_fails_once_and_says_what_to_do(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/spa", strategy="browser")
        assert found.states == {"/spa": "failed(browser)"}
        assert len(found.attempts("/spa")) == 1
        assert "TARANTELLA_BROWSER" in found.pages["/spa"]["detail"]
        assert hits(site) == []


@awaited
async def test_a_page_that_is_refused_is_tried_again_with_the_strategy_it_has(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/403", attempts=2)
        assert found.states == {"/403": "failed(blocked)"}
        assert [attempt["strategy"] for attempt in found.attempts("/403")] == ["http", "http"]
