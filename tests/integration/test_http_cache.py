"""Answers are taken from the cache while they are fresh, asked about when they are stale, and never where they may not be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from pathlib import Path

import pytest

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.cached import CachedFetcher
from tarantella.fetchers.contract import Caching, FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.fetchers.robots import KEPT_SECONDS, MAX_BYTES
from tests.integration.crawling import LOOPBACK
from tests.site import Call, Reply, Site
from tests.site import Request as Received

CHANGED = formatdate(1_000_000, usegmt=True)


class Setting:
    """A site, and fetchers that share a cache; each `get` is a new process as far as they know."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.now = 1_000.0
        self.received: list[Received] = []
        self.options = Options(
            "Test/1", allow_networks=LOOPBACK, total_timeout=5.0, cache=Caching(str(folder), ttl=60.0)
        )

    async def get(self, path: str, options: Options | None = None, **about: object) -> Response:
        guard = Guard(dns=Dns(lambda host: ["127.0.0.1"]))
        fetcher = CachedFetcher(HttpFetcher(guard), guard, now=lambda: self.now)
        url = path if path.startswith("http") else self.site.url_for(path)
        try:
            return await fetcher.fetch(Request(resolve(url), options or self.options, **about))  # type: ignore[arg-type]
        finally:
            await fetcher.close()

    async def denial(self, path: str, options: Options) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await self.get(path, options)
        return caught.value

    def answer(self, path: str, reply: Callable[[Received], Reply] | Reply) -> None:
        async def handler(call: Call) -> Reply:
            self.received.append(call.request)
            return reply(call.request) if callable(reply) else reply

        self.site.routes[path] = handler


def tell(folder: Path, story: Callable[[Setting], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Site() as site:
            await story(Setting(site, folder))

    asyncio.run(run())


def test_a_fresh_answer_is_given_without_asking_the_site(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        headers = (("Set-Cookie", "sid=s3cret"), ("ETag", '"1"'), ("X-Other", "y"))
        the.answer("/page", Reply(200, b"<p>hello</p>", headers=headers))
        first = await the.get("/page")
        assert (first.from_cache, first.protocol, len(first.cookies)) == (False, "http/1.1", 1)
        await the.site.stop()
        the.now += 59
        second = await the.get("/page")
        assert (second.status, second.body, second.url) == (200, b"<p>hello</p>", first.url)
        assert (second.from_cache, second.protocol, second.cookies) == (True, "cache", ())
        assert dict(second.headers) == {"content-type": "text/html; charset=utf-8", "etag": '"1"'}
        assert len(the.received) == 1
        assert not any(b"s3cret" in path.read_bytes() for path in tmp_path.rglob("*.page"))

    tell(tmp_path, story)


def test_without_a_limit_answers_are_fresh_for_ever_and_a_limit_of_nothing_means_always_ask(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(200, b"hello"))
        await the.get("/page")
        the.now += 1e9
        assert (await the.get("/page", replace(the.options, cache=Caching(str(tmp_path))))).from_cache
        assert not (await the.get("/page", replace(the.options, cache=Caching(str(tmp_path), ttl=0.0)))).from_cache

    tell(tmp_path, story)


def test_a_stale_answer_that_has_not_changed_is_not_sent_again(tmp_path: Path) -> None:
    def reply(request: Received) -> Reply:
        headers = (("ETag", '"1"'), ("Last-Modified", CHANGED), ("Content-Language", f"x-{len(the_tags)}"))
        the_tags.append((request.header("if-none-match"), request.header("if-modified-since")))
        return Reply(
            304 if the_tags[-1][0] == '"1"' else 200, b"hello" if not the_tags[-1][0] else b"", headers=headers
        )

    the_tags: list[tuple[str, str]] = []

    async def story(the: Setting) -> None:
        the.answer("/page", reply)
        await the.get("/page")
        the.now += 61
        again = await the.get("/page")
        assert (again.status, again.body, again.from_cache, again.protocol) == (200, b"hello", True, "http/1.1")
        assert again.headers["content-language"] == "x-1"
        the.now += 59  # that made it fresh again
        assert (await the.get("/page")).protocol == "cache"
        assert the_tags == [("", ""), ('"1"', CHANGED)]

    tell(tmp_path, story)


def test_a_stale_answer_that_has_changed_is_replaced(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(200, b"old", headers=(("ETag", '"1"'),)))
        await the.get("/page")
        the.answer("/page", Reply(200, b"new", headers=(("ETag", '"2"'),)))
        the.now += 61
        assert (await the.get("/page")).body == b"new"
        again = await the.get("/page")
        assert (again.body, again.from_cache) == (b"new", True)

    tell(tmp_path, story)


def test_an_answer_that_was_damaged_is_fetched_again(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(200, b"hello"))
        await the.get("/page")
        [path] = tmp_path.rglob("*.page")
        path.write_bytes(path.read_bytes()[:-3])
        assert not (await the.get("/page")).from_cache
        assert (await the.get("/page")).from_cache

    tell(tmp_path, story)


@pytest.mark.parametrize(("status", "kept"), [(200, 1), (404, 1), (410, 1), (403, 0), (429, 0), (500, 0), (503, 0)])
def test_what_is_likely_to_be_otherwise_the_next_time_is_not_kept(tmp_path: Path, status: int, kept: int) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(status, b"hello"))
        await the.get("/page")
        assert (await the.get("/page")).from_cache is bool(kept)

    tell(tmp_path, story)


def test_an_answer_depends_on_what_the_user_sends(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(200, b"hello"))
        server = frozenset({f"127.0.0.1:{the.site.port}"})
        cookie = {"domain": "127.0.0.1", "path": "/", "name": "a", "value": "1", "secure": "false"}
        others = (
            replace(the.options, user_agent="Other/1"),
            replace(the.options, headers={"Authorization": "me"}, trusted_servers=server),
            replace(the.options, cookies=(cookie,)),
        )
        for options in (the.options, *others):
            assert not (await the.get("/page", options)).from_cache
            assert (await the.get("/page", options)).from_cache
        # Headers and cookies that this site would not see make no difference.
        elsewhere = replace(the.options, headers={"Authorization": "me"}, cookies=({**cookie, "domain": "x"},))
        assert (await the.get("/page", elsewhere)).from_cache
        assert not (await the.get("/page", cut=10)).from_cache

    tell(tmp_path, story)


def test_redirects_are_kept_with_where_they_led(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        await the.get("/redirect?to=/ok")
        there = the.site.url_for("/ok", "127.0.0.2")
        await the.get(f"/redirect?to={there}")
        asked = len(the.site.hits)
        here = await the.get("/redirect?to=/ok", hops=2)
        assert (here.url, here.hops, here.redirect_to) == (the.site.url_for("/ok"), 3, None)
        away = await the.get(f"/redirect?to={there}")
        assert (away.redirect_to, away.hops) == (resolve(there), 1)
        assert len(the.site.hits) == asked
        # Where the end of the way is forbidden by now, the site is asked, and stops before it.
        closed = await the.get("/redirect?to=/ok", follows=lambda url: False)
        assert closed.redirect_to == resolve(the.site.url_for("/ok"))

    tell(tmp_path, story)


def test_an_answer_that_came_by_redirects_is_asked_for_as_a_whole_when_it_is_stale(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(200, b"hello", headers=(("ETag", '"1"'),)))
        await the.get("/redirect?to=/page")
        the.now += 61
        assert not (await the.get("/redirect?to=/page")).from_cache
        assert [request.header("if-none-match") for request in the.received] == ["", ""]

    tell(tmp_path, story)


@pytest.mark.parametrize("host", ["127.0.0.1", "inside.test"])
def test_what_a_run_may_not_fetch_it_may_not_read_here_either(tmp_path: Path, host: str) -> None:
    async def story(the: Setting) -> None:
        url = the.site.url_for("/ok", host)
        await the.get(url)
        assert (await the.get(url)).from_cache
        error = await the.denial(url, replace(the.options, allow_networks=()))
        assert (error.failure, error.detail) == (Failure.DENIED, "address")

    tell(tmp_path, story)


def test_without_a_network_names_need_no_address(tmp_path: Path) -> None:
    def offline(host: str) -> list[str]:
        raise OSError("no network")

    async def story(the: Setting) -> None:
        url = the.site.url_for("/ok", "shop.test")
        await the.get(url)
        guard = Guard(dns=Dns(offline))
        fetcher = CachedFetcher(HttpFetcher(guard), guard, now=lambda: the.now)
        assert (await fetcher.fetch(Request(resolve(url), the.options))).from_cache

    tell(tmp_path, story)


def test_a_page_that_is_larger_than_this_run_wants_is_not_taken(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(200, b"x" * 1_000))
        await the.get("/page")
        error = await the.denial("/page", replace(the.options, max_decoded=999))
        assert error.failure is Failure.TOO_LARGE

    tell(tmp_path, story)


def test_robots_txt_is_asked_for_again_after_a_while_and_holds_while_it_can_t_be(tmp_path: Path) -> None:
    async def story(the: Setting) -> None:
        the.site.robots = "User-agent: *\nDisallow: /"
        options = replace(the.options, cache=Caching(str(tmp_path)))
        await the.get("/robots.txt", options, cut=MAX_BYTES)
        assert (await the.get("/robots.txt", options, cut=MAX_BYTES)).from_cache
        the.now += KEPT_SECONDS
        await the.site.stop()
        kept = await the.get("/robots.txt", options, cut=MAX_BYTES)
        assert (kept.from_cache, b"Disallow: /" in kept.body) == (True, True)
        await the.site.start()
        assert not (await the.get("/robots.txt", options, cut=MAX_BYTES)).from_cache

    tell(tmp_path, story)
