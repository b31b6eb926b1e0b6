"""What a site asks of crawlers is done, and what it can't be asked is not assumed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tarantella.domain.event import ROBOTS_UNREADABLE
from tarantella.services.app import App
from tests.integration.crawling import QUICK, asked, awaited, begin, crawl, gaps, hits
from tests.site import Call, Reply, Request, Site
from tests.site.reply import page, page_with_links


def robots_asked(site: Site) -> int:
    return sum(hit.path == "/robots.txt" for hit in site.hits)


@awaited
async def test_what_robots_txt_disallows_is_skipped_and_never_asked_for(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /item/") as site:
        crawled = await crawl(app, site, "/links?hrefs=/item/1|/item/2|/ok", depth=2)
    assert crawled.status == "completed"
    assert crawled.states == {
        "/links?hrefs=/item/1|/item/2|/ok": "done",
        "/item/1": "skipped(robots)",
        "/item/2": "skipped(robots)",
        "/ok": "done",
    }
    assert "/item/1" not in asked(site)
    assert robots_asked(site) == 1


@awaited
async def test_rules_for_us_by_name_come_before_those_for_all(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /\n\nUser-agent: tarantella\nDisallow: /item/") as site:
        crawled = await crawl(app, site, "/ok", "/item/1")
    assert crawled.states == {"/ok": "done", "/item/1": "skipped(robots)"}
    assert "Tarantella" in hits(site)[0].user_agent


@awaited
async def test_robots_txt_can_be_ignored_and_is_then_not_even_asked_for(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /") as site:
        crawled = await crawl(app, site, "/ok", obey_robots=False)
    assert crawled.states == {"/ok": "done"}
    assert robots_asked(site) == 0


@pytest.mark.parametrize("status", [404, 403, 410])
@awaited
async def test_a_site_without_robots_txt_allows_everything(app: App, status: int) -> None:
    async with Site(robots=status) as site:
        crawled = await crawl(app, site, "/ok")
    assert crawled.status == "completed"


@awaited
async def test_a_crawl_delay_is_kept_from_the_first_page_on(app: App) -> None:
    async with Site(robots="User-agent: *\nCrawl-delay: 0.3") as site:
        crawled = await crawl(app, site, *(f"/item/{number}" for number in range(4)))
    assert crawled.run.counts.done == 4
    assert min(gaps(hits(site))) >= 0.25
    assert site.peak_by_host["127.0.0.1"] == 1


@awaited
async def test_a_delay_is_counted_from_the_page_and_not_from_a_slow_robots_txt_before_it(app: App) -> None:
    async def slow(_request: Request) -> int:
        await asyncio.sleep(0.4)
        return 404

    async with Site(robots=slow) as site:
        await crawl(app, site, "/item/1", "/item/2", delay=0.4)
    assert min(gaps(hits(site))) >= 0.35


@awaited
async def test_the_longer_of_crawl_delay_and_our_own_delay_counts(app: App) -> None:
    async with Site(robots="User-agent: *\nCrawl-delay: 0.1") as site:
        await crawl(app, site, *(f"/item/{number}" for number in range(3)), delay=0.3)
    assert min(gaps(hits(site))) >= 0.25


@pytest.mark.parametrize("status", [500, 503])
@awaited
async def test_a_robots_txt_that_can_not_be_read_is_tried_three_times_and_then_the_pages_are_left(
    app: App, status: int
) -> None:
    async with Site(robots=status) as site:
        crawled = await crawl(app, site, "/ok", "/item/1", "/item/2")
    assert set(crawled.states.values()) == {"skipped(robots_unreachable)"}
    assert robots_asked(site) == 3
    assert hits(site) == []
    assert crawled.status == "failed"
    assert crawled.run.counts.incomplete == 3
    first, second = gaps(site.hits)
    assert (first >= QUICK.base, second >= QUICK.base * QUICK.factor) == (True, True)
    # Each wait is told of once, whoever waits.
    told = [event["meta"] for event in crawled.events if event["message"] == ROBOTS_UNREADABLE]
    waits = [(each["host"], each["tries"], each["seconds"]) for each in told]
    assert waits == [("127.0.0.1", 1, QUICK.base), ("127.0.0.1", 2, QUICK.base * QUICK.factor)]
    assert all(f"status {status}" in each["detail"] for each in told)


@awaited
async def test_a_robots_txt_that_comes_the_second_time_is_obeyed_and_nothing_is_charged(app: App) -> None:
    def moody(_request: Request) -> Reply:
        site.counts["robots"] += 1
        if site.counts["robots"] == 1:
            return page("Not now", status=503)
        return Reply(200, b"User-agent: *\nDisallow: /item/", "text/plain")

    async with Site(robots=moody) as site:
        crawled = await crawl(app, site, "/ok", "/item/1", attempts=1)
    assert crawled.states == {"/ok": "done", "/item/1": "skipped(robots)"}


@awaited
async def test_many_pages_that_meet_one_failure_of_robots_txt_count_it_once(app: App) -> None:
    tries = 0

    def moody(request: Request) -> Reply | int:
        nonlocal tries
        if not request.host.startswith("127.0.0.1"):
            return 404
        tries += 1
        return 500 if tries < 3 else 404

    async with Site(robots=moody) as site:
        crawled = await crawl(app, site, *(f"/item/{number}" for number in range(8)), per_host=8)
    assert crawled.status == "completed"
    assert tries == 3


@awaited
async def test_a_host_whose_robots_txt_waits_does_not_hold_back_another(app: App) -> None:
    release = asyncio.Event()

    async def stuck(request: Request) -> int:
        if request.host.startswith("127.0.0.1"):
            await release.wait()
        return 404

    async with Site(robots=stuck) as site:
        other = [site.url_for(f"/item/{number}", "127.0.0.2") for number in range(5)]
        async with begin(app, site, "/ok", *other) as ongoing:
            await site.until(lambda: len(hits(site)) == 5)
            assert [hit.hostname for hit in hits(site)] == ["127.0.0.2"] * 5
            release.set()
            crawled = await ongoing.end()
    assert crawled.run.counts.done == 6


@awaited
async def test_a_page_that_is_redirected_to_another_host_is_asked_about_there(app: App) -> None:
    def strict_there(request: Request) -> str | int:
        return "User-agent: *\nDisallow: /item/" if request.host.startswith("127.0.0.2") else 404

    async with Site(robots=strict_there) as site:
        target = site.url_for("/item/1", "127.0.0.2")
        crawled = await crawl(app, site, f"/redirect?to={target}")
    assert crawled.states == {"127.0.0.2/item/1": "skipped(robots)"}
    assert asked(site) == [f"/redirect?to={target}"]


@awaited
async def test_a_redirect_does_not_lead_around_robots_txt(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /item/") as site:
        crawled = await crawl(app, site, "/redirect?to=/item/1", "/redirect?to=/ok")
    assert crawled.states == {"/item/1": "skipped(robots)", "/redirect?to=/ok": "done"}
    assert crawled.status == "completed"
    assert "/item/1" not in asked(site)
    [moved] = crawled.attempts("/item/1")
    assert moved["decision"] == f"moved to {site.url_for('/item/1')}"
    assert len(crawled.attempts("/redirect?to=/ok")) == 1


@awaited
async def test_a_redirect_to_another_port_is_asked_of_the_robots_txt_that_is_there(app: App) -> None:
    async with Site() as site, Site(robots="User-agent: *\nDisallow: /item/") as other:
        closed, open_ = f"/redirect?to={other.url_for('/item/1')}", f"/redirect?to={other.url_for('/ok')}"
        crawled = await crawl(app, site, closed, open_)
    assert sorted(crawled.states.values()) == ["done", "skipped(robots)"]
    assert [hit.path for hit in other.hits] == ["/robots.txt", "/ok"]


@awaited
async def test_who_ignores_robots_txt_follows_redirects_at_once(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /") as site:
        crawled = await crawl(app, site, "/redirect?to=/item/1", obey_robots=False)
    assert crawled.states == {"/redirect?to=/item/1": "done"}
    assert crawled.run.requests == 1


@pytest.mark.parametrize("obeys", [True, False])
@awaited
async def test_links_of_a_page_that_asks_not_to_be_followed_are_counted_and_left(app: App, obeys: bool) -> None:
    async def hub(_call: Call) -> Reply:
        links = '<a href="/ok">1</a> <a href="/item/1">2</a>'
        return page("Hub", links, head='<meta name="robots" content="nofollow">')

    async with Site() as site:
        site.routes["/hub"] = hub
        crawled = await crawl(app, site, "/hub", depth=2, obey_robots=obeys)
    assert crawled.run.counts.done == (1 if obeys else 3)
    refused = {reason: found["count"] for reason, found in crawled.run.refused.items()}
    assert refused == ({"nofollow": 2} if obeys else {})


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(
    ("tags", "heeded"),
    [
        (["nofollow"], True),
        (["otherbot: noindex", "none"], True),
        (["tarantella: nofollow"], True),
        (["otherbot: nofollow", "noindex"], False),
    ],
)
@awaited
async def test_a_header_asks_as_a_page_does(
    app: App, tmp_path: Path, tags: list[str], heeded: bool, cached: bool
) -> None:
    async def hub(_call: Call) -> Reply:
        return replace(page_with_links("Hub", ["/ok", "/item/1"]), headers=tuple(("X-Robots-Tag", tag) for tag in tags))

    async with Site() as site:
        site.routes["/hub"] = hub
        kept = str(tmp_path) if cached else None
        crawled = await crawl(app, site, "/hub", depth=2, cache_dir=kept)
        if cached:
            crawled = await crawl(app, site, "/hub", depth=2, cache_dir=kept)
    refused = {reason: found["count"] for reason, found in crawled.run.refused.items()}
    assert refused == ({"nofollow": 2} if heeded else {})
    assert crawled.run.counts.done == (1 if heeded else 3)
