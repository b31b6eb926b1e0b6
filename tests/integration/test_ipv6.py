"""Addresses of the newer kind are addresses: crawled, guarded, and left for the other kind when nobody answers there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress

import pytest

from tarantella.bootstrap import make_tools
from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.services.app import App
from tests.integration.crawling import awaited, crawl
from tests.site import Site

BOTH = ("::1/128", "127.0.0.0/8")
OPTIONS = Options("Test/1", allow_networks=BOTH, connect_timeout=5.0, total_timeout=10.0)


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_ipv6(), reason="This machine has no IPv6.")


def named(*addresses: str) -> Guard:
    """A world in which every name has these addresses."""
    return Guard(dns=Dns(lambda host: addresses))


async def fetch(url: str, guard: Guard, options: Options = OPTIONS) -> Response:
    fetcher = HttpFetcher(guard)
    try:
        return await fetcher.fetch(Request(resolve(url), options))
    finally:
        await fetcher.close()


@awaited
async def test_a_site_at_an_address_is_crawled_from_robots_txt_to_its_links(app: App) -> None:
    async with Site(host="::1", robots="User-agent: *\nDisallow: /item/2") as site:
        crawled = await crawl(app, site, site.url_for("/list?n=4"), depth=2, allow_networks=("::1",), per_host=2)
    assert crawled.status == "completed"
    assert crawled.states == {
        "::1/list?n=4": "done",
        **{f"::1/item/{number}": "done" for number in (0, 1, 3)},
        "::1/item/2": "skipped(robots)",
    }
    assert {hit.host for hit in site.hits} == {f"[::1]:{site.port}"}
    assert site.peak_by_host["[::1]"] <= 2
    assert crawled.read(lambda tx: tx.all("SELECT name FROM lanes WHERE name NOT LIKE '!%'")) == [("[::1]",)]


@awaited
async def test_however_it_is_written_an_address_is_one_page_on_one_host(app: App) -> None:
    async with Site(host="::1") as site:
        addresses = [f"http://{host}:{site.port}/ok" for host in ("[::1]", "[0:0:0:0:0:0:0:1]", "[::0.0.0.1]")]
        crawled = await crawl(app, site, *addresses, allow_networks=("::1",))
    assert crawled.states == {"::1/ok": "done"}


@awaited
async def test_a_redirect_between_the_two_kinds_moves_the_page(app: App) -> None:
    async with Site(host="::1") as site:
        there = site.url_for("/ok", "127.0.0.1")
        crawled = await crawl(app, site, site.url_for(f"/redirect?to={there}"), allow_networks=BOTH)
    assert crawled.states == {"/ok": "done"}
    assert [hit.hostname for hit in site.hits if hit.path != "/robots.txt"] == ["[::1]", "127.0.0.1"]


@awaited
async def test_loopback_is_denied_unless_it_is_allowed_and_the_detail_says_how(app: App) -> None:
    async with Site(host="::1") as site:
        mapped = site.url_for("/ok", "::ffff:127.0.0.1")
        denied = await crawl(app, site, site.url_for("/ok"), mapped, allow_networks=())
        allowed = await crawl(app, site, mapped, allow_networks=("127.0.0.1/32",))
    assert set(denied.states.values()) == {"failed(denied)"}
    told = {page["detail"].partition("--allow-network ")[2] for page in denied.pages.values()}
    assert told == {"::1/128", "127.0.0.1/32"}
    assert allowed.status == "completed"
    assert [hit.host for hit in site.hits if hit.path == "/ok"] == [f"[::ffff:7f00:1]:{site.port}"]


@awaited
async def test_a_name_that_has_only_the_newer_kind_is_crawled(app: App) -> None:
    async with Site(host="::1") as site:
        with_names = replace(app, make_tools=lambda: make_tools(named("::1")))
        crawled = await crawl(
            with_names, site, site.url_for("/list?n=2", "six.test"), depth=2, allow_networks=("::1/128",)
        )
    assert (crawled.status, crawled.run.counts.done) == ("completed", 3)
    assert {hit.host for hit in site.hits} == {f"six.test:{site.port}"}


@pytest.mark.parametrize("order", [("::1", "127.0.0.1"), ("127.0.0.1", "::1")])
@pytest.mark.parametrize("alive", ["::1", "127.0.0.1"])
@pytest.mark.parametrize("kind", ["refuses", "is silent"])
def test_a_name_with_both_kinds_is_reached_where_somebody_answers(order: Sequence[str], alive: str, kind: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    async def story() -> None:
        with ExitStack() as sockets:
            living, dead = _same_port(alive, "::1" if alive != "::1" else "127.0.0.1", sockets)
            port = living.getsockname()[1]
            server = await asyncio.start_server(answer, sock=living)
            if kind == "is silent":
                _fill_queue(dead, sockets)
            assert (await fetch(f"http://both.test:{port}/", named(*order))).body == b"hi"
            server.close()

    asyncio.run(story())


def _same_port(one: str, other: str, sockets: ExitStack) -> tuple[socket.socket, socket.socket]:
    """One port at both addresses, held so that no other test can listen at it; who comes is refused until we do."""
    for _ in range(20):
        with ExitStack() as bound:
            first = bound.enter_context(_bound(one, 0))
            with suppress(OSError):
                second = bound.enter_context(_bound(other, first.getsockname()[1]))
                sockets.push(bound.pop_all())
                return first, second
    raise AssertionError("No port is free at both addresses.")


def _bound(host: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.bind((host, port))
    except OSError:
        made.close()
        raise
    return made


def _fill_queue(listener: socket.socket, sockets: ExitStack) -> None:
    """Listen there, with a queue so full that what comes next is dropped without a word, as a firewall does."""
    listener.listen(0)
    for _ in range(4):
        waiting = sockets.enter_context(socket.socket(listener.family))
        waiting.setblocking(False)
        waiting.connect_ex(listener.getsockname())


def test_one_address_that_is_not_allowed_denies_the_name_whichever_kind_it_is() -> None:
    async def story() -> None:
        for networks in (("::1/128",), ("127.0.0.0/8",)):
            with pytest.raises(FetchError) as caught:
                await fetch("http://both.test:1/", named("::1", "127.0.0.1"), replace(OPTIONS, allow_networks=networks))
            assert caught.value.failure is Failure.DENIED

    asyncio.run(story())
