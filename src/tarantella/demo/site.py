"""The demo site's server: a gazette on loopback, at a port that the system chooses."""

from __future__ import annotations

import asyncio
from collections import Counter
from http import HTTPStatus
from types import TracebackType
from typing import Self

from tarantella.demo import content
from tarantella.demo.handlers import TEXT, Answer, Handlers
from tarantella.demo.wire import HEAD_LIMIT, BadRequestError, Request, encode, read_request

HOST = "127.0.0.1"
BACKLOG = 512
IDLE_SECONDS = 30.0
WRITE_SECONDS = 30.0
LINGER_SECONDS = 1.0


class DemoSite:
    """A small site to crawl; `async with DemoSite() as site` serves it while the block runs."""

    def __init__(self, *, port: int = 0, siesta_seconds: float = content.SIESTA_SECONDS) -> None:
        self._port = port
        self._handlers = Handlers(siesta_seconds)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address of the home page."""
        if self._server is None:
            raise RuntimeError("The demo site is not running: call start() first.")
        return f"http://{HOST}:{self._port}/"

    @property
    def hits(self) -> Counter[str]:
        """How often each path was asked for."""
        return self._handlers.hits

    async def start(self) -> None:
        """Begin to serve."""
        server = await asyncio.start_server(
            self._accept, HOST, self._port, limit=HEAD_LIMIT, backlog=BACKLOG, start_serving=False
        )
        self._port = server.sockets[0].getsockname()[1]
        self._server = server
        await server.start_serving()

    async def stop(self) -> None:
        """Stop serving at once; whoever is being served is cut off."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        connections = tuple(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not a coroutine: a connection must be known before its task has run for the first time, else
        # stop() could miss it.
        if self._server is None:
            writer.transport.abort()
            return
        connection = asyncio.create_task(self._converse(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        connection.add_done_callback(lambda _: writer.transport.abort())

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side has had enough."""
        try:
            while await self._exchange(reader, writer):
                pass
            await _hang_up(reader, writer)
        except (OSError, TimeoutError):
            pass

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request, and say whether another may follow."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                request = await read_request(reader)
        except BadRequestError as error:
            request = Request("GET", "/", keep_alive=False)
            answer = Answer(HTTPStatus.BAD_REQUEST, f"Bad request: {error}.\n".encode(), TEXT)
        else:
            if request is None:
                return False
            answer = await self._handlers.answer(request.method, request.target, request.cookie)
        writer.write(encode(request, answer))
        async with asyncio.timeout(WRITE_SECONDS):
            await writer.drain()
        return request.keep_alive


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close so that the last answer arrives: closing over unread input would reset the connection."""
    writer.write_eof()
    async with asyncio.timeout(LINGER_SECONDS):
        while await reader.read(HEAD_LIMIT):
            pass
