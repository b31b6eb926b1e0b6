"""Secure connections: only to whom the certificate says, and with the secrets that need them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tests.site import Proxy

OPTIONS = Options("Test/1", allow_networks=("127.0.0.0/8",), total_timeout=5.0)


Answer = Callable[[bytes], bytes]


@asynccontextmanager
async def served(answer: Answer, certificate: Path | None = None) -> AsyncIterator[int]:
    """The port of a server that answers each request head with these bytes and hangs up."""
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.with_suffix(".pem"), certificate.with_suffix(".key"))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(answer(await reader.readuntil(b"\r\n\r\n")))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def page(body: bytes = b"hi") -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body)


def moved(to: str, *headers: str) -> bytes:
    lines = [
        "HTTP/1.1 302 Found",
        f"Location: {to}",
        "Content-Length: 0",
        "Connection: close",
        *headers,
        "",
        "",
    ]
    return "\r\n".join(lines).encode()


async def fetch(href: str, options: Options) -> Response:
    fetcher = HttpFetcher(Guard(dns=Dns(lambda host: ["127.0.0.1"])))
    return await fetcher.fetch(Request(resolve(href), options))


def with_authority(certificates: Path) -> Options:
    return replace(OPTIONS, ca_file=str(certificates / "ca.pem"))


@pytest.mark.parametrize("host", ["shop.test", "127.0.0.1"])
def test_a_certificate_of_a_given_authority_is_trusted(certificates: Path, host: str) -> None:
    async def story() -> None:
        async with served(lambda head: page(), certificates / "good") as port:
            assert (await fetch(f"https://{host}:{port}/", with_authority(certificates))).body == b"hi"

    asyncio.run(story())


def test_an_authority_that_stands_second_in_the_file_is_found(certificates: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_text(
        "Some words first.\n" + "".join((certificates / f"{n}.pem").read_text() for n in ("selfsigned", "ca"))
    )

    async def story() -> None:
        async with served(lambda head: page(), certificates / "good") as port:
            assert (await fetch(f"https://shop.test:{port}/", replace(OPTIONS, ca_file=str(both)))).status == 200

    asyncio.run(story())


@pytest.mark.parametrize("certificate", ["expired", "other", "selfsigned", "good without its authority"])
def test_a_certificate_that_can_t_be_trusted_is_refused(certificates: Path, certificate: str) -> None:
    name, *without = certificate.split(" ", 1)
    options = OPTIONS if without else with_authority(certificates)
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return page()

    async def story() -> None:
        async with served(answer, certificates / name) as port:
            with pytest.raises(FetchError) as caught:
                await fetch(f"https://shop.test:{port}/", options)
            assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "tls")
            assert caught.value.message.endswith("CERTIFICATE_VERIFY_FAILED.")

    asyncio.run(story())
    assert heads == []


def test_plain_http_behind_https_is_a_tls_failure() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        with pytest.raises(FetchError) as caught:
            await fetch(f"https://shop.test:{server.sockets[0].getsockname()[1]}/", OPTIONS)
        assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "tls")
        server.close()

    asyncio.run(story())


@pytest.mark.parametrize("text", [None, "", "junk", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_a_ca_file_that_is_none_is_named_and_nothing_is_dialled(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "ca.pem"
    if text is not None:
        path.write_text(text)
    with pytest.raises(FetchError, match=r"ca\.pem can't be read, or holds no PEM certificate") as caught:
        asyncio.run(fetch("https://shop.test:1/", replace(OPTIONS, ca_file=str(path))))
    assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "tls")


def test_a_server_that_hangs_in_the_handshake_is_a_connect_timeout() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(hang, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FetchError) as caught:
            await fetch(f"https://shop.test:{port}/", replace(OPTIONS, connect_timeout=0.3))
        assert (caught.value.failure, caught.value.detail) == (Failure.TIMEOUT, "connect")
        server.close()

    asyncio.run(story())


def test_https_goes_through_a_proxy_s_tunnel_and_is_checked_all_the_same(certificates: Path) -> None:
    async def through(certificate: str) -> Response:
        async with (
            served(lambda head: page(), certificates / certificate) as port,
            Proxy(hosts={"shop.test": ("127.0.0.1", port)}) as proxy,
        ):
            try:
                return await fetch("https://shop.test/", replace(with_authority(certificates), proxy=proxy.url))
            finally:
                assert [(seen.method, seen.target) for seen in proxy.seen] == [("CONNECT", "shop.test:443")]

    assert asyncio.run(through("good")).body == b"hi"
    with pytest.raises(FetchError) as caught:
        asyncio.run(through("other"))
    assert (caught.value.failure, caught.value.detail) == (Failure.NETWORK, "tls")


def test_from_https_to_http_go_no_credentials_and_back_they_do(certificates: Path) -> None:
    heads: dict[str, bytes] = {}
    ports: dict[str, int] = {}

    def secure(head: bytes) -> bytes:
        if b"GET /back" in head:
            heads["back"] = head
            return page()
        heads["start"] = head
        return moved(f"http://shop.test:{ports['plain']}/", "Set-Cookie: locked=1; Secure", "Set-Cookie: open=1")

    def plain(head: bytes) -> bytes:
        heads["plain"] = head
        return moved(f"https://shop.test:{ports['secure']}/back")

    async def story() -> None:
        async with served(secure, certificates / "good") as ports["secure"], served(plain) as ports["plain"]:
            options = replace(
                with_authority(certificates),
                headers={"Authorization": "Bearer s3cret"},
                trusted_servers=frozenset({f"shop.test:{ports['secure']}"}),
                cookies=({"domain": "shop.test", "path": "/", "name": "own", "value": "1", "secure": "true"},),
            )
            response = await fetch(f"https://shop.test:{ports['secure']}/", options)
            assert (response.hops, response.status) == (2, 200)

    asyncio.run(story())
    assert b"s3cret" in heads["start"]
    assert b"own=1" in heads["start"]
    assert b"s3cret" not in heads["plain"]
    assert b"cookie: open=1\r\n" in heads["plain"].lower()
    assert b"s3cret" in heads["back"]
    assert b"own=1; locked=1; open=1" in heads["back"]
