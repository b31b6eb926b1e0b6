"""Bodies that are small until they are opened, or can't be: row 11 of docs/hostile-input.md."""

from __future__ import annotations

import gzip

import pytest

from tarantella.services.app import App
from tests.fault.processes import SiteProcess
from tests.integration.bounds import growing_by_at_most, loop_busy_at_most
from tests.integration.crawling import awaited, crawl
from tests.site import Call, Reply, Site
from tests.site.bombs import ENCODERS, packed
from tests.site.reply import page

MB = 1_000_000


@pytest.mark.parametrize("chunked", [0, 1], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("encoding", ENCODERS)
@awaited
async def test_a_bomb_is_too_large_at_the_limit_and_never_unpacked(
    app: App, far_site: SiteProcess, encoding: str, chunked: int
) -> None:
    says = "&says=gzip,gzip" if encoding == "gzip-gzip" else ""
    path = f"/bomb?as={encoding}&chunked={chunked}&mb=200{says}"
    other = [far_site.url_for(f"/item/{number}", "127.0.0.2") for number in range(10)]
    # What is asked for is unpacked here, what comes unasked by the client.
    with growing_by_at_most(40):
        async with loop_busy_at_most(1.0):
            crawled = await crawl(app, far_site, path, *other, max_decoded=4 * MB, attempts=3, total_timeout=30.0)
    assert crawled.states[path] == "failed(too_large)"
    assert len(crawled.attempts(path)) == 1
    assert crawled.run.counts.done == len(other)


@awaited
async def test_with_the_usual_limits_a_bomb_takes_no_more_than_they_say(app: App, far_site: SiteProcess) -> None:
    paths = [f"/bomb?as={encoding}&mb=200" for encoding in ("gzip", "br", "zstd", "deflate")]
    # Four at a time, each of them up to fifty megabytes.
    with growing_by_at_most(4 * 110):
        crawled = await crawl(app, far_site, *paths, concurrency=4, per_host=4, total_timeout=60.0)
    assert set(crawled.states.values()) == {"failed(too_large)"}


@pytest.mark.parametrize(
    ("encoding", "says"),
    [
        ("gzip", "br"),
        ("gzip", "zstd"),
        ("gzip", "deflate"),
        ("br", "gzip"),
        ("br", "deflate"),
        ("zstd", "gzip"),
        ("zstd", "br"),
        ("deflate", "gzip"),
        ("deflate", "zstd"),
        ("gzip", "gzip,gzip,gzip"),
        ("gzip", "br,gzip"),
        ("gzip", "gzip,br"),
        ("gzip", "compress"),
    ],
)
@awaited
async def test_a_body_that_is_not_what_it_says_can_not_be_decoded(
    app: App, far_site: SiteProcess, encoding: str, says: str
) -> None:
    path = f"/bomb?as={encoding}&mb=20&says={says}"
    with growing_by_at_most(60):
        crawled = await crawl(app, far_site, path, attempts=1)
    assert crawled.states == {path: "failed(network)"}
    assert crawled.pages[path]["detail"].startswith("decode: ")


@awaited
async def test_plain_text_that_calls_itself_compressed_is_a_decode_failure(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/bad-gzip", attempts=2)
    assert crawled.states == {"/bad-gzip": "failed(network)"}
    assert [attempt["detail"].partition(":")[0] for attempt in crawled.attempts("/bad-gzip")] == ["decode"] * 2


@pytest.mark.parametrize(
    ("says", "times"),
    [
        (("utf-8",), 0),
        (("none",), 0),
        (("8bit, binary",), 0),
        (("gzip;q=1",), 0),
        (("gzip, UTF-8",), 1),
        (("gzip", "identity"), 1),
        (("gzip", "gzip"), 2),
    ],
)
@awaited
async def test_what_is_no_encoding_is_passed_over_as_browsers_do(app: App, says: tuple[str, ...], times: int) -> None:
    body = page("Fine").body
    for _ in range(times):
        body = gzip.compress(body)
    async with Site() as site:

        async def odd(_call: Call) -> Reply:
            return Reply(200, body, headers=tuple(("Content-Encoding", each) for each in says))

        site.routes["/odd"] = odd
        crawled = await crawl(app, site, "/odd", attempts=1)
    assert crawled.records["/odd"]["title"] == "Fine"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw-deflate", "br", "zstd"])
@awaited
async def test_the_same_body_is_a_page_where_it_is_small_enough(app: App, far_site: SiteProcess, encoding: str) -> None:
    """The bombs are what they say they are: of one megabyte all of it arrives."""
    path = f"/bomb?as={encoding}&mb=1"
    crawled = await crawl(app, far_site, path)
    assert crawled.states == {path: "done"}
    assert crawled.records[path]["bytes"] == 1024 * 1024
    assert len(packed(encoding, 200)) < 250_000
