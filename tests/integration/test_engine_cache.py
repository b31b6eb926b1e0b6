"""A crawl that is made again while its answers are in the cache asks nobody, waits for nobody, and says so."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

from tarantella.services.app import App
from tests.integration.crawling import asked, awaited, crawl, hits
from tests.site import Call, Reply, Site
from tests.site.reply import page


@awaited
async def test_the_second_crawl_needs_no_site_and_finds_the_same(app: App, tmp_path: Path) -> None:
    async with Site(robots="User-agent: *\nDisallow: /item/3") as site:
        addresses = ("/list?n=6", "/status/404", f"/redirect?to={site.url_for('/ok', '127.0.0.2')}")
        first = await crawl(app, site, *addresses, depth=2, cache_dir=str(tmp_path / "cache"))
        before = len(site.hits)
        await site.stop()
        second = await crawl(app, site, *addresses, depth=2, cache_dir=str(tmp_path / "cache"))
        assert len(site.hits) == before
    assert second.states == first.states
    assert (first.run.requests > 0, second.run.requests, second.run.bytes) == (True, 0, 0)
    assert {record["from_cache"] for record in first.records.values()} == {False}
    assert {record["from_cache"] for record in second.records.values()} == {True}
    unchanged = ("title", "status", "bytes", "links", "final_url", "content_type")
    for address, record in second.records.items():
        assert [record[name] for name in unchanged] == [first.records[address][name] for name in unchanged]
    [attempt] = second.attempts("/item/0")
    assert (attempt["protocol"], attempt["decision"]) == ("cache", "done")


@awaited
async def test_nobody_waits_between_answers_that_are_not_asked_for(app: App, tmp_path: Path) -> None:
    addresses = [f"/ok?{number}" for number in range(12)]
    async with Site(robots="User-agent: *\nCrawl-delay: 0.5") as site:
        cache_dir = str(tmp_path / "cache")
        await crawl(app, site, *addresses, cache_dir=cache_dir, obey_robots=False)
        await crawl(app, site, addresses[0], cache_dir=cache_dir)
        began = time.monotonic()
        crawled = await crawl(app, site, *addresses, cache_dir=cache_dir, delay=0.5)
        took = time.monotonic() - began
    assert (crawled.run.counts.done, crawled.run.requests) == (12, 0)
    assert took < 11 * 0.5 - 1


@awaited
async def test_what_is_asked_for_keeps_its_distance_though_others_are_not(app: App, tmp_path: Path) -> None:
    async with Site() as site:
        kept = {"cache_dir": str(tmp_path / "cache"), "delay": 0.3}
        await crawl(app, site, "/item/1", **kept)
        site.log.reset()
        await crawl(app, site, "/ok?1", "/item/1", "/ok?2", "/ok?3", **kept)
    assert asked(site) == ["/ok?1", "/ok?2", "/ok?3"]
    starts = [hit.start for hit in hits(site)]
    assert all(later - earlier > 0.25 for earlier, later in pairwise(starts))


@awaited
async def test_a_page_that_has_not_changed_says_that_it_is_as_it_was(app: App, tmp_path: Path) -> None:
    async with Site() as site:

        async def handler(call: Call) -> Reply:
            if call.request.header("if-none-match") == '"1"':
                return Reply(304, headers=(("ETag", '"1"'),))
            return page("Hello", etag='"1"')

        site.routes["/page"] = handler
        cache = {"cache_dir": str(tmp_path / "cache"), "cache_ttl": 0.0}
        await crawl(app, site, "/page", **cache)
        crawled = await crawl(app, site, "/page", **cache)
    record = crawled.records["/page"]
    assert (record["from_cache"], record["status"], record["title"]) == (True, 200, "Hello")
    assert (crawled.run.requests, crawled.attempts("/page")[0]["protocol"]) == (1, "http/1.1")


@awaited
async def test_a_denied_host_stays_denied_though_its_answer_is_there(app: App, tmp_path: Path) -> None:
    async with Site() as site:
        await crawl(app, site, "/ok", cache_dir=str(tmp_path / "cache"))
        denied = await crawl(app, site, "/ok", cache_dir=str(tmp_path / "cache"), allow_networks=())
    assert denied.states == {"/ok": "failed(denied)"}


@awaited
async def test_a_page_that_robots_txt_has_closed_since_is_not_served_from_before(app: App, tmp_path: Path) -> None:
    async with Site() as site:
        await crawl(app, site, "/item/1", cache_dir=str(tmp_path / "cache"), obey_robots=False)
        site.robots = "User-agent: *\nDisallow: /item/"
        crawled = await crawl(app, site, "/item/1", cache_dir=str(tmp_path / "cache"))
    assert crawled.states == {"/item/1": "skipped(robots)"}
