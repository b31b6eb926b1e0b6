"""A crawl gets what there is, counts it, and ends as its pages did."""

from __future__ import annotations

import pytest

from tarantella.domain.event import RUN_COMPLETED, RUN_CREATED, RUN_FAILED, RUN_STARTED
from tarantella.engine import settler
from tarantella.services.app import App
from tests.integration.crawling import RARELY, asked, awaited, crawl, looking
from tests.site import Site, tree_path, tree_paths


@awaited
async def test_a_crawl_of_good_pages_is_completed(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/ok")
    assert crawled.status == "completed"
    assert crawled.states == {"/ok": "done"}
    assert asked(site) == ["/ok"]
    assert crawled.messages == [RUN_CREATED, RUN_STARTED, RUN_COMPLETED]
    record = crawled.records["/ok"]
    assert (record["title"], record["status"], record["depth"]) == ("OK", 200, 1)
    assert record["url"] == record["final_url"] == site.url_for("/ok")


@awaited
async def test_every_link_of_a_list_becomes_a_record(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/list?n=60", depth=2)
    assert crawled.status == "completed"
    assert {f"/item/{number}" for number in range(60)} < set(crawled.records)
    assert crawled.run.counts.done == crawled.run.records == 61
    assert len(asked(site)) == 61


@awaited
async def test_results_that_need_more_room_than_there_is_do_not_wait_for_the_next_look(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler, "MAX_WAITING_BYTES", 8_000)
    monkeypatch.setattr(settler, "ENOUGH_BYTES", 8_000)
    async with Site() as site:
        crawled = await crawl(looking(app, RARELY), site, "/list?n=60", depth=2, concurrency=16, per_host=16)
    assert crawled.run.counts.done == 61


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@awaited
async def test_a_depth_is_kept_exactly(app: App, depth: int | None) -> None:
    levels = {1: 0, 2: 1, 3: 2, None: 3}[depth]
    expected = {
        path for level in range(levels + 1) for path in tree_paths(3, 3) if path.count(".") + ("at=" in path) == level
    }
    async with Site() as site:
        crawled = await crawl(app, site, tree_path(3, 3), depth=depth)
    assert set(crawled.states) == set(asked(site)) == expected
    assert len(asked(site)) == len(expected) == {0: 1, 1: 4, 2: 13, 3: 40}[levels]
    assert crawled.status == "completed"
    if depth is not None:
        assert crawled.run.refused["depth"]["count"] > 0


@awaited
async def test_a_page_that_fails_makes_a_crawl_partial_and_the_counts_add_up(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/links?hrefs=/ok|/404|/410|/binary|/item/1", depth=2)
    assert crawled.status == "partial"
    counts = crawled.run.counts
    assert (counts.total, counts.done, counts.failed, counts.skipped, counts.pending) == (6, 3, 2, 1, 0)
    assert crawled.states["/404"] == crawled.states["/410"] == "failed(not_found)"
    assert crawled.run.failure_code == "not_found"


@awaited
async def test_a_crawl_that_gets_nothing_has_failed(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/500", attempts=2)
    assert crawled.status == "failed"
    assert (crawled.run.failure_code, crawled.run.error_message) == ("bad_response", "HTTP 500")
    assert crawled.messages[-1] == RUN_FAILED
    assert asked(site) == ["/500", "/500"]


@awaited
async def test_partial_results_that_are_not_wanted_make_a_crawl_fail(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/ok", "/404", partial_ok=False)
    assert crawled.status == "failed"
    assert crawled.run.counts.done == 1


@awaited
async def test_several_start_addresses_are_one_run_in_their_order(app: App) -> None:
    async with Site() as site:
        paths = [f"/item/{number}" for number in (5, 3, 9, 1)]
        crawled = await crawl(app, site, *paths, per_host=1)
    assert asked(site) == paths
    assert crawled.run.counts.total == 4


@awaited
async def test_a_calendar_without_end_stops_at_max_pages_exactly_and_says_so(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/calendar", depth=None, max_pages=12)
    assert crawled.status == "completed"
    assert len(asked(site)) == len(set(asked(site))) == crawled.run.counts.done == 12
    assert crawled.event("Page limit reached")["max_pages"] == 12


@awaited
async def test_max_pages_keeps_the_first_links_of_a_page(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/list?n=60", depth=2, max_pages=5, per_host=1)
    assert asked(site) == ["/list?n=60", *(f"/item/{number}" for number in range(4))]
    assert crawled.run.counts.skipped == crawled.run.surplus == 56


@awaited
async def test_a_limit_that_is_reached_exactly_is_announced_when_something_is_left_out(app: App) -> None:
    async with Site() as site:
        # The root has two links, which fill the run; only what they link to is too much.
        crawled = await crawl(app, site, tree_path(2, 2), depth=None, max_pages=3)
    assert crawled.run.counts.done == 3
    assert crawled.messages.count("Page limit reached") == 1


@awaited
async def test_a_site_of_just_as_many_pages_as_the_limit_is_not_said_to_have_more(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(
            app,
            site,
            "/links?hrefs=/links%3Fhrefs%3D/item/1%257C/item/2|/item/1|/item/2",
            depth=None,
            max_pages=4,
        )
    assert crawled.run.counts.done == 4
    assert "Page limit reached" not in crawled.messages


@awaited
async def test_the_same_page_under_many_addresses_is_fetched_once(app: App) -> None:
    hrefs = "/item/1|/item/1/|/item/1%23a|/item/../item/1|/item/1?utm_source=x|http://127.1:{port}/item/1"
    async with Site() as site:
        crawled = await crawl(app, site, f"/links?hrefs={hrefs}".replace("{port}", str(site.port)), depth=2)
    assert asked(site)[1:] == ["/item/1"]
    assert crawled.run.counts.total == 2
