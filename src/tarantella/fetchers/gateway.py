"""The way out for what is not ours: a proxy on loopback that dials what the guard has checked, and nothing else.

Each context of a browser has a gateway of its own, so that what one run may reach is not open to the pages of another.
Whatever a page asks for comes through here: documents, redirects, frames, scripts' requests, sockets and workers.
Scrapers that may only ask so often have one, too, which lets them wait for their turn.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from tarantella.domain.failure import Failure
from tarantella.domain.url import Unfetchable, Url, resolve
from tarantella.fetchers.contract import FetchError, Options
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.peers import is_ours
from tarantella.fetchers.upstream import Upstream, Wire

LONGEST_HEAD = 256 * 1024
HEAD_SECONDS = 60.0
PIECE = 64 * 1024
MOST_FAILURES = 1_000
MARK = "x-tarantella-gateway"
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class _Head(NamedTuple):
    method: str
    target: str
    lines: list[bytes]

    def header(self, name: bytes) -> bytes | None:
        start = name + b":"
        return next((line[len(start) :].strip() for line in self.lines if line.lower().startswith(start)), None)


Turn = Callable[[Url], Awaitable[None]]


class Gateway:
    """One port on loopback, for one context or, with a `turn` that is waited for before each request, for one scraper."""

    def __init__(self, guard: Guard, options: Options, turn: Turn | None = None) -> None:
        self.mark = secrets.token_hex(16)  # tells our own refusals from what sites answer
        self.received = 0  # bytes from outside
        self._options = options
        self._turn = turn
        self._upstream = Upstream(guard, options)
        self._failures: dict[tuple[str, int], FetchError] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LONGEST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def failure_at(self, url: Url) -> FetchError | None:
        """What went wrong lately on the way to this server, taken away."""
        return self._failures.pop((url.host, url.port), None)

    # -- one connection of the browser

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            if is_ours(writer.get_extra_info("peername"), writer.get_extra_info("sockname")):
                await self._serve(reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # one of the two sides is gone, or makes no sense
        except asyncio.CancelledError:
            pass  # the gateway is being closed; asyncio's server would complain of a task that ends so
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await _read_head(reader)
        tunnel = head.method == "CONNECT"
        try:
            # Read as browsers read it, so that no way to write a host is one to us and another to the guard.
            url = resolve(f"https://{head.target}/" if tunnel else head.target)
        except Unfetchable:
            writer.write(_BAD_REQUEST)
            return
        if self._turn is not None:
            await self._turn(url)
        elif not tunnel and _is_icon(url):
            writer.write(_NOT_FOUND)
            return
        try:
            wire = await (self._upstream.tunnel(url) if tunnel else self._upstream.plain(url))
        except FetchError as error:
            self._note(url, error)
            writer.write(self._refusal(error))
            await writer.drain()
            return
        try:
            answer = self._answer
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                forth: Awaitable[None] = _pass_on(reader, wire.writer)
            elif self._turn is not None:
                forth, answer = self._ask_once(head, url, reader, wire), self._answer_once
            else:
                forth = self._ask(head, url, reader, wire)
            await _either(forth, answer(wire.reader, writer))
        finally:
            wire.writer.close()

    async def _ask_once(self, head: _Head, url: Url, reader: asyncio.StreamReader, wire: Wire) -> None:
        """Pass one request on, and have the connection end with its answer, however long that takes.

        Scripts keep one connection to a proxy for all hosts, and don't ask again when it ends before an answer.
        """
        wire.writer.write(_rewritten(head._replace(lines=_closing(head.lines)), url, wire))
        await _pass_body(head, reader, wire.writer)
        await reader.read(1)  # it is gone, or asks again where it was told not to

    async def _ask(self, head: _Head, url: Url, reader: asyncio.StreamReader, wire: Wire) -> None:
        """Pass requests for one server on, as it expects them; a request for another ends the connection."""
        while True:
            wire.writer.write(_rewritten(head, url, wire))
            await _pass_body(head, reader, wire.writer)
            head = await _read_head(reader)
            following = resolve(head.target)
            if (following.host, following.port, following.scheme) != (url.host, url.port, url.scheme) or _is_icon(
                following
            ):
                return  # the browser asks again, on a connection of its own
            url = following

    async def _answer_once(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The answer, which says that the connection ends with it: not every server does."""
        with suppress(asyncio.LimitOverrunError):  # then it is passed on as it is
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                while _is_interim(head):
                    writer.write(head)
                    head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as error:
                writer.write(error.partial)
            else:
                first, *lines = head[:-4].split(b"\r\n")
                self.received += len(head)
                writer.write(b"\r\n".join([first, *_closing(lines), b"", b""]))
        await self._answer(reader, writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(PIECE):
            self.received += len(piece)
            writer.write(piece)
            await writer.drain()

    def _note(self, url: Url, error: FetchError) -> None:
        if len(self._failures) >= MOST_FAILURES:
            self._failures.clear()
        self._failures[url.host, url.port] = error

    def _refusal(self, error: FetchError) -> bytes:
        status = "403 Forbidden" if error.failure is Failure.DENIED else "502 Bad Gateway"
        return f"HTTP/1.1 {status}\r\n{MARK}: {self.mark}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def _closing(lines: list[bytes]) -> list[bytes]:
    """Headers that say that the connection ends after this."""
    others = [line for line in lines if not line.lower().startswith((b"connection:", b"keep-alive:"))]
    return [*others, b"Connection: close"]


def _is_interim(head: bytes) -> bool:
    return head.partition(b" ")[2].startswith(b"1") and not head.partition(b" ")[2].startswith(b"101")


def _is_icon(url: Url) -> bool:
    """Browsers ask every site for its icon, which no page wants: a request that the site need not be troubled with."""
    return url.href.endswith("/favicon.ico") and url.href.count("/") == 3


async def _read_head(reader: asyncio.StreamReader) -> _Head:
    async with asyncio.timeout(HEAD_SECONDS):
        data = await reader.readuntil(b"\r\n\r\n")
    first, *lines = data[:-4].split(b"\r\n")
    method, target, _ = first.decode("latin-1").split(" ")
    return _Head(method, target, lines)


def _rewritten(head: _Head, url: Url, wire: Wire) -> bytes:
    """The request as the next hop expects it: a server wants a path, a proxy the whole address and who we are."""
    path = url.href[url.href.index("/", len(url.scheme) + 3) :]
    target = url.href if wire.wants_address else path
    lines = [
        line for line in head.lines if not line.lower().startswith((b"proxy-connection:", b"proxy-authorization:"))
    ]
    if wire.authorization:
        lines.append(b"Proxy-Authorization: " + wire.authorization)
    return b"\r\n".join([f"{head.method} {target} HTTP/1.1".encode("latin-1"), *lines, b"", b""])


async def _pass_body(head: _Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if (head.header(b"transfer-encoding") or b"").lower() == b"chunked":
        while True:
            size = await reader.readuntil(b"\r\n")
            length = int(size.partition(b";")[0], 16)
            writer.write(size)
            writer.write(await reader.readexactly(length + 2))
            await writer.drain()
            if not length:
                return
    left = int(head.header(b"content-length") or 0)
    while left > 0:
        piece = await reader.read(min(left, PIECE))
        if not piece:
            raise EOFError
        left -= len(piece)
        writer.write(piece)
        await writer.drain()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    # The other side may still have something to say; it ends the connection.
    await asyncio.Event().wait()


async def _either(forth: Awaitable[None], back: Awaitable[None]) -> None:
    """Until one of the two has ended."""
    tasks = {asyncio.ensure_future(forth), asyncio.ensure_future(back)}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
