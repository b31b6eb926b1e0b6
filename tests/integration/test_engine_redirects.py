"""Redirects lead a page on: on its host at once, to another by moving it there, and never in circles."""

from __future__ import annotations

import asyncio
import time

import pytest

from tarantella.domain.page import PageState
from tarantella.services import runs
from tarantella.services.app import App
from tests.integration.crawling import asked, awaited, crawl, hits, retry_failed
from tests.site import Call, Reply, Site
from tests.site.reply import page


@awaited
async def test_a_redirect_on_the_same_host_is_followed(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/redirect?to=/ok")
    assert crawled.states == {"/redirect?to=/ok": "done"}
    assert crawled.pages["/redirect?to=/ok"]["final_url"] == site.url_for("/ok")
    record = crawled.records["/redirect?to=/ok"]
    assert (record["final_url"], record["title"]) == (site.url_for("/ok"), "OK")
    assert crawled.run.requests == 1


@awaited
async def test_a_redirect_to_another_host_moves_the_page_there(app: App) -> None:
    async with Site() as site:
        there = site.url_for("/redirect?to=/ok", "127.0.0.2")
        start = site.url_for(f"/redirect?to={there}")
        crawled = await crawl(app, site, start)
    assert crawled.status == "completed"
    [page] = crawled.pages.values()
    assert (page["state"], page["final_url"]) == ("done", site.url_for("/ok", "127.0.0.2"))
    moved, done = crawled.attempts("127.0.0.2/redirect?to=/ok")
    assert (moved["status"], moved["decision"]) == (302, f"moved to {there}")
    assert done["decision"] == "done"
    assert crawled.run.requests == 2
    found = crawled.read(lambda tx: tx.first("SELECT hops, charged, lane FROM pages"))
    assert tuple(found) == (1, 1, "127.0.0.2")


@awaited
async def test_a_chain_through_three_hosts_is_followed_and_counted(app: App) -> None:
    async with Site() as site:
        url = site.url_for("/ok", "127.0.0.4")
        for host in ("127.0.0.3", "127.0.0.2", "127.0.0.1"):
            url = site.url_for(f"/redirect?to={url.replace('?', '%3F').replace('=', '%3D')}", host)
        crawled = await crawl(app, site, url)
    assert crawled.status == "completed"
    assert [hit.hostname for hit in hits(site)] == [f"127.0.0.{number}" for number in (1, 2, 3, 4)]
    assert crawled.read(lambda tx: tx.value("SELECT hops FROM pages")) == 3


@pytest.mark.parametrize(
    ("path", "detail", "most"),
    [("/redirect-loop", "redirect_loop", 3), ("/redirect-chain?n=50", "too_many_redirects", 11)],
)
@awaited
async def test_a_loop_and_an_endless_chain_are_failures_that_are_not_tried_again(
    app: App, path: str, detail: str, most: int
) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, path, attempts=3)
    assert crawled.states == {path: "failed(bad_response)"}
    assert crawled.pages[path]["detail"].startswith(detail)
    assert len(crawled.attempts(path)) == 1
    assert len(hits(site)) <= most


@awaited
async def test_two_hosts_that_send_a_page_to_each_other_do_so_ten_times_at_most(app: App) -> None:
    async with Site() as site:

        async def ping(call: Call) -> Reply:
            other = "127.0.0.2" if call.request.host.startswith("127.0.0.1") else "127.0.0.1"
            return page("Elsewhere", status=302, location=site.url_for("/ping", other))

        site.routes["/ping"] = ping
        began = time.monotonic()
        crawled = await crawl(app, site, "/ping")
        # A page that moves is not left standing until somebody looks by chance.
        assert time.monotonic() - began < 15
    assert crawled.status == "failed"
    [found] = crawled.pages.values()
    assert (found["reason"], found["detail"].partition(":")[0]) == ("bad_response", "too_many_redirects")
    assert len(hits(site)) == 11


@pytest.mark.parametrize("order", [("/ok", "/redirect?to=/ok"), ("/redirect?to=/ok", "/ok")])
@awaited
async def test_two_addresses_that_end_at_the_same_page_give_one_record(app: App, order: tuple[str, str]) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, *order, per_host=1)
    assert crawled.status == "completed"
    assert crawled.states == {order[0]: "done", order[1]: "skipped(duplicate)"}
    assert crawled.run.records == 1


@awaited
async def test_a_page_that_came_from_another_host_is_a_duplicate_of_the_one_that_is_there(app: App) -> None:
    async with Site() as site:
        there = site.url_for("/ok", "127.0.0.2")
        crawled = await crawl(app, site, there, f"/redirect?to={there}")
    assert crawled.run.counts.done == crawled.run.records == 1
    [skipped] = await runs.page_list(app, crawled.id, state=PageState.SKIPPED)
    assert skipped["reason"] == "duplicate"


@awaited
async def test_a_link_that_is_redirected_out_of_scope_is_skipped(app: App) -> None:
    async with Site() as site:
        away = site.url_for("/item/1", "127.0.0.2")
        link = f"/redirect?to={away}"
        crawled = await crawl(app, site, f"/links?hrefs={link}".replace("=http", "%3Dhttp"), depth=2)
    assert crawled.states[link] == "skipped(scope)"
    assert crawled.pages[link]["detail"] == f"redirected to {away}"
    assert crawled.status == "completed"
    assert [hit.hostname for hit in hits(site)] == ["127.0.0.1", "127.0.0.1"]


@awaited
async def test_a_link_that_is_redirected_into_an_excluded_part_is_skipped(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/links?hrefs=/redirect-chain%3Fn%3D1", depth=2, exclude=("*n=0",))
    assert crawled.states["/redirect-chain?n=1"] == "skipped(scope)"


@pytest.mark.parametrize("same_host", [True, False])
@awaited
async def test_where_a_start_address_is_redirected_to_is_what_is_crawled(app: App, same_host: bool) -> None:
    host = "127.0.0.1" if same_host else "127.0.0.2"
    async with Site() as site:
        target = site.url_for("/list?n=3", host)
        crawled = await crawl(app, site, f"/redirect?to={target}", depth=2)
    assert crawled.status == "completed"
    assert crawled.run.counts.done == 4
    assert [hit.hostname for hit in hits(site, "/item/0")] == [host]
    assert crawled.run.roots[-1] == (target if not same_host else site.url_for(f"/redirect?to={target}"))


@awaited
async def test_a_scope_that_is_a_folder_moves_with_the_start_address(app: App) -> None:
    async with Site() as site:
        _folders(site, "127.0.0.1")
        crawled = await crawl(app, site, "/a/start", depth=2, scope="path")
    assert crawled.states == {"/a/start": "done", "/b/item": "done"}
    assert crawled.run.roots[-1] == site.url_for("/b/index"), "whoever goes on with the run must know it, too"


@awaited
async def test_a_scope_moves_at_once_also_into_a_lane_that_is_already_ours(app: App) -> None:
    async with Site() as site:
        _folders(site, "127.0.0.2")
        busy = site.url_for("/c/busy", "127.0.0.2")
        crawled = await crawl(app, site, busy, "/a/start", depth=2, scope="path")
    assert crawled.status == "completed"
    assert "127.0.0.2/b/item" in crawled.states


def _folders(site: Site, host: str) -> None:
    """`/a/start` leads to `/b/index` on that host, which links to `/b/item`; `/c/busy` keeps a lane for a while."""

    async def start(_call: Call) -> Reply:
        return page("Moved", status=302, location=site.url_for("/b/index", host))

    async def index(_call: Call) -> Reply:
        return page("Index", '<a href="/b/item">item</a>')

    async def busy(_call: Call) -> Reply:
        await site.log.until(lambda: any(hit.path == "/a/start" for hit in site.hits))
        await asyncio.sleep(0.1)
        return page("Busy")

    site.routes |= {"/a/start": start, "/b/index": index, "/b/item": site.routes["/ok"], "/c/busy": busy}


@awaited
async def test_a_failed_page_that_had_moved_is_still_known_as_a_duplicate_when_it_is_retried(
    app: App,
) -> None:
    async with Site() as site:
        there = site.url_for("/flaky?n=1", "127.0.0.2")
        crawled = await crawl(app, site, f"/redirect?to={there}".replace("?n", "%3Fn"), attempts=1)
        assert crawled.status == "failed"
        async with retry_failed(app, site, crawled.id) as ongoing:
            again = await ongoing.end()
    assert again.status == "completed"
    marks = again.read(lambda tx: tx.first("SELECT fingerprint, final_fingerprint FROM pages"))
    assert marks.final_fingerprint not in (None, marks.fingerprint)


@pytest.mark.parametrize("to", ["file:///etc/passwd", "javascript:alert(1)", "ftp://127.0.0.1/"])
@awaited
async def test_a_redirect_to_another_scheme_is_denied(app: App, to: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"/redirect?to={to}")
    assert list(crawled.states.values()) == ["failed(denied)"]
    assert len(asked(site)) == 1


@awaited
async def test_a_redirect_to_a_network_that_is_not_allowed_is_denied(app: App) -> None:
    async with Site() as site:
        there = site.url_for("/ok", "127.0.0.2")
        crawled = await crawl(app, site, f"/redirect?to={there}", allow_networks=("127.0.0.1/32",))
    assert list(crawled.states.values()) == ["failed(denied)"]
    assert [hit.hostname for hit in hits(site)] == ["127.0.0.1"]


@awaited
async def test_the_record_of_a_page_that_moved_tells_the_address_that_was_asked_for(app: App) -> None:
    async with Site() as site:
        there = site.url_for("/ok", "127.0.0.2")
        crawled = await crawl(app, site, f"/redirect?to={there}")
    [record] = crawled.records.values()
    assert record["url"] == site.url_for(f"/redirect?to={there}")
    assert record["final_url"] == there


@awaited
async def test_a_page_that_leads_on_by_itself_is_kept_and_followed_like_a_link(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/meta-refresh?to=/ok", depth=2)
        too_deep = await crawl(app, site, "/meta-refresh?to=/ok")
    assert crawled.states == {"/meta-refresh?to=/ok": "done", "/ok": "done"}
    assert too_deep.states == {"/meta-refresh?to=/ok": "done"}
    assert too_deep.run.refused["depth"]["count"] == 1


@awaited
async def test_pages_that_lead_to_each_other_by_themselves_are_fetched_once_each(app: App) -> None:
    async with Site() as site:

        async def onwards(call: Call) -> Reply:
            number = call.request.integer("n", 0)
            refresh = f'<meta http-equiv="refresh" content="0; url=/on?n={(number + 1) % 3}">'
            return page(f"Page {number}", head=refresh)

        site.routes["/on"] = onwards
        crawled = await crawl(app, site, "/on?n=0", depth=None)
    assert crawled.states == {f"/on?n={number}": "done" for number in range(3)}
    assert len(hits(site)) == 3


@pytest.mark.parametrize("to", ["http://169.254.169.254/latest/", "javascript:alert(1)", "file:///etc/passwd"])
@awaited
async def test_a_page_can_t_lead_us_by_itself_where_a_link_could_not(app: App, to: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"/meta-refresh?to={to}", depth=None, scope="any")
    assert set(crawled.states.values()) <= {"done", "failed(denied)"}
    assert crawled.run.counts.done == 1
    assert len(hits(site)) == 1
