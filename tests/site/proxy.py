"""A tiny forward proxy for tests, which never dials anything but loopback."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.site.reply import page
from tests.site.request import HEAD_LIMIT, BadRequestError, Request, read_request

HOST = "127.0.0.1"
DIAL_SECONDS = 5.0
PIPE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Seen:
    """One request to the proxy: `target` is `host:port` for CONNECT, else the absolute URL."""

    method: str
    target: str
    authorization: str


class RefusedError(Exception):
    """The proxy will not pass this request on."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class Proxy:
    """A forward proxy for CONNECT and absolute-form requests; `async with Proxy() as proxy` runs it.

    `auth` asks for basic credentials, `hosts` says where invented host names live, `refuse_with` answers
    every request with that status, and `hang_up` closes every connection without an answer.
    """

    def __init__(
        self,
        *,
        auth: tuple[str, str] | None = None,
        hosts: Mapping[str, tuple[str, int]] | None = None,
        refuse_with: int | None = None,
        hang_up: bool = False,
    ) -> None:
        self.auth = auth
        self.hosts = dict(hosts or {})
        self.refuse_with = refuse_with
        self.hang_up = hang_up
        self.seen: list[Seen] = []
        self.port = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The proxy's address, without credentials."""
        return f"http://{HOST}:{self.port}"

    @property
    def url_with_credentials(self) -> str:
        user, password = self.auth or ("", "")
        return f"http://{user}:{password}@{HOST}:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, 0, limit=HEAD_LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        connections = tuple(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        connection.add_done_callback(lambda _: writer.transport.abort())
        if self._server is None:
            connection.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one request on; a new one needs a new connection."""
        try:
            request = await read_request(reader)
            if request is None:
                return
            self.seen.append(Seen(request.method, request.target, request.header("proxy-authorization")))
            if not self.hang_up:
                await self._pass_on(request, reader, writer)
            writer.close()
            await writer.wait_closed()
        except (OSError, BadRequestError):
            pass

    async def _pass_on(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._check(request)
            site_reader, site_writer = await self._dial(request)
        except RefusedError as refusal:
            headers = {"proxy_authenticate": 'Basic realm="test proxy"'} if refusal.status == 407 else {}
            reply = page("Refused by the proxy", status=refusal.status, **headers)
            writer.write(reply.encode(keep_alive=False, head_only=request.method == "HEAD"))
            await writer.drain()
            return
        try:
            if request.method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                site_writer.write(_origin_form(request))
            await _pipe_both_ways((reader, site_writer), (site_reader, writer))
        finally:
            site_writer.transport.abort()

    def _check(self, request: Request) -> None:
        if self.refuse_with is not None:
            raise RefusedError(self.refuse_with)
        if self.auth is not None:
            expected = b64encode(":".join(self.auth).encode()).decode()
            if request.header("proxy-authorization") != f"Basic {expected}":
                raise RefusedError(407)

    async def _dial(self, request: Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = _destination(request)
        address, port = self.hosts.get(host, (host, port))
        if not _is_loopback(address):
            raise RefusedError(403)
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                return await asyncio.open_connection(address, port)
        except (OSError, TimeoutError) as error:
            raise RefusedError(502) from error


def _destination(request: Request) -> tuple[str, int]:
    url = request.target if request.method != "CONNECT" else f"//{request.target}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError as error:
        raise RefusedError(400) from error
    if not host:
        raise RefusedError(400)
    return host, port


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _origin_form(request: Request) -> bytes:
    """The request as the site should see it: a path, no proxy headers, one request per connection."""
    parts = urlsplit(request.target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    own = {"proxy-authorization", "proxy-connection", "connection"}
    headers = [f"{name}: {value}" for name, value in request.headers if name.lower() not in own]
    lines = [f"{request.method} {path} HTTP/1.1", *headers, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + request.body


async def _pipe_both_ways(*ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Carry bytes until one side is done; what was already read is delivered."""
    pipes = [asyncio.create_task(_pipe(reader, writer)) for reader, writer in ways]
    try:
        await asyncio.wait(pipes, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pipe in pipes:
            pipe.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(PIPE_BYTES):
        writer.write(data)
        await writer.drain()
