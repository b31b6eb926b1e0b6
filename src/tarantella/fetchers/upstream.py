"""How a gateway reaches a server: at the addresses that the guard has checked, or through the proxy that the user named."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from tarantella.domain.failure import Failure
from tarantella.domain.url import Url
from tarantella.fetchers.addresses import Address, parse_address
from tarantella.fetchers.contract import FetchError, Options
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.proxy import ProxyAddress, parse_proxy
from tarantella.fetchers.translation import IN_WORDS, proxy_failure

LONGEST_HEAD = 64 * 1024
_DETAILS = {
    errno.ECONNREFUSED: "refused",
    errno.ECONNRESET: "reset",
    errno.ENETUNREACH: "unreachable",
    errno.EHOSTUNREACH: "unreachable",
    errno.EMFILE: "open_files",
}


class Wire(NamedTuple):
    """A connection to a server, or to a proxy that wants to be told of each request where it goes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    wants_address: bool = False
    authorization: bytes | None = None


class Upstream:
    """The ways out for one run."""

    def __init__(self, guard: Guard, options: Options) -> None:
        self._guard = guard
        self._networks = options.allow_networks
        self._seconds = options.connect_timeout
        self._proxy = parse_proxy(options.proxy) if options.proxy is not None else None
        self._near_proxy = options.near_proxy

    async def tunnel(self, url: Url) -> Wire:
        """A connection that carries whatever is put on it to this server."""
        if self._proxy is None:
            return await self._direct(url)
        wire = await self._to_proxy(url, self._proxy)
        if not self._proxy.scheme.startswith("socks"):
            await self._within(_ask_for_tunnel(wire, url))
        return wire._replace(wants_address=False, authorization=None)

    async def plain(self, url: Url) -> Wire:
        """A connection for requests in the clear."""
        return await (self._direct(url) if self._proxy is None else self._to_proxy(url, self._proxy))

    async def _direct(self, url: Url) -> Wire:
        found = await self._guard.addresses(url, self._networks)
        try:
            return Wire(*await self._dial(found, url.port))
        except TimeoutError:
            raise FetchError(Failure.TIMEOUT, "connect", f"{url.host} did not accept a connection in time.") from None
        except OSError as error:
            detail = _DETAILS.get(error.errno or 0, "connect")
            words = IN_WORDS[detail].format(host=url.host, port=url.port)
            raise FetchError(Failure.NETWORK, detail, f"{words}.") from None

    async def _to_proxy(self, url: Url, proxy: ProxyAddress) -> Wire:
        await self._guard.check_by_name(url, self._networks)
        try:
            found = await self._guard.proxy_addresses(proxy.url, self._networks, near=self._near_proxy)
        except FetchError as error:
            raise error if error.failure is Failure.DENIED else proxy_failure("dns") from None
        tls = ssl.create_default_context() if proxy.scheme == "https" else None
        try:
            reader, writer = await self._dial(found, proxy.port, tls, proxy.host if tls else None)
        except TimeoutError:
            raise proxy_failure("timeout") from None
        except OSError as error:
            raise proxy_failure(_DETAILS.get(error.errno or 0, "connect")) from None
        if proxy.scheme.startswith("socks"):
            await self._within(_greet_socks(reader, writer, proxy, url))
            return Wire(reader, writer)
        return Wire(reader, writer, wants_address=True, authorization=_authorization(proxy))

    async def _within(self, talk: asyncio.Future[None] | object) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await talk  # type: ignore[misc]
        except TimeoutError:
            raise proxy_failure("timeout") from None
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            raise proxy_failure("protocol") from None

    async def _dial(
        self, addresses: Sequence[Address], port: int, tls: ssl.SSLContext | None = None, name: str | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The first of these addresses that answers, within the time for all of them."""
        refusal: OSError | None = None
        async with asyncio.timeout(self._seconds):
            for address in addresses:
                try:
                    reader, writer = await asyncio.open_connection(
                        str(address), port, ssl=tls, server_hostname=name, limit=LONGEST_HEAD
                    )
                except OSError as error:
                    refusal = error
                    continue
                with suppress(OSError):
                    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return reader, writer
        raise refusal or OSError("no address")


def _authorization(proxy: ProxyAddress) -> bytes | None:
    if not proxy.username and not proxy.password:
        return None
    return b"Basic " + b64encode(f"{proxy.username}:{proxy.password}".encode())


async def _ask_for_tunnel(wire: Wire, url: Url) -> None:
    lines = [f"CONNECT {url.host}:{url.port} HTTP/1.1", f"Host: {url.host}:{url.port}", "", ""]
    if wire.authorization is not None:
        lines.insert(2, f"Proxy-Authorization: {wire.authorization.decode()}")
    wire.writer.write("\r\n".join(lines).encode("latin-1"))
    answer = await wire.reader.readuntil(b"\r\n\r\n")
    status = int(answer.split(b" ", 2)[1][:3])
    if status == 407:
        raise proxy_failure("auth")
    if not 200 <= status < 300:
        raise proxy_failure("tunnel")


async def _greet_socks(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: ProxyAddress, url: Url
) -> None:
    """RFC 1928 and 1929. The site's name is the proxy's to resolve."""
    named = bool(proxy.username or proxy.password)
    writer.write(b"\x05\x01\x02" if named else b"\x05\x01\x00")
    version, method = await reader.readexactly(2)
    if version != 5:
        raise proxy_failure("protocol")
    if method == 2 and named:
        user, password = proxy.username.encode(), proxy.password.encode()
        writer.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
        if (await reader.readexactly(2))[1] != 0:
            raise proxy_failure("auth")
    elif method != 0:
        raise proxy_failure("auth")
    writer.write(b"\x05\x01\x00" + _socks_address(url.host) + url.port.to_bytes(2, "big"))
    _, reply, _, kind = await reader.readexactly(4)
    if reply != 0:
        raise proxy_failure("tunnel")
    length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    await reader.readexactly(length + 2)


def _socks_address(host: str) -> bytes:
    address = parse_address(host)
    if address is not None:
        return (b"\x01" if address.version == 4 else b"\x04") + address.packed
    name = host.encode("ascii")
    return b"\x03" + bytes([len(name)]) + name
