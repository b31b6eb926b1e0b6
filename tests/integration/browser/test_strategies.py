"""Where the strategy is left to us: pages go up the ladder, hosts and sites are learned, and nothing goes down."""

from __future__ import annotations

from functools import partial

import pytest

from tarantella.domain.event import RETRY_SCHEDULED, STRATEGY_ESCALATED, STRATEGY_LEARNED, STRATEGY_MISSING
from tarantella.domain.field import Field
from tarantella.domain.site import SitePolicy
from tarantella.domain.struct import replace
from tarantella.engine.tools import Tools
from tarantella.services.app import App
from tarantella.store import sites
from tarantella.store.sites import Site as Known
from tests.integration.crawling import Crawled, asked, awaited, crawl, eager, hits
from tests.site import Site

pytestmark = pytest.mark.usefixtures("browser")
HOST = "127.0.0.1"
PRICE = (Field("price", ".price"), Field("heading", "h1"))


def known(app: App) -> Known:
    return app.database.read_now(partial(sites.get, host=HOST))


def pin(app: App, strategy: str) -> None:
    policy = SitePolicy(strategy=strategy)
    app.database.write_now(partial(sites.set_policy, host=HOST, policy=policy, now=app.now()))


def rechecking(app: App, share: float) -> App:
    """The same application, which asks for such a share of pages over HTTP as well."""

    def tools() -> Tools:
        return replace(app.make_tools(), recheck_share=share, luck=lambda: 0.5)

    return replace(app, make_tools=tools)


def strategies(crawled: Crawled, address: str) -> list[str]:
    return [attempt["strategy"] for attempt in crawled.attempts(address)]


@awaited
async def test_an_empty_page_goes_on_in_a_browser_at_no_cost_and_says_so(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/filled/1", auto=True, attempts=1, text="fast")
        assert found.states == {"/filled/1": "done"}
        assert strategies(found, "/filled/1") == ["http", "browser"]
        assert "A sentence about looms" in found.records["/filled/1"]["text"]
        told = found.event(STRATEGY_ESCALATED)
        assert (told["from"], told["to"], told["reason"]) == ("http", "browser", "needs_render")
        assert told["url"] == site.url_for("/filled/1")
        assert RETRY_SCHEDULED not in found.messages
        cost = found.run.cost
        assert (cost["requests"], cost["pages_by_strategy"]) == (2, {"browser": 1})
        assert 0 < cost["browser_seconds"] < 30
        assert found.run.stats["cost"] == cost


@awaited
async def test_a_shell_is_known_however_far_down_it_is_told(app: App) -> None:
    async with Site() as site:
        # A style, a style and a comment, of 5,000 bytes and more, come first.
        paths = ["/spa", "/shell/4", "/shell/5"]
        found = await crawl(app, site, *paths, auto=True)
        assert all(strategies(found, path) == ["http", "browser"] for path in paths)


@awaited
async def test_pages_of_one_run_differ_and_what_they_lead_to_starts_as_the_run_does(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/mixed?plain=6&filled=1", "/filled/9?n=2", auto=True, depth=2)
        assert set(found.states.values()) == {"done"}
        with_browser = {address for address in found.pages if strategies(found, address) == ["http", "browser"]}
        assert with_browser == {"/filled/0", "/filled/1", "/filled/2", "/filled/9?n=2"}
        assert {
            address: page["strategy"] for address, page in found.pages.items() if page["strategy"] != "http"
        } == dict.fromkeys(with_browser, "browser")
        assert found.run.cost["pages_by_strategy"] == {"http": 7, "browser": 4}


@awaited
async def test_a_page_that_refuses_plain_clients_is_had_with_a_browser(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/browsers-only/1", "/challenge", auto=True, attempts=3, text="fast")
        assert found.states == {"/browsers-only/1": "done", "/challenge": "failed(blocked)"}
        assert strategies(found, "/browsers-only/1") == ["http", "browser"]
        # A block page with status 200 is refused as well, and a browser stays a browser.
        assert strategies(found, "/challenge") == ["http", "browser", "browser"]
        reasons = [event["meta"]["reason"] for event in found.events if event["message"] == STRATEGY_ESCALATED]
        assert reasons == ["blocked", "blocked"]


@awaited
async def test_when_most_pages_of_a_host_had_to_climb_the_others_start_there(app: App) -> None:
    async with Site() as site:
        found = await crawl(rechecking(app, 0.0), site, "/filled/0?n=12", auto=True, depth=2, per_host=1)
        assert set(found.states.values()) == {"done"}
        twice = [address for address in found.pages if strategies(found, address) == ["http", "browser"]]
        once = [address for address in found.pages if strategies(found, address) == ["browser"]]
        assert (len(twice), len(once)) == (5, 8)
        assert {found.pages[address]["strategy"] for address in once} == {"browser"}
        told = found.event(STRATEGY_LEARNED)
        assert (told["host"], told["strategy"]) == (HOST, "browser")


@awaited
async def test_a_site_is_remembered_with_its_evidence_and_the_next_run_starts_there(app: App) -> None:
    async with Site() as site:
        walls = [f"/browsers-only/{number}" for number in range(6)]
        first = await crawl(rechecking(app, 0.0), site, *walls, auto=True)
        learned = known(app).learned
        assert learned is not None
        assert learned.strategy == "browser"
        evidence = known(app).evidence
        assert evidence["http"].refused == {"blocked": evidence["http"].times_refused}
        assert (evidence["browser"].ok, evidence["browser"].run_id) == (6, first.id)
        second = await crawl(eager(rechecking(app, 0.0)), site, "/browsers-only/9", auto=True)
        assert strategies(second, "/browsers-only/9") == ["browser"]
        assert len(hits(site, "/browsers-only/9")) == 1
        # As was asked for is as was asked for.
        third = await crawl(app, site, "/browsers-only/8", strategy="http", attempts=1)
        assert strategies(third, "/browsers-only/8") == ["http"]


@awaited
async def test_a_recheck_compares_records_and_what_is_the_same_is_learned(app: App) -> None:
    async with Site() as site:
        pages = [f"/item/{number}" for number in range(5)]
        found = await crawl(rechecking(app, 1.0), site, *pages, strategy="browser", auto=True, attempts=1, text="fast")
        assert found.states == dict.fromkeys(pages, "done")
        assert strategies(found, "/item/0") == ["http", "browser"]
        assert {page["strategy"] for page in found.pages.values()} == {"browser"}
        assert found.attempts("/item/0")[0]["decision"] == "a recheck: to be compared with browser"
        assert found.messages.count(STRATEGY_LEARNED) == len(pages)
        assert known(app).evidence["http"].ok == len(pages)
        learned = known(app).learned
        assert learned is not None
        assert learned.strategy == "http"


@awaited
async def test_a_recheck_that_gives_other_records_is_a_refusal(app: App) -> None:
    async with Site() as site:
        pages = ["/augmented/1", "/filled/1", "/browsers-only/1"]
        found = await crawl(rechecking(app, 1.0), site, *pages, strategy="browser", auto=True, fields=PRICE)
        assert found.states == dict.fromkeys(pages, "done")
        assert STRATEGY_LEARNED not in found.messages
        refused = known(app).evidence["http"].refused
        assert refused == {"different": 1, "needs_render": 1, "blocked": 1}


@awaited
async def test_a_site_that_is_pinned_is_asked_as_people_say(app: App) -> None:
    async with Site() as site:
        pin(app, "browser")
        found = await crawl(rechecking(app, 1.0), site, "/item/1", auto=True)
        assert strategies(found, "/item/1") == ["browser"]
        pin(app, "http")
        found = await crawl(app, site, "/filled/1", "/403", auto=True, attempts=2)
        assert found.states == {"/filled/1": "done", "/403": "failed(blocked)"}
        assert (strategies(found, "/filled/1"), strategies(found, "/403")) == (["http"], ["http", "http"])
        assert STRATEGY_MISSING not in found.messages


@awaited
async def test_explicit_http_keeps_an_empty_page_and_sends_a_refused_one_up_the_ladder(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/filled/1", "/browsers-only/1", strategy="http", attempts=2)
        assert set(found.states.values()) == {"done"}
        assert strategies(found, "/filled/1") == ["http"]
        assert strategies(found, "/browsers-only/1") == ["http", "browser"]


@awaited
async def test_a_run_with_sitemaps_reads_them_over_http_though_its_host_needs_a_browser(app: App) -> None:
    async with Site() as site:
        pin(app, "browser")
        found = await crawl(app, site, "/item/1", auto=True, sitemaps=(site.url_for("/sitemap.xml"),))
        assert len(hits(site, "/sitemap.xml")) == 1
        assert found.states["/item/1"] == "done"
        assert "/sitemap.xml" in asked(site)
