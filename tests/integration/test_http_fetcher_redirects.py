"""Redirects are followed on the same host, handed back for another, and never followed for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.fetchers.redirects import FINAL_DETAILS
from tests.site import Call, Reply, Site
from tests.site import Request as Received

OPTIONS = Options("Test/1", allow_networks=("127.0.0.0/8",), total_timeout=5.0)


class Setting:
    def __init__(self, site: Site, guard: Guard) -> None:
        self.site = site
        self.fetcher = HttpFetcher(guard)
        self.received: list[Received] = []

    async def get(self, path: str, options: Options = OPTIONS, hops: int = 0) -> Response:
        return await self.fetcher.fetch(Request(resolve(self.site.url_for(path)), options, hops))

    async def failure(self, path: str, options: Options = OPTIONS, hops: int = 0) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await self.get(path, options, hops)
        return caught.value

    def redirect(self, path: str, to: str, *cookies: str) -> None:
        self.answer(
            path,
            Reply(302, b"moved", headers=(("Location", to), *(("Set-Cookie", each) for each in cookies))),
        )

    def answer(self, path: str, reply: Reply | Callable[[Received], Reply]) -> None:
        async def handler(call: Call) -> Reply:
            self.received.append(call.request)
            return reply(call.request) if callable(reply) else reply

        self.site.routes[path] = handler


def tell(story: Callable[[Setting], Awaitable[None]], guard: Guard | None = None) -> None:
    async def run() -> None:
        async with Site() as site:
            the = Setting(site, guard or Guard())
            await story(the)
            await the.fetcher.close()

    asyncio.run(run())


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_on_the_same_host_is_followed(code: int) -> None:
    async def story(the: Setting) -> None:
        response = await the.get(f"/redirect?to=/ok%23part&code={code}")
        assert (response.url, response.status, response.hops) == (the.site.url_for("/ok"), 200, 1)
        assert b"All is well." in response.body

    tell(story)


def test_hops_are_counted_from_where_the_page_came_and_up_to_the_limit() -> None:
    async def story(the: Setting) -> None:
        assert (await the.get("/redirect-chain?n=10")).hops == 10
        assert (await the.get("/redirect-chain?n=7", hops=3)).hops == 10
        for path, hops in (("/redirect-chain?n=11", 0), ("/redirect-chain?n=8", 3)):
            error = await the.failure(path, hops=hops)
            assert (error.failure, error.detail) == (Failure.BAD_RESPONSE, "too_many_redirects")
            assert error.detail in FINAL_DETAILS

    tell(story)


def test_two_addresses_that_point_at_each_other_are_a_loop() -> None:
    async def story(the: Setting) -> None:
        error = await the.failure("/redirect-loop")
        assert (error.failure, error.detail) == (Failure.BAD_RESPONSE, "redirect_loop")
        assert error.detail in FINAL_DETAILS
        assert len(the.site.hits) == 2

    tell(story)


def test_a_site_that_wants_its_cookie_back_at_the_same_address_gets_it() -> None:
    def gate(request: Received) -> Reply:
        if request.header("cookie") == "pass=yes":
            return Reply(200, b"inside")
        return Reply(302, headers=(("Location", request.target), ("Set-Cookie", "pass=yes; Path=/")))

    async def story(the: Setting) -> None:
        the.answer("/gate", gate)
        response = await the.get("/gate?x=1")
        assert (response.body, response.hops) == (b"inside", 1)

    tell(story)


def test_cookies_of_the_chain_follow_paths_and_replace_those_of_the_run() -> None:
    jar = ({"domain": "127.0.0.1", "path": "/", "name": "sid", "value": "old", "secure": "false"},)

    async def story(the: Setting) -> None:
        the.redirect("/a", "/b/c", "sid=new; Path=/", "deep=1; Path=/b", "other=1; Path=/z", "locked=1; Secure")
        the.answer("/b/c", Reply(200))
        await the.get("/a", replace(OPTIONS, cookies=jar))
        assert [request.header("cookie") for request in the.received] == ["sid=old", "deep=1; sid=new"]

    tell(story)


def test_a_redirect_to_another_host_is_handed_back() -> None:
    async def story(the: Setting) -> None:
        there = the.site.url_for("/ok?x=1", "127.0.0.2")
        the.redirect("/a", "/b", "secret=1; Path=/")
        the.redirect("/b", there + "#part")
        response = await the.get("/a", hops=2)
        assert response.redirect_to == resolve(there)
        assert (response.hops, response.body, response.status) == (4, b"", 302)
        assert [each.name for each in response.cookies] == ["secret"]
        assert response.url == the.site.url_for("/b")
        assert [hit.path for hit in the.site.hits] == ["/a", "/b"]

    tell(story)


def test_another_port_of_the_same_host_is_followed_and_checked() -> None:
    async def story(the: Setting) -> None:
        async with Site() as other:
            the.redirect("/a", other.url_for("/ok"))
            assert (await the.get("/a")).url == other.url_for("/ok")
            closed = HttpFetcher(Guard(refused_endpoints={("127.0.0.1", other.port)}))
            with pytest.raises(FetchError) as caught:
                await closed.fetch(Request(resolve(the.site.url_for("/a")), OPTIONS))
            assert caught.value.detail == "control_plane"

    tell(story)


def test_credentials_do_not_follow_to_another_port_of_the_host_or_to_another_host() -> None:
    async def story(the: Setting) -> None:
        async with Site() as other:
            seen: list[Received] = []

            async def look(call: Call) -> Reply:
                seen.append(call.request)
                return Reply(200)

            other.routes["/look"] = look
            given = ({"domain": "127.0.0.1", "path": "/", "name": "own", "value": "1", "secure": "false"},)
            options = replace(
                OPTIONS,
                headers={"Authorization": "Bearer s3cret"},
                trusted_servers=frozenset({f"127.0.0.1:{the.site.port}"}),
                cookies=given,
            )
            the.redirect("/port", other.url_for("/look"), "set=1; Path=/")
            await the.get("/port", options)
            the.redirect("/host", other.url_for("/look", "127.0.0.2"), "set=1; Path=/")
            away = await the.get("/host", options)
            assert away.redirect_to is not None
            await the.fetcher.fetch(Request(away.redirect_to, options, away.hops, away.cookies))
        assert [request.header("authorization") for request in the.received] == ["Bearer s3cret"] * 2
        assert [request.header("authorization") for request in seen] == ["", ""]
        # Cookies know hosts, not ports.
        assert [request.header("cookie") for request in seen] == ["own=1; set=1", ""]
        assert [(request.method, request.body) for request in seen] == [("GET", b"")] * 2

    tell(story)


def test_a_redirect_that_may_not_be_followed_at_once_is_handed_back() -> None:
    async def story(the: Setting) -> None:
        the.redirect("/a", "/b")
        the.redirect("/b", "/closed")
        request = Request(resolve(the.site.url_for("/a")), OPTIONS, follows=lambda url: "closed" not in url.href)
        response = await the.fetcher.fetch(request)
        assert response.redirect_to == resolve(the.site.url_for("/closed"))
        assert (response.url, response.hops) == (the.site.url_for("/b"), 2)
        assert [hit.path for hit in the.site.hits] == ["/a", "/b"]

    tell(story)


def test_a_redirect_into_a_private_network_is_handed_back_and_then_denied() -> None:
    async def story(the: Setting) -> None:
        the.redirect("/a", "http://169.254.169.254/latest/meta-data/")
        target = (await the.get("/a")).redirect_to
        assert target is not None
        with pytest.raises(FetchError) as caught:
            await the.fetcher.fetch(Request(target, OPTIONS, 1))
        assert caught.value.failure is Failure.DENIED

    tell(story)


@pytest.mark.parametrize("to", ["file:///etc/passwd", "javascript:alert(1)", "gopher://x/", "FTP://x/"])
def test_another_scheme_is_denied(to: str) -> None:
    async def story(the: Setting) -> None:
        the.redirect("/a", to)
        error = await the.failure("/a")
        assert (error.failure, error.detail) == (Failure.DENIED, "scheme")

    tell(story)


@pytest.mark.parametrize("to", ["http://", "http://[", "http://exa mple.com/", "//", "/" + "x" * 9000])
def test_an_address_that_is_none_is_a_bad_redirect(to: str) -> None:
    async def story(the: Setting) -> None:
        the.redirect("/a", to)
        error = await the.failure("/a")
        assert (error.failure, error.detail) == (Failure.BAD_RESPONSE, "bad_redirect")
        assert error.detail in FINAL_DETAILS
        assert len(error.message) < 300

    tell(story)


def test_careless_addresses_are_understood_as_browsers_do() -> None:
    async def story(the: Setting) -> None:
        the.answer("/café", Reply(200, b"raw"))
        the.answer("/caf%C3%A9", Reply(200, b"coffee"))
        the.redirect("/a", "/café")
        the.redirect("/b", "  /ok  ")
        the.redirect("/c", r"\ok")
        the.redirect("/d", "")
        assert (await the.get("/a")).body == b"coffee"
        assert (await the.get("/b")).url == (await the.get("/c")).url == the.site.url_for("/ok")
        assert (await the.failure("/d")).detail == "redirect_loop"

    tell(story)


def test_a_redirect_without_an_address_is_an_ordinary_response() -> None:
    async def story(the: Setting) -> None:
        the.answer("/a", Reply(302, b"nowhere"))
        response = await the.get("/a")
        assert (response.status, response.body, response.redirect_to) == (302, b"nowhere", None)

    tell(story)


def test_all_hops_together_have_one_time_limit() -> None:
    async def story(the: Setting) -> None:
        async def slowly(call: Call) -> Reply:
            await asyncio.sleep(0.15)
            return Reply(302, headers=(("Location", f"/slowly?n={call.request.integer('n', 0) + 1}"),))

        the.site.routes["/slowly"] = slowly
        error = await the.failure("/slowly", replace(OPTIONS, total_timeout=0.4))
        assert (error.failure, error.detail) == (Failure.TIMEOUT, "total")
        assert len(the.site.hits) == 3

    tell(story)


def test_a_secret_in_an_address_is_not_repeated() -> None:
    async def story(the: Setting) -> None:
        the.redirect("/a", "ftp://user:pa55word@x/?token=s3cret")
        message = (await the.failure("/a")).message
        assert "pa55word" not in message
        assert "s3cret" not in message

    tell(story)
