"""robots.txt that is missing, broken, endless or greedy: row 17 of docs/hostile-input.md."""

from __future__ import annotations

import asyncio
import time

import pytest

from tarantella.services.app import App
from tests.fault.processes import SiteProcess
from tests.integration.bounds import growing_by_at_most, loop_busy_at_most
from tests.integration.crawling import QUICK, FakeClock, asked, awaited, begin, crawl, gaps, hits, with_clock
from tests.logs import captured_log
from tests.site import Call, Reply, Request, Site
from tests.site.reply import page
from tests.site.server import Robots

FORBIDS = "User-agent: *\nDisallow: /item/\n"


def robots_hits(site: Site) -> int:
    return sum(hit.path == "/robots.txt" for hit in site.hits)


# -- there is none: everything is allowed


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 418, 451])
@awaited
async def test_a_robots_txt_that_is_not_to_be_had_allows_everything(app: App, status: int) -> None:
    async with Site(robots=status) as site:
        crawled = await crawl(app, site, "/item/1")
    assert crawled.states == {"/item/1": "done"}
    assert robots_hits(site) == 1


@awaited
async def test_that_there_is_none_is_clear_though_the_error_page_is_broken(app: App) -> None:
    nothing = Reply(404, b"Not here", headers=(("Content-Encoding", "gzip"),))
    async with Site(robots=nothing) as site:
        crawled = await crawl(app, site, "/item/1")
    assert crawled.states == {"/item/1": "done"}
    assert robots_hits(site) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "<html><body>Not found</body></html>",
        "User-agent: other\nDisallow: /",
        "Disallow: /",
        "{" * 1_000,
    ],
    ids=["empty", "zeroes", "a web page", "for others", "for nobody", "json"],
)
@awaited
async def test_a_robots_txt_that_says_nothing_to_us_allows_everything(app: App, text: str) -> None:
    async with Site(robots=text) as site:
        crawled = await crawl(app, site, "/item/1")
    assert crawled.states == {"/item/1": "done"}


@pytest.mark.parametrize(
    "robots",
    [
        "\ufeff" + FORBIDS,
        FORBIDS.replace("\n", "\r\n"),
        FORBIDS.replace("\n", "\r"),
        FORBIDS.upper().replace("/ITEM/", "/item/"),
        "# comment\n\n   USER-agent :  *  # all\n\tdisallow:/item/   # nothing here\n",
        FORBIDS.replace(":", ""),
        FORBIDS + "\xff\xfe\0junk",
        "x" * 100_000 + "\n" + FORBIDS,
        Reply(200, FORBIDS.encode(), "text/html"),
        Reply(200, FORBIDS.encode(), "image/png"),
        Reply(200, FORBIDS.encode("utf-8") + b"\xff\xfe", ""),
        Reply(200, FORBIDS.encode("utf-16"), "text/plain"),
        Reply(200, "\ufeff".encode("utf-16-be") + FORBIDS.encode("utf-16-be"), "text/plain"),
        Reply(206, FORBIDS.encode(), "text/plain"),
    ],
)
@awaited
async def test_a_robots_txt_in_a_sorry_state_is_obeyed_all_the_same(app: App, robots: Robots) -> None:
    async with Site(robots=robots) as site:
        crawled = await crawl(app, site, "/item/1", "/ok")
    assert crawled.states == {"/item/1": "skipped(robots)", "/ok": "done"}
    assert asked(site) == ["/ok"]


# -- nobody knows: wait, three tries, then the pages are closed


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 429])
@awaited
async def test_a_robots_txt_in_trouble_is_tried_three_times_and_nothing_is_fetched(app: App, status: int) -> None:
    async with Site(robots=status) as site:
        crawled = await crawl(app, site, "/ok", "/item/1")
    assert set(crawled.states.values()) == {"skipped(robots_unreachable)"}
    assert robots_hits(site) == 3
    assert asked(site) == []
    assert crawled.status == "failed"
    # The waits grow, and no attempt at a page is charged.
    first, second = gaps(site.hits)
    assert (first >= QUICK.base, second >= QUICK.base * QUICK.factor) == (True, True)
    assert crawled.run.requests == 0


@awaited
async def test_a_robots_txt_that_never_comes_is_tried_three_times_and_holds_up_nobody_else(app: App) -> None:
    async def silent(request: Request) -> int:
        if request.host.startswith("127.0.0.1"):
            await asyncio.sleep(60)
        return 404

    async with Site(robots=silent) as site:
        other = [site.url_for(f"/item/{number}", "127.0.0.2") for number in range(20)]
        began = time.monotonic()
        crawled = await crawl(app, site, "/ok", *other, total_timeout=0.4)
        assert time.monotonic() - began < 10
    assert crawled.states["/ok"] == "skipped(robots_unreachable)"
    assert crawled.run.counts.done == len(other)
    assert [hit.hostname for hit in site.hits if hit.path == "/robots.txt"].count("127.0.0.1") == 3


@pytest.mark.parametrize("path", ["/reset-in-body", "/short-body", "/garbage", "/many-headers", "/bad-gzip"])
@awaited
async def test_a_broken_robots_txt_is_tried_three_times(app: App, path: str) -> None:
    async with Site() as site:
        site.routes["/robots.txt"] = site.routes[path]
        crawled = await crawl(app, site, "/ok")
    assert crawled.states == {"/ok": "skipped(robots_unreachable)"}
    assert robots_hits(site) == 3


@awaited
async def test_a_robots_txt_that_asks_for_a_pause_gets_it(app: App) -> None:
    async with Site(robots=page("Not now", status=503, retry_after="315360000")) as site:
        clock = FakeClock()
        async with begin(with_clock(app, clock), site, "/ok") as ongoing:
            for tries in (1, 2):
                await site.until(lambda tries=tries: robots_hits(site) == tries)  # type: ignore[misc]
                await asyncio.sleep(0.2)
                assert robots_hits(site) == tries
                clock.advance(3_601)
            crawled = await ongoing.end()
    assert crawled.states == {"/ok": "skipped(robots_unreachable)"}
    assert robots_hits(site) == 3


# -- there is too much of it


@awaited
async def test_of_two_megabytes_the_first_500_kib_count(app: App) -> None:
    filler = "# nothing to see here\n" * 100
    start = FORBIDS + filler * 200  # about 440 KB
    async with Site(robots=start + "Disallow: /list\n" + filler * 800 + "Disallow: /ok\n") as site:
        crawled = await crawl(app, site, "/item/1", "/list?n=1", "/ok")
    assert crawled.states == {"/item/1": "skipped(robots)", "/list?n=1": "skipped(robots)", "/ok": "done"}


@pytest.mark.parametrize("path", ["/endless", "/bomb", "/huge"])
@awaited
async def test_a_robots_txt_without_end_is_cut_and_is_no_way_to_keep_us_out(
    app: App, far_site: SiteProcess, path: str
) -> None:
    """Cut after 500 KiB, all of these say nothing."""
    async with Site() as site:

        async def elsewhere(_call: Call) -> Reply:
            return page("Moved", status=302, location=far_site.url_for(path))

        site.routes["/robots.txt"] = elsewhere
        with growing_by_at_most(60):
            async with loop_busy_at_most(2.0):
                crawled = await crawl(app, site, "/item/1", total_timeout=20.0)
    assert crawled.states == {"/item/1": "done"}


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: *\n" + "Disallow: /*a*b*c*d*e*f*g*h*\n" * 15_000,
        "".join(f"User-agent: bot{number}\n" for number in range(20_000)) + "Disallow: /x\n" * 10_000,
        "User-agent: *\nDisallow: /" + "*" * 400_000 + "\n",
        "User-agent: *\nDisallow: /" + "a*" * 200_000 + "$\n",
    ],
    ids=["many wildcards", "many agents", "stars", "a pattern without end"],
)
@awaited
async def test_rules_made_to_keep_us_busy_do_not(app: App, text: str) -> None:
    async with Site(robots=text) as site, loop_busy_at_most(5.0):
        crawled = await crawl(app, site, *(f"/item/{'a' * 50}{number}" for number in range(20)))
    assert crawled.run.counts.pending == 0
    assert crawled.run.counts.failed == 0


# -- it is somewhere else


def chain(site: Site, hops: int, *, across_hosts: bool = False) -> None:
    """Let robots.txt be at the end of so many redirects."""

    async def step(call: Call) -> Reply:
        left = call.request.integer("left", hops)
        if left == 0:
            return Reply(200, FORBIDS.encode(), "text/plain")
        host = f"127.0.0.{left + 1}" if across_hosts else None
        return page("Moved", status=302, location=site.url_for(f"/robots-step?left={left - 1}", host))

    site.routes |= {"/robots.txt": step, "/robots-step": step}


@pytest.mark.parametrize("across_hosts", [False, True])
@pytest.mark.parametrize(("hops", "state"), [(1, "skipped(robots)"), (5, "skipped(robots)"), (6, "done"), (50, "done")])
@awaited
async def test_up_to_five_redirects_are_followed_and_more_are_as_good_as_none(
    app: App, hops: int, state: str, across_hosts: bool
) -> None:
    async with Site() as site:
        chain(site, hops, across_hosts=across_hosts and hops <= 6)
        crawled = await crawl(app, site, "/item/1")
    assert crawled.states == {"/item/1": state}
    assert sum("robots" in hit.path for hit in site.hits) <= 6


@pytest.mark.parametrize(
    "to",
    [
        "/robots.txt",
        "http://169.254.169.254/",
        "http://[::ffff:10.0.0.1]/robots.txt",
        "file:///etc/passwd",
        "javascript:1",
        "http://[",
    ],
)
@awaited
async def test_a_redirect_in_circles_or_to_where_we_don_t_go_is_as_good_as_none(app: App, to: str) -> None:
    async with Site(robots=page("Moved", status=301, location=to)) as site:
        crawled = await crawl(app, site, "/item/1")
    assert crawled.states == {"/item/1": "done"}


# -- it asks for more time than there is


@pytest.mark.parametrize("delay", ["1e9", "1000000000", "99999", "61", "1e400", "inf # s", "9" * 400])
@awaited
async def test_a_crawl_delay_without_measure_is_a_minute_and_that_is_said(app: App, delay: str) -> None:
    async with Site(robots=f"User-agent: *\nCrawl-delay: {delay}\n") as site:
        clock = FakeClock()
        with captured_log() as logs:
            async with begin(with_clock(app, clock), site, "/item/1", "/item/2") as ongoing:
                await site.until(lambda: len(hits(site)) == 1)
                clock.advance(50)
                await asyncio.sleep(0.2)
                assert len(hits(site)) == 1
                clock.advance(11)
                crawled = await ongoing.end()
    assert crawled.run.counts.done == 2
    assert [entry["level"] for entry in logs if entry.get("action") == "crawl_delay_clamped"] == ["warning"]


@pytest.mark.parametrize("delay", ["-5", "nan", "-inf", "-1e400", "soon", "", "0", "0x10"])
@awaited
async def test_a_crawl_delay_that_makes_no_sense_is_none(app: App, delay: str) -> None:
    async with Site(robots=f"User-agent: *\nCrawl-delay: {delay}\n") as site:
        began = time.monotonic()
        crawled = await crawl(app, site, *(f"/item/{number}" for number in range(5)))
        assert time.monotonic() - began < 10
    assert crawled.run.counts.done == 5
