"""With a proxy everything goes through it, never past it, and its password stays between us."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.fetchers.proxy import parse_proxy
from tests.site import Proxy, Site

OPTIONS = Options("Test/1", total_timeout=3.0, connect_timeout=1.0)
PASSWORD = "pa55:w@rd"
ENCODED = "pa55%3Aw%40rd"


def unknown_here(host: str) -> list[str]:
    raise OSError(host)


def guard(**known: str) -> Guard:
    """A guard on a machine that knows only these names (an underscore stands for a dot)."""

    def look_up(host: str) -> list[str]:
        address = known.get(host.replace(".", "_"))
        return [address] if address else unknown_here(host)

    return Guard(dns=Dns(look_up))


async def fetch(href: str, proxy: str, by: Guard | None = None, options: Options = OPTIONS) -> Response:
    fetcher = HttpFetcher(by or guard())
    return await fetcher.fetch(Request(resolve(href), replace(options, proxy=proxy)))


async def failure(href: str, proxy: str, by: Guard | None = None) -> FetchError:
    with pytest.raises(FetchError) as caught:
        await fetch(href, proxy, by)
    assert "pa55" not in repr(caught.value) + str(caught.value) + caught.value.message
    assert caught.value.__context__ is None or "pa55" not in repr(caught.value.__context__)
    return caught.value


def tell(story: Callable[[Site], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Site() as site:
            await story(site)

    asyncio.run(run())


def hosts(site: Site) -> dict[str, tuple[str, int]]:
    return {"invented.test": ("127.0.0.1", site.port)}


@asynccontextmanager
async def socks(site: Site, seen: list[tuple[object, ...]], refuse: int = 0) -> AsyncIterator[int]:
    """A SOCKS5 proxy that asks for a password, and takes every name for the site's."""

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x02")
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        password = await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x01\x00")
        kind = (await reader.readexactly(4))[3]
        host = await reader.readexactly((await reader.readexactly(1))[0]) if kind == 3 else await reader.readexactly(4)
        await reader.readexactly(2)
        seen.append((user, password, kind, host))
        writer.write(b"\x05%c\x00\x01" % refuse + bytes(6))
        if refuse:
            await writer.drain()
            writer.close()
            return
        site_reader, site_writer = await asyncio.open_connection("127.0.0.1", site.port)
        await asyncio.gather(pipe(reader, site_writer), pipe(site_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def test_a_page_comes_through_the_proxy_with_our_credentials() -> None:
    async def story(site: Site) -> None:
        async with Proxy(auth=("me", PASSWORD), hosts=hosts(site)) as proxy:
            address = f"http://me:{ENCODED}@127.0.0.1:{proxy.port}"
            assert (await fetch("http://invented.test/ok", address)).status == 200
            assert [seen.target for seen in proxy.seen] == ["http://invented.test/ok"]
            assert [hit.host for hit in site.hits] == ["invented.test"]

    tell(story)


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "SOCKS5"])
def test_a_socks_proxy_is_given_the_name_and_our_credentials(scheme: str) -> None:
    async def story(site: Site) -> None:
        seen: list[tuple[object, ...]] = []
        async with socks(site, seen) as port:
            response = await fetch("http://invented.test/ok", f"{scheme}://me:{ENCODED}@127.0.0.1:{port}")
            assert response.status == 200
            assert seen == [(b"me", PASSWORD.encode(), 3, b"invented.test")]

    tell(story)


def test_a_proxy_s_name_leads_to_the_address_that_was_checked() -> None:
    async def story(site: Site) -> None:
        async with Proxy(hosts=hosts(site)) as proxy:
            by = guard(proxy_test="127.0.0.1")
            assert (await fetch("http://invented.test/ok", f"http://proxy.test:{proxy.port}", by)).status == 200

    tell(story)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_dead_proxy_is_a_proxy_failure_and_nobody_goes_past_it(scheme: str) -> None:
    async def story(site: Site) -> None:
        by = guard(localhost="127.0.0.1")
        options = replace(OPTIONS, allow_networks=("127.0.0.0/8",))
        for href in (site.url_for("/ok"), site.url_for("/ok", "localhost")):
            with pytest.raises(FetchError) as caught:
                await fetch(href, f"{scheme}://127.0.0.1:9", by, options)
            assert (caught.value.failure, caught.value.detail) == (Failure.PROXY, "refused")
        assert site.hits == []

    tell(story)


def test_no_proxy_in_the_environment_does_not_lead_past_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")

    async def story(site: Site) -> None:
        async with Proxy() as proxy:
            options = replace(OPTIONS, allow_networks=("127.0.0.0/8",))
            assert (await fetch(site.url_for("/ok"), proxy.url, options=options)).status == 200
            assert len(proxy.seen) == 1

    tell(story)


@pytest.mark.parametrize(
    "address",
    ["ftp://127.0.0.1:9", "socks4://127.0.0.1:9", "127.0.0.1:9", "http://", "http://[", "", "unix:///x"],
)
def test_a_proxy_that_can_t_be_used_is_a_failure_and_nobody_goes_past_it(address: str) -> None:
    async def story(site: Site) -> None:
        options = replace(OPTIONS, allow_networks=("127.0.0.0/8",))
        with pytest.raises(FetchError) as caught:
            await fetch(site.url_for("/ok"), address, options=options)
        assert (caught.value.failure, caught.value.detail) == (Failure.PROXY, "address")
        assert site.hits == []

    tell(story)


def test_wrong_credentials_are_a_proxy_failure() -> None:
    async def story(site: Site) -> None:
        async with Proxy(auth=("me", "right"), hosts=hosts(site)) as proxy:
            address = f"http://me:{ENCODED}@127.0.0.1:{proxy.port}"
            for href in ("http://invented.test/ok", "https://invented.test/ok"):
                error = await failure(href, address)
                assert (error.failure, error.detail) == (Failure.PROXY, "auth")

    tell(story)


def test_a_proxy_that_finds_no_way_is_a_proxy_failure() -> None:
    async def story(site: Site) -> None:
        async with Proxy(refuse_with=502) as proxy:
            assert (await failure("https://invented.test/ok", proxy.url)).detail == "tunnel"
            # Over plain http it could be the site's own answer.
            assert (await fetch("http://invented.test/ok", proxy.url)).status == 502
        seen: list[tuple[object, ...]] = []
        async with socks(site, seen, refuse=5) as port:
            error = await failure("http://invented.test/ok", f"socks5://me:{ENCODED}@127.0.0.1:{port}")
            assert (error.failure, error.detail) == (Failure.PROXY, "tunnel")

    tell(story)


@pytest.mark.parametrize("href", ["http://invented.test/ok", "https://invented.test/ok"])
def test_a_proxy_that_hangs_up_is_a_proxy_failure(href: str) -> None:
    async def story(site: Site) -> None:
        async with Proxy(hang_up=True) as proxy:
            assert (await failure(href, proxy.url.replace("//", f"//me:{ENCODED}@"))).failure is Failure.PROXY

    tell(story)


def test_a_proxy_that_hangs_is_a_proxy_failure() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def story(site: Site) -> None:
        server = await asyncio.start_server(hang, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        options = replace(OPTIONS, connect_timeout=0.3)
        with pytest.raises(FetchError) as caught:
            await fetch("https://invented.test/", address, options=options)
        assert (caught.value.failure, caught.value.detail) == (Failure.PROXY, "timeout")
        server.close()

    tell(story)


def test_a_proxy_whose_name_is_unknown_is_a_proxy_failure() -> None:
    async def story(site: Site) -> None:
        error = await failure("http://invented.test/", f"http://me:{ENCODED}@nowhere.test:3128")
        assert (error.failure, error.detail) == (Failure.PROXY, "dns")

    tell(story)


def test_private_addresses_stay_denied_behind_a_proxy() -> None:
    async def story(site: Site) -> None:
        async with Proxy() as proxy:
            for href in (site.url_for("/ok"), "http://inside.test/", "http://169.254.169.254/"):
                error = await failure(href, proxy.url, guard(inside_test="10.0.0.1"))
                assert error.failure is Failure.DENIED
            assert proxy.seen == []

    tell(story)


def test_redirects_are_followed_through_the_proxy() -> None:
    async def story(site: Site) -> None:
        async with Proxy(hosts=hosts(site)) as proxy:
            response = await fetch("http://invented.test/redirect-chain?n=3", proxy.url)
            assert (response.status, response.hops, len(proxy.seen)) == (200, 3, 4)

    tell(story)


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("http://h", 80),
        ("https://h", 443),
        ("socks5://h", 1080),
        ("https://h:80/", 80),
        ("http://u:s3cr@t@h:8080", 8080),
    ],
)
def test_ports_are_read_as_written_or_as_usual(text: str, port: int) -> None:
    proxy = parse_proxy(text)
    assert (proxy.host, proxy.port) == ("h", port)
    assert "s3cr" not in repr(proxy)
