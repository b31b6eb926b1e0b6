"""Pages that stand in the way of the one that was asked for: row 9 of docs/hostile-input.md."""

from __future__ import annotations

import pytest

from tarantella.domain.event import RETRY_SCHEDULED
from tarantella.services.app import App
from tests.integration.crawling import awaited, crawl, hits
from tests.site import Site
from tests.site.walls import NO_WALLS, WALLS


@pytest.mark.parametrize("text", ["fast", "none"])
@awaited
async def test_a_wall_with_status_200_is_blocked_and_no_success(app: App, text: str) -> None:
    async with Site() as site:
        paths = [f"/wall/{name}" for name in WALLS]
        crawled = await crawl(app, site, *paths, attempts=2, text=text, concurrency=20)
    assert crawled.states == dict.fromkeys(paths, "failed(blocked)")
    assert all(found["detail"].startswith("challenge: ") for found in crawled.pages.values())
    assert crawled.run.records == 0
    # It is tried again, for another strategy where there is one, for luck where there is none.
    assert {len(hits(site, path)) for path in paths} == {2}
    assert crawled.messages.count(RETRY_SCHEDULED) == len(paths)


@pytest.mark.parametrize("text", ["fast", "none"])
@awaited
async def test_a_page_that_only_looks_like_a_wall_is_a_page(app: App, text: str) -> None:
    async with Site() as site:
        paths = {f"/no-wall/{number}": name for number, name in enumerate(NO_WALLS)}
        crawled = await crawl(app, site, *paths, attempts=1, text=text, concurrency=20)
    assert {paths[path]: state for path, state in crawled.states.items() if state != "done"} == {}


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("/wall/cloudflare?code=503", "failed(blocked)"),
        ("/wall/aws-waf?code=405", "failed(blocked)"),
        ("/wall/aws-waf?code=202", "failed(blocked)"),
        ("/wall/cloudflare?code=403", "failed(blocked)"),
        ("/wall/cloudflare?code=404", "failed(not_found)"),
        ("/503", "failed(bad_response)"),
        ("/429?after=0", "failed(rate_limited)"),
    ],
)
@awaited
async def test_an_error_page_is_blocked_only_where_it_is_a_wall(app: App, path: str, state: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, path, attempts=1)
    assert crawled.states == {path: state}


@awaited
async def test_a_wall_does_not_open_the_breaker_and_the_rest_of_the_site_is_fetched(app: App) -> None:
    async with Site() as site:
        walls = [f"/wall/cloudflare?n={number}" for number in range(8)]
        crawled = await crawl(app, site, *walls, *(f"/item/{number}" for number in range(10)), attempts=1)
    assert crawled.status == "partial"
    assert crawled.run.counts.done == 10
