"""The HTTP strategy over real sockets: what it sends, what it gives back, and whom it dials."""

from __future__ import annotations

import asyncio
import gzip
import socket
import zlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count

import pytest

from tarantella.domain.cookie import Cookie
from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers import FETCHERS, Means, default_user_agent
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tests.site import Call, Reply, Site
from tests.site import Request as Received

LOOPBACK = ("127.0.0.0/8",)
OPTIONS = Options(default_user_agent(), allow_networks=LOOPBACK, total_timeout=5.0)


class Setting:
    """A site, a fetcher, and everything that the site was sent."""

    def __init__(self, site: Site, fetcher: HttpFetcher) -> None:
        self.site = site
        self.fetcher = fetcher
        self.received: list[Received] = []

    async def get(self, path: str, options: Options = OPTIONS, host: str | None = None) -> Response:
        return await self.fetcher.fetch(self.request(path, options, host))

    async def failure(self, path: str, options: Options = OPTIONS) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await self.get(path, options)
        return caught.value

    def request(self, path: str, options: Options = OPTIONS, host: str | None = None) -> Request:
        return Request(resolve(self.site.url_for(path, host)), options)

    def answer(self, path: str, *replies: Reply) -> None:
        """Answer this path with these replies, the last of them for ever."""
        left = list(replies)

        async def handler(call: Call) -> Reply:
            self.received.append(call.request)
            return left.pop(0) if len(left) > 1 else left[0]

        self.site.routes[path] = handler


def tell(story: Callable[[Setting], Awaitable[None]], guard: Guard | None = None) -> None:
    async def run() -> None:
        async with Site() as site:
            fetcher = HttpFetcher(guard or Guard())
            try:
                await story(Setting(site, fetcher))
            finally:
                await fetcher.close()

    asyncio.run(run())


def ok(body: bytes = b"ok", headers: Iterable[tuple[str, str]] = ()) -> Reply:
    return Reply(200, body, headers=tuple(headers))


def test_a_page_comes_with_its_body_and_its_headers() -> None:
    async def story(the: Setting) -> None:
        headers = [
            ("ETag", '"1"'),
            ("X-Other", "no"),
            ("Link", "<a>"),
            ("link", "<b>"),
            ("Set-Cookie", "a=b"),
        ]
        the.answer("/page", ok(b"<p>hello</p>", headers))
        response = await the.get("/page?x=1")
        assert (response.url, response.status, response.body) == (
            the.site.url_for("/page?x=1"),
            200,
            b"<p>hello</p>",
        )
        told = {name: response.headers[name] for name in ("content-type", "etag", "link", "x-other")}
        assert told == {
            "content-type": "text/html; charset=utf-8",
            "etag": '"1"',
            "link": "<a>, <b>",
            "x-other": "no",
        }
        assert {*told, "set-cookie"} <= set(response.headers) and len(response.headers) == len(set(response.headers))
        assert "retry-after" not in response.headers and response.headers.get("retry-after", "never") == "never"
        assert (response.hops, response.redirect_to) == (0, None)

    tell(story)


def test_the_site_is_told_who_asks() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok())
        await the.get("/page")
        [request] = the.received
        assert request.header("user-agent") == default_user_agent()
        assert request.header("user-agent").startswith("Tarantella/")
        assert "text/html" in request.header("accept")
        assert request.header("cookie") == request.header("referer") == ""

    tell(story)


@pytest.mark.parametrize("status", [204, 304, 404, 500, 999])
def test_any_status_is_a_response(status: int) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(status, b"" if status in (204, 304) else b"x"))
        assert (await the.get("/page")).status == status

    tell(story)


def test_pages_of_one_host_share_connections() -> None:
    async def story(the: Setting) -> None:
        peers = set()

        async def handler(call: Call) -> Reply:
            peers.add(call.writer.get_extra_info("peername"))
            return ok()

        the.site.routes["/page"] = handler
        for _ in range(5):
            # A run's options are one object, but those who build equal ones share all the same.
            await the.get("/page", replace(OPTIONS))
        assert len(peers) == 1

    tell(story)


def test_the_number_of_clients_is_bounded_and_one_that_is_forgotten_finishes_its_work() -> None:
    async def story(the: Setting) -> None:
        fetcher = HttpFetcher(Guard(), max_clients=2)
        slow = asyncio.create_task(fetcher.fetch(the.request("/slow?s=0.3")))
        await the.site.until(lambda: len(the.site.hits) == 1)
        for number in range(2, 9):
            await fetcher.fetch(the.request("/ok", host=f"127.0.0.{number}"))
        assert len(fetcher._clients._pinned) == 2
        assert (await slow).status == 200

    tell(story)


def test_the_registry_makes_a_fetcher() -> None:
    async def story(the: Setting) -> None:
        fetcher = FETCHERS["http"](Guard(), Means())
        assert (await fetcher.fetch(the.request("/ok"))).status == 200
        await fetcher.close()

    tell(story)


# --- whom it dials


def test_a_denied_address_is_never_dialled() -> None:
    async def story(the: Setting) -> None:
        error = await the.failure("/ok", replace(OPTIONS, allow_networks=()))
        assert error.failure is Failure.DENIED
        assert the.site.hits == []

    tell(story)


def test_a_name_leads_to_the_address_that_was_checked_and_to_no_other() -> None:
    # This machine knows "localhost" as 127.0.0.1, but the guard was told otherwise.
    guard = Guard(dns=Dns(lambda host: ["127.0.0.5"]))

    async def story(the: Setting) -> None:
        seen = []

        async def handler(call: Call) -> Reply:
            seen.append(call.writer.get_extra_info("sockname")[0])
            return ok()

        the.site.routes["/page"] = handler
        for host in ("localhost", "localhost.", "LOCALHOST", "invented.test", "xn--bcher-kva.test"):
            assert (await the.get("/page", host=host)).status == 200
        assert seen == ["127.0.0.5"] * 5

    tell(story, guard)


def test_the_host_header_keeps_the_name() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok())
        await the.get("/page", host="invented.test")
        assert the.received[0].host == f"invented.test:{the.site.port}"

    tell(story, Guard(dns=Dns(lambda host: ["127.0.0.1"])))


def test_a_name_that_moves_into_a_private_network_is_denied_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tarantella.fetchers.clients.RECHECK_SECONDS", 0.0)
    answers = iter((["127.0.0.1"], ["10.0.0.1"]))

    async def story(the: Setting) -> None:
        assert (await the.get("/ok", host="rebound.test")).status == 200
        with pytest.raises(FetchError) as caught:
            await the.get("/ok", host="rebound.test")
        assert caught.value.failure is Failure.DENIED

    tell(story, Guard(dns=Dns(lambda host: next(answers), ttl=0.0)))


def test_a_name_that_moves_is_followed_to_its_new_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarantella.fetchers.clients.RECHECK_SECONDS", 0.0)
    answers = iter((["127.0.0.1"], ["127.0.0.5"]))

    async def story(the: Setting) -> None:
        seen = []

        async def handler(call: Call) -> Reply:
            seen.append(call.writer.get_extra_info("sockname")[0])
            return ok()

        the.site.routes["/page"] = handler
        await the.get("/page", host="moving.test")
        await the.get("/page", host="moving.test")
        assert seen == ["127.0.0.1", "127.0.0.5"]

    tell(story, Guard(dns=Dns(lambda host: next(answers), ttl=0.0)))


def test_a_second_address_is_tried_when_the_first_refuses() -> None:
    async def story(the: Setting) -> None:
        assert (await the.get("/ok", host="two.test")).status == 200

    # The site listens on 127.0.0.1 to 127.0.0.9.
    tell(story, Guard(dns=Dns(lambda host: ["127.0.0.77", "127.0.0.1"])))


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def story(the: Setting) -> None:
        assert (await the.get("/ok")).status == 200

    tell(story)


# --- credentials and cookies


def with_secrets(trusted: str) -> Options:
    return replace(OPTIONS, headers={"Authorization": "Bearer s3cret"}, trusted_servers=frozenset({trusted}))


def test_headers_go_to_trusted_servers_only() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok())
        options = with_secrets(f"127.0.0.1:{the.site.port}")
        await the.get("/page", options)
        await the.get("/page", options, host="127.0.0.2")
        await the.get("/page", options)
        assert [request.header("authorization") for request in the.received] == [
            "Bearer s3cret",
            "",
            "Bearer s3cret",
        ]

    tell(story)


def test_a_page_that_came_over_from_another_host_gets_no_credentials_in_the_clear() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok())
        await the.fetcher.fetch(the.request("/page", with_secrets(f"127.0.0.1:{the.site.port}"))._replace(hops=1))
        assert the.received[0].header("authorization") == ""

    tell(story)


def test_cookies_are_sent_where_they_belong() -> None:
    jar = (
        {"domain": "127.0.0.1", "path": "/shop", "name": "a", "value": "1", "secure": "false"},
        {"domain": "127.0.0.1", "path": "/", "name": "b", "value": "2", "secure": "true"},
        {"domain": "127.0.0.2", "path": "/", "name": "c", "value": "3", "secure": "false"},
    )

    async def story(the: Setting) -> None:
        trusted = frozenset({f"127.0.0.1:{the.site.port}"})
        options = replace(OPTIONS, cookies=jar, headers={"cookie": "own=0"}, trusted_servers=trusted)
        the.answer("/shop/x", ok())
        the.answer("/", ok())
        await the.get("/shop/x", options)
        await the.get("/", options)
        await the.get("/", options, host="127.0.0.2")
        await the.fetcher.fetch(the.request("/")._replace(cookies=(Cookie("kept", "4", "127.0.0.1"),)))
        sent = [request.header("cookie") for request in the.received]
        assert sent == ["own=0; a=1", "own=0", "c=3", "kept=4"]

    tell(story)


def test_what_a_site_sets_is_handed_back_and_forgotten_by_the_fetcher() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok(headers=[("Set-Cookie", "a=b; Path=/"), ("Set-Cookie", "junk"), ("Set-Cookie", "c=d")]))
        response = await the.get("/page")
        assert [(each.name, each.value, each.path) for each in response.cookies] == [("a", "b", "/"), ("c", "d", "/")]
        await the.get("/page")
        assert the.received[1].header("cookie") == ""

    tell(story)


def test_an_error_page_may_set_cookies_too() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(403, b"prove it", headers=(("Set-Cookie", "challenge=1"),)))
        assert [each.name for each in (await the.get("/page")).cookies] == ["challenge"]

    tell(story)


# --- bodies


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip", "deflate", "raw deflate", "gzip, deflate", "identity"])
def test_bodies_are_decoded(encoding: str) -> None:
    text = b"<p>squeezed</p>" * 1000
    raw = zlib.compressobj(wbits=-15)
    bodies = {
        "deflate": zlib.compress(text),
        "raw deflate": raw.compress(text) + raw.flush(),
        "gzip, deflate": zlib.compress(gzip.compress(text)),
        "identity": text,
    }

    async def story(the: Setting) -> None:
        body = bodies.get(encoding, gzip.compress(text))
        the.answer("/page", ok(body, [("Content-Encoding", encoding.removeprefix("raw "))]))
        assert (await the.get("/page")).body == text

    tell(story)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"<p>squeezed</p>" * 400) + gzip.compress(b"<p>squeezed</p>" * 600)),
        ("gzip", gzip.compress(b"<p>squeezed</p>" * 1000) + b"and a few bytes more"),
        ("br", bytes.fromhex("1b973af89d07362ef4b9f34f54f394c1d5a997b92c23d32b9fb8783004684806803c1b02")),
        ("zstd", bytes.fromhex("28b52ffd609839bd0000783c703e73717565657a65643c2f703e010086 5af85907")),
    ],
)
def test_what_we_did_not_ask_for_is_decoded_too(encoding: str, body: bytes) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok(body, [("Content-Encoding", encoding)]))
        assert (await the.get("/page")).body == b"<p>squeezed</p>" * 1000
        assert the.received[0].header("accept-encoding") == "gzip, deflate"

    tell(story)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "gzip, gzip, gzip"])
def test_a_body_that_is_not_what_its_encoding_says_is_a_decode_failure(encoding: str) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok(b"<p>plain</p>" * 50, [("Content-Encoding", encoding)]))
        error = await the.failure("/page")
        assert (error.failure, error.detail) == (Failure.NETWORK, "decode")

    tell(story)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_half_of_a_compressed_body_is_a_decode_failure_and_none_of_it_is_empty(encoding: str) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok(gzip.compress(b"x" * 1000)[:-9], [("Content-Encoding", encoding)]))
        assert (await the.failure("/page")).detail == "decode"
        the.answer("/page", ok(b"", [("Content-Encoding", encoding)]))
        assert (await the.get("/page")).body == b""

    tell(story)


def test_a_body_may_be_as_large_as_the_limit_and_no_larger() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok(b"x" * 1000))
        assert len((await the.get("/page", replace(OPTIONS, max_body=1000, max_decoded=1000))).body) == 1000
        error = await the.failure("/page", replace(OPTIONS, max_body=999))
        assert (error.failure, error.detail) == (Failure.TOO_LARGE, "body")
        error = await the.failure("/page", replace(OPTIONS, max_decoded=999))
        assert (error.failure, error.detail) == (Failure.TOO_LARGE, "decoded")

    tell(story)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_a_compressed_body_is_measured_by_what_comes_out(encoding: str) -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", ok(gzip.compress(b"x" * 100_000), [("Content-Encoding", encoding)]))
        assert len((await the.get("/page", replace(OPTIONS, max_decoded=100_000))).body) == 100_000
        error = await the.failure("/page", replace(OPTIONS, max_decoded=99_999))
        assert (error.failure, error.detail) == (Failure.TOO_LARGE, "decoded")

    tell(story)


def test_a_large_error_page_is_still_that_error() -> None:
    async def story(the: Setting) -> None:
        the.answer("/page", Reply(404, b"x" * 1_000_000))
        response = await the.get("/page", replace(OPTIONS, max_body=1000))
        assert (response.status, len(response.body)) == (404, 256 * 1024)

    tell(story)


@pytest.mark.parametrize("encoding", ["identity", "gzip", "x-gzip"])
def test_the_beginning_of_a_body_can_be_asked_for(encoding: str) -> None:
    async def story(the: Setting) -> None:
        text = bytes(range(256)) * 400
        body = text if encoding == "identity" else gzip.compress(text)
        the.answer("/page", ok(body, [("Content-Encoding", encoding)]))
        plain = the.request("/page", replace(OPTIONS, max_body=10))
        start = Request(plain.url, plain.options, cut=1000)
        assert (await the.fetcher.fetch(start)).body == text[:1000]
        assert (await the.fetcher.fetch(start._replace(cut=1_000_000))).body == text

    tell(story)


# --- stopping


def test_a_cancelled_page_lets_go_of_its_connection() -> None:
    async def story(the: Setting) -> None:
        async def half(call: Call) -> None:
            await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 50)
            await asyncio.Event().wait()

        the.site.routes["/half"] = half
        for path in ("/never", "/half"):
            page = asyncio.create_task(the.get(path, replace(OPTIONS, total_timeout=60.0)))
            await the.site.until(lambda: any(hit.end is None for hit in the.site.hits))
            # Time for the first half to arrive, so that the body is being read.
            await asyncio.wait([page], timeout=0.1)
            page.cancel()
            with pytest.raises(asyncio.CancelledError):
                await page
            # The site notices that the client has left, and its request ends.
            await the.site.until(lambda: all(hit.end is not None for hit in the.site.hits))

    tell(story)


def test_closing_lets_go_of_idle_connections() -> None:
    async def story(the: Setting) -> None:
        gone = asyncio.Event()

        async def handler(call: Call) -> Reply:
            asyncio.get_running_loop().create_task(watch(call.reader)).add_done_callback(lambda _: gone.set())
            return ok()

        async def watch(reader: asyncio.StreamReader) -> None:
            while not reader.at_eof():
                await asyncio.sleep(0.01)

        the.site.routes["/page"] = handler
        await the.get("/page")
        assert not gone.is_set()
        await the.fetcher.close()
        await asyncio.wait_for(gone.wait(), 5)

    tell(story)


def test_a_port_where_nobody_listens_refuses() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = resolve(f"http://127.0.0.1:{unused.getsockname()[1]}/")

        async def story(the: Setting) -> None:
            with pytest.raises(FetchError) as caught:
                await the.fetcher.fetch(Request(url, OPTIONS))
            assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "refused")
            assert caught.value.message == f"127.0.0.1 refuses connections on port {url.port}."

        tell(story)


@pytest.mark.parametrize("kept", [1, 4])
def test_connections_that_the_server_has_closed_meanwhile_cost_nothing(kept: int) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            if next(connections) < kept:
                # Answered together, so that as many are kept open.
                await together.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
            # It has had enough of this connection, which it did not say, and the next request crosses its end.
            await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async def story() -> list[int]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        fetcher = HttpFetcher(Guard())

        async def fetch(number: int) -> int:
            return (await fetcher.fetch(Request(resolve(f"http://127.0.0.1:{port}/{number}"), OPTIONS))).status

        async with server:
            found = [*await asyncio.gather(*map(fetch, range(kept))), *[await fetch(number) for number in range(20)]]
            await fetcher.close()
        return found

    connections, together = count(), asyncio.Barrier(kept)
    assert asyncio.run(story()) == [200] * (kept + 20)


def test_a_server_that_never_answers_is_asked_once() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        fetcher = HttpFetcher(Guard())
        url = resolve(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        async with server:
            with pytest.raises(FetchError):
                await fetcher.fetch(Request(url, OPTIONS))

    asyncio.run(story())
    assert connections == 1
