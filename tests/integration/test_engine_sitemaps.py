"""What sitemaps list is crawled, whatever they are; they themselves are no content."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.runs import explain
from tests.integration.crawling import asked, awaited, begin, crawl, eager, hits, resume, retry_failed
from tests.site import Call, Reply, Site
from tests.site.registry import Handler
from tests.site.reply import page
from tests.site.sitemaps import XML, sitemap_index, urlset

FIVE = [f"/item/{number}" for number in range(5)]


def serves(body: str | Reply) -> Handler:
    async def handler(_call: Call) -> Reply:
        return Reply(200, body.encode(), XML) if isinstance(body, str) else body

    return handler


def listed(site: Site, *paths: str, host: str | None = None) -> Handler:
    return serves(urlset([site.url_for(path, host) for path in paths]))


# --- where they are ---


@awaited
async def test_auto_reads_the_sitemaps_that_robots_txt_names(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /private/\nSitemap: /sitemap/list?n=5\nSitemap: /one.txt") as site:
        site.routes["/one.txt"] = serves(Reply(200, site.url_for("/private/a").encode(), "text/plain"))
        crawled = await crawl(app, site, "/ok", sitemaps=("auto",))
    assert crawled.status == "completed"
    assert crawled.states == {
        "/ok": "done",
        "/sitemap.xml": "skipped(sitemap)",
        "/sitemap/list?n=5": "skipped(sitemap)",
        "/one.txt": "skipped(sitemap)",
        **dict.fromkeys(FIVE, "done"),
        "/private/a": "skipped(robots)",
    }
    assert "/sitemap.xml" not in asked(site), "the guess was not needed"
    assert set(crawled.records) == {"/ok", *FIVE}
    assert crawled.run.sitemaps == 3
    assert crawled.event("Sitemaps named") == {"host": "127.0.0.1", "found": 2, "admitted": 2}


@awaited
async def test_auto_tries_the_usual_place_where_robots_txt_names_none(app: App) -> None:
    async with Site(robots=404) as site:
        site.routes["/sitemap.xml"] = listed(site, *FIVE)
        crawled = await crawl(app, site, "/ok", sitemaps=("auto",))
    assert set(crawled.records) == {"/ok", *FIVE}
    assert crawled.event("Sitemap read") == {
        "url": site.url_for("/sitemap.xml"),
        "form": "sitemap",
        "found": 5,
        "admitted": 5,
        "refused": {},
    }


@pytest.mark.parametrize("answer", [404, 403, "html"])
@awaited
async def test_a_site_without_a_sitemap_is_crawled_all_the_same(app: App, answer: int | str) -> None:
    async with Site() as site:
        site.routes["/sitemap.xml"] = serves(page("Not here", status=answer if isinstance(answer, int) else 200))
        crawled = await crawl(app, site, "/list?n=2", depth=2, sitemaps=("auto",))
    assert crawled.status == "completed"
    assert crawled.states["/sitemap.xml"] == "skipped(no_sitemap)"
    assert set(crawled.records) == {"/list?n=2", "/item/0", "/item/1"}
    [event] = [event for event in crawled.events if event["message"] == "No sitemap found"]
    assert (event["level"], event["meta"]["url"]) == ("warn", site.url_for("/sitemap.xml"))
    assert len(hits(site, "/sitemap.xml")) == 1


@awaited
async def test_a_guess_that_fails_for_a_while_is_tried_again(app: App) -> None:
    async with Site() as site:

        async def moody(_call: Call) -> Reply:
            site.counts["sitemap"] += 1
            return page("Later", status=503) if site.counts["sitemap"] < 3 else Reply(200, urlset([]).encode(), XML)

        site.routes["/sitemap.xml"] = moody
        crawled = await crawl(app, site, "/ok", sitemaps=("auto",))
    assert crawled.status == "completed"
    assert [attempt["status"] for attempt in crawled.attempts("/sitemap.xml")] == [503, 503, 200]


@awaited
async def test_each_start_host_has_its_sitemap_read_once(app: App) -> None:
    async with Site() as site:
        site.routes["/sitemap.xml"] = serves(Reply(200, b"/item/9", "text/plain"))
        starts = [site.url_for(path, host) for path in FIVE for host in ("127.0.0.1", "127.0.0.2")]
        await crawl(app, site, *starts, sitemaps=("auto",))
    assert sorted(hit.hostname for hit in hits(site, "/sitemap.xml")) == ["127.0.0.1", "127.0.0.2"]


@awaited
async def test_robots_txt_is_asked_for_sitemaps_also_where_it_is_not_obeyed(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /\nSitemap: /sitemap/list?n=1") as site:
        crawled = await crawl(app, site, "/ok", sitemaps=("auto",), obey_robots=False)
    assert set(crawled.records) == {"/ok", "/item/0"}


@awaited
async def test_a_sitemap_that_robots_txt_forbids_is_not_read(app: App) -> None:
    async with Site(robots="User-agent: *\nDisallow: /sitemap/") as site:
        crawled = await crawl(app, site, "/ok", sitemaps=(site.url_for("/sitemap/list"),))
    assert crawled.states == {"/ok": "done", "/sitemap/list": "skipped(robots)"}


@awaited
async def test_a_run_can_start_from_a_sitemap_alone(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for("/sitemap/list?n=5"),))
    assert crawled.status == "completed"
    assert set(crawled.records) == set(FIVE)
    assert {record["depth"] for record in crawled.records.values()} == {1}
    assert crawled.event("Run created")["start_urls"] == 0


@awaited
async def test_where_the_start_page_leads_decides_which_listed_addresses_are_in_scope(app: App) -> None:
    """example.com leads to www.example.com, and so does its robots.txt, whose sitemap lists www.example.com."""
    async with Site() as site:
        there = site.url_for("/ok", "127.0.0.2")
        site.robots = f"Sitemap: {site.url_for('/there.xml', '127.0.0.2')}"
        site.routes["/there.xml"] = listed(site, *FIVE, host="127.0.0.2")
        crawled = await crawl(app, site, f"/redirect?to={there}", sitemaps=("auto",))
    assert sum(address.startswith("127.0.0.2/item/") for address in crawled.states) == 5
    assert crawled.run.refused == {}


@awaited
async def test_where_the_start_page_leads_on_its_own_host_counts_at_once(app: App) -> None:
    async with Site() as site:
        site.routes["/deep/start"] = serves(page("Moved", status=302, location="/item/home"))
        crawled = await crawl(app, site, "/deep/start", scope="path", sitemaps=(site.url_for("/sitemap/list"),))
    assert set(crawled.records) == {"/deep/start", *FIVE}


# --- what is in them ---


@pytest.mark.parametrize("form", ["xml", "text", "rss", "atom"])
@pytest.mark.parametrize("gz", [0, 1])
@awaited
async def test_every_form_is_read_compressed_or_not(app: App, form: str, gz: int) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for(f"/sitemap/list?n=5&form={form}&gz={gz}"),))
    assert set(crawled.records) == set(FIVE)


@awaited
async def test_an_index_is_followed_and_each_sitemap_is_read_once_however_they_name_each_other(app: App) -> None:
    async with Site() as site:
        site.routes["/a.xml"] = serves(sitemap_index([site.url_for(p) for p in ("/a.xml", "/b.xml", "/sitemap/list")]))
        site.routes["/b.xml"] = serves(sitemap_index([site.url_for(p) for p in ("/a.xml", "/b.xml", "/sitemap/list")]))
        crawled = await crawl(app, site, sitemaps=(site.url_for("/a.xml"),))
    assert crawled.status == "completed"
    assert set(crawled.records) == set(FIVE)
    assert sorted(asked(site)) == sorted(["/a.xml", "/b.xml", "/sitemap/list", *FIVE])


@awaited
async def test_an_index_without_end_is_left_after_a_few_levels(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for("/sitemap/deeper/1"),))
    assert set(crawled.records) == {f"/item/{level}" for level in range(1, 5)}
    assert crawled.run.refused["depth"]["count"] == 2
    assert crawled.status == "completed"


@awaited
async def test_an_index_may_only_name_sitemaps_of_its_site_or_in_scope(app: App) -> None:
    async with Site() as site:
        other = site.url_for("/sitemap/list", "127.0.0.2")
        index = site.url_for(f"/sitemap/index?of={quote(other, safe='')}")
        crawled = await crawl(app, site, sitemaps=(index,))
        everywhere = await crawl(app, site, sitemaps=(index,), scope="any")
    assert crawled.run.refused["scope"] == {"count": 1, "samples": [other]}
    assert not crawled.records
    assert len(everywhere.records) == 5


@awaited
async def test_listed_addresses_are_admitted_like_links_of_depth_1(app: App) -> None:
    async with Site() as site:
        site.routes["/map.xml"] = listed(site, "/list?n=2", "/ok", "/ok#again")
        away = [site.url_for("/item/9", "127.0.0.2"), "ftp://127.0.0.1/x"]
        site.routes["/away.xml"] = serves(urlset(away))
        maps = (site.url_for("/map.xml"), site.url_for("/away.xml"))
        crawled = await crawl(app, site, "/ok", depth=2, sitemaps=maps, exclude=("*/item/1",))
    assert {address: record["depth"] for address, record in crawled.records.items()} == {
        "/ok": 1,
        "/list?n=2": 1,
        "/item/0": 2,
    }
    assert {reason: entry["count"] for reason, entry in crawled.run.refused.items()} == {"scope": 2, "scheme": 1}


@awaited
async def test_sitemaps_do_not_count_as_pages_and_are_not_read_when_the_run_is_full(app: App) -> None:
    async with Site() as site:
        maps = [site.url_for(f"/sitemap/list?n=3&from={n * 3}") for n in range(4)]
        site.routes["/index.xml"] = serves(sitemap_index(maps))
        crawled = await crawl(app, site, sitemaps=(site.url_for("/index.xml"),), max_pages=5, delay=0.15)
    assert len(crawled.records) == 5
    assert crawled.run.sitemaps == 5
    assert crawled.status == "completed"
    assert "Page limit reached" in crawled.messages
    unread = [
        p for p in crawled.pages.values() if p["kind"] == "sitemap" and (p["detail"] or "").startswith("not read")
    ]
    assert unread, "the last of them could not add anything"


@awaited
async def test_a_sitemap_with_many_addresses_is_stored_in_slices_and_completely(app: App) -> None:
    async with Site() as site:
        ongoing = begin(app, site, sitemaps=(site.url_for("/sitemap/list?n=12345"),), max_pages=1_000_000)
        async with ongoing:
            await ongoing.until(lambda crawled: "Sitemap read" in crawled.messages, 30)
            found = await ongoing.look()
    assert found.run.counts.total == 12_345 + 1
    assert found.event("Sitemap read")["admitted"] == 12_345
    assert len(hits(site, "/sitemap/list")) == 1, "while it was stored, nobody took it up again"
    assert len(found.attempts("/sitemap/list?n=12345")) == 1


@awaited
async def test_a_run_that_is_full_does_not_store_the_rest_of_a_sitemap(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for("/sitemap/list?n=12345"),), max_pages=10)
    assert len(crawled.records) == 10
    assert crawled.run.surplus < 5_000
    assert crawled.run.surplus + crawled.run.refused["max_pages"]["count"] == 12_345 - 10


# --- bad ones ---


@awaited
async def test_of_a_broken_sitemap_what_was_found_is_kept_with_a_warning(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for("/sitemap/list?n=5&cut=300"),))
    assert crawled.status == "completed"
    assert 0 < len(crawled.records) < 5
    [event] = [event for event in crawled.events if event["message"] == "Sitemap read"]
    assert (event["level"], event["meta"]["found"]) == ("warn", len(crawled.records))
    assert "it is broken" in event["meta"]["trouble"]


@awaited
async def test_an_entity_bomb_is_read_for_its_addresses(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for("/sitemap/bomb"),))
    assert set(crawled.records) == {"/item/1", "/item/2"}
    assert "entities" in crawled.event("Sitemap read")["trouble"]


@awaited
async def test_sixty_megabytes_are_cut_and_what_was_found_is_kept(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, sitemaps=(site.url_for("/sitemap/endless?mb=60"),))
    assert set(crawled.records) == {"/item/0", "/item/1", "/item/2"}
    assert crawled.event("Sitemap read")["trouble"] == "it is longer than 52,428,800 bytes"


@awaited
async def test_a_sitemap_that_was_asked_for_and_is_none_is_a_failure(app: App) -> None:
    async with Site() as site:
        maps = tuple(site.url_for(path) for path in ("/sitemap/html", "/missing.xml", "/binary"))
        crawled = await crawl(app, site, "/ok", sitemaps=maps)
    assert crawled.states == {
        "/ok": "done",
        "/sitemap/html": "failed(bad_response)",
        "/missing.xml": "failed(not_found)",
        "/binary": "failed(bad_response)",
    }
    assert crawled.status == "partial"
    assert crawled.pages["/sitemap/html"]["detail"].startswith("not a sitemap: ")
    assert len(hits(site, "/sitemap/html")) == 1, "the next answer would be the same"


@awaited
async def test_a_sitemap_in_a_closed_network_is_denied(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/ok", sitemaps=("http://10.0.0.1/sitemap.xml",))
    assert crawled.pages["10.0.0.1/sitemap.xml"]["reason"] == "denied"


@awaited
async def test_a_failed_sitemap_is_read_by_retry_failed(app: App) -> None:
    async with Site() as site:
        first = await crawl(app, site, "/ok", sitemaps=(site.url_for("/late.xml"),))
        site.routes["/late.xml"] = listed(site, *FIVE)
        async with retry_failed(app, site, first.id) as ongoing:
            crawled = await ongoing.end()
    assert first.status == "partial"
    assert crawled.status == "completed"
    assert set(crawled.records) == {"/ok", *FIVE}


# --- interrupted and explained ---


@awaited
async def test_a_run_that_was_stopped_goes_on_with_its_sitemap(app: App) -> None:
    app = eager(app)
    async with Site() as site:

        async def slow(call: Call) -> Reply:
            site.counts["map"] += 1
            if site.counts["map"] == 1:
                await call.site.until(lambda: False, 30)
            return Reply(200, urlset([site.url_for(path) for path in FIVE]).encode(), XML)

        site.routes["/slow.xml"] = slow
        async with begin(app, site, "/ok", sitemaps=(site.url_for("/slow.xml"),)) as ongoing:
            await site.until(lambda: site.counts["map"] == 1)
            await runs.pause(app, ongoing.run_id)
            await ongoing.until(lambda crawled: crawled.status == "paused")
        async with resume(app, site, ongoing.run_id) as again:
            crawled = await again.end()
    assert crawled.status == "completed"
    assert set(crawled.records) == {"/ok", *FIVE}


@awaited
async def test_a_page_tells_in_which_sitemap_it_was_found(app: App) -> None:
    from tarantella.cli.story import story_lines

    async with Site(robots="Sitemap: /index.xml") as site:
        site.routes["/index.xml"] = serves(sitemap_index([site.url_for("/sitemap/list")]))
        crawled = await crawl(app, site, "/ok", sitemaps=("auto", site.url_for("/sitemap/list?n=1&from=7")))

    async def story(path: str) -> str:
        return list(story_lines(await explain(app, crawled.id, site.url_for(path)), 0.0))[1].strip()

    assert await story("/item/3") == f"It was found in the sitemap {site.url_for('/sitemap/list')} (depth 1)."
    assert await story("/sitemap/list") == f"It is a sitemap that {site.url_for('/index.xml')} names."
    assert await story("/index.xml") == f"It is a sitemap that the robots.txt of 127.0.0.1:{site.port} names."
    assert await story("/sitemap.xml") == "It is where the sitemap of its host should be."
    assert await story("/sitemap/list?n=1&from=7") == "It is a sitemap that was asked for."
