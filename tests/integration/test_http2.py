"""HTTP/2 is spoken where a server offers it, and what breaks off there is a network failure that is tried again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.cookies import MOST_SET
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.services.app import App
from tests.integration.crawling import LOOPBACK, Crawled, awaited, begin, crawl
from tests.integration.nginx import PAGES, Nginx
from tests.site import Site, http2
from tests.site.http2 import Answer, Http2Server

OPTIONS = Options("Test/1", allow_networks=LOOPBACK, total_timeout=5.0)


async def fetch(url: str, certificates: Path) -> Response:
    fetcher = HttpFetcher(Guard())
    try:
        return await fetcher.fetch(Request(resolve(url), replace(OPTIONS, ca_file=str(certificates / "ca.pem"))))
    finally:
        await fetcher.close()


def test_a_server_that_offers_it_is_spoken_to_in_http2(nginx: Nginx, certificates: Path) -> None:
    response = asyncio.run(fetch(nginx.url_for("/version"), certificates))
    assert (response.body, response.protocol) == (b"HTTP/2.0 ", "h2")
    assert [cookie.name for cookie in response.cookies] == ["seen"]


@awaited
async def test_a_whole_site_is_crawled_over_http2_with_its_cookies(nginx: Nginx, app: App, certificates: Path) -> None:
    async with Site() as unused:
        ca_file = str(certificates / "ca.pem")
        crawled = await crawl(app, unused, nginx.url_for("/"), nginx.url_for("/version"), depth=2, ca_file=ca_file)
    assert crawled.status == "completed"
    assert crawled.run.counts.done == PAGES + 2
    protocols = crawled.read(lambda tx: tx.all("SELECT protocol, count(*) FROM attempts GROUP BY protocol"))
    assert [tuple(row) for row in protocols] == [("h2", PAGES + 2)]
    titles = {record["title"] for record in crawled.records.values()}
    assert titles >= {f"Page {number}" for number in range(PAGES)}


def test_a_plain_server_is_still_spoken_to_as_it_is() -> None:
    async def story() -> None:
        async with Site() as site:
            fetcher = HttpFetcher(Guard())
            assert (await fetcher.fetch(Request(resolve(site.url_for("/ok")), OPTIONS))).protocol == "http/1.1"

    asyncio.run(story())


CALM = http2.goaway(0, http2.ENHANCE_YOUR_CALM, b'SSL routines", TimedOut, Remote) ConnectionRefused')


@pytest.mark.parametrize(
    ("answer", "detail", "words"),
    [
        (lambda stream, _: http2.reset(stream), "stream_reset", "INTERNAL_ERROR."),
        (lambda stream, _: http2.beginning(stream) + http2.reset(stream), "stream_reset", "INTERNAL_ERROR."),
        (lambda stream, _: http2.goaway(), "goaway", "NO_ERROR."),
        (lambda stream, _: CALM, "goaway", "ENHANCE_YOUR_CALM."),
        (lambda stream, _: http2.beginning(stream) + CALM, "goaway", "ENHANCE_YOUR_CALM."),
        (lambda stream, _: None, "reset", ""),
        (lambda stream, _: b"HTTP/1.1 200 OK\r\n\r\n", "protocol", "FRAME_SIZE_ERROR."),
    ],
)
def test_what_breaks_off_is_a_network_failure_that_tells_why(
    certificates: Path, answer: Answer, detail: str, words: str
) -> None:
    async def story() -> None:
        async with Http2Server(certificates / "good", answer) as server:
            with pytest.raises(FetchError) as caught:
                await fetch(server.url, certificates)
        assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, detail)
        assert caught.value.message.endswith(words)

    asyncio.run(story())


@pytest.mark.parametrize("trouble", [http2.goaway(0, http2.ENHANCE_YOUR_CALM), http2.reset(1)])
@awaited
async def test_a_page_that_was_broken_off_is_tried_again(app: App, certificates: Path, trouble: bytes) -> None:
    def answer(stream: int, before: int) -> bytes:
        return trouble if before == 0 else http2.page(stream)

    async with Http2Server(certificates / "good", answer) as server, Site() as unused:
        options = {"ca_file": str(certificates / "ca.pem"), "obey_robots": False}
        async with begin(app, unused, server.url, **options) as ongoing:
            crawled: Crawled = await ongoing.end()
    assert crawled.status == "completed"
    [address] = crawled.pages
    first, second = crawled.attempts(address)
    assert (first["failure"], first["protocol"], second["protocol"]) == ("network", None, "h2")


def test_a_head_is_as_long_as_browsers_allow(certificates: Path) -> None:
    async def story(length: int) -> Response:
        async with Http2Server(certificates / "good", lambda stream, _: http2.with_long_head(stream, length)) as server:
            return await fetch(server.url, certificates)

    assert asyncio.run(story(200_000)).body == b"OK"
    with pytest.raises(FetchError) as caught:
        asyncio.run(story(1_000_000))
    assert caught.value.failure is Failure.NETWORK


def test_of_thousands_of_cookies_in_one_head_the_first_count(certificates: Path) -> None:
    async def story() -> Response:
        async with Http2Server(certificates / "good", lambda stream, _: http2.with_cookies(stream, 4_000)) as server:
            return await fetch(server.url, certificates)

    assert [cookie.name for cookie in asyncio.run(story()).cookies] == [f"c{number}" for number in range(MOST_SET)]


def test_pieces_with_nothing_in_them_are_not_taken_for_as_long_as_they_come(certificates: Path) -> None:
    """They cost the server no window, so that nothing else would hold them back."""
    nothing = http2.frame(http2.DATA, 0, 1) * 100_000

    async def story() -> None:
        async with Http2Server(certificates / "good", lambda stream, _: http2.beginning(stream) + nothing) as server:
            with pytest.raises(FetchError) as caught:
                await fetch(server.url, certificates)
        assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "protocol")

    asyncio.run(story())
