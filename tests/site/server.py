"""A raw HTTP/1.1 server for tests that is impolite when asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from tests.site.connection import Connection
from tests.site.hits import Hit, HitLog
from tests.site.registry import ROUTES, Call, Handler, find
from tests.site.reply import Reply, page
from tests.site.request import BadRequestError, Request, read_request
from tests.site.sockets import listen

REQUESTS_PER_CONNECTION = 1_000_000
CLOSE_SECONDS = 5.0

RobotsAnswer = str | int | Reply
Robots = RobotsAnswer | Callable[[Request], RobotsAnswer | Awaitable[RobotsAnswer]]


class Site:
    """The test site; `async with Site() as site` serves it on 127.0.0.1 to 127.0.0.9, all on one port."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, robots: Robots = 404) -> None:
        self.host = host
        self.port = port
        self.robots = robots
        self.routes: dict[str, Handler] = dict(ROUTES)
        self.counts: Counter[str] = Counter()
        self.log = HitLog()
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def url(self) -> str:
        """The address of the site, without a trailing slash."""
        return self.url_for("")

    def url_for(self, path: str, host: str | None = None) -> str:
        """The address of a path, on this site or on one of its sister hosts."""
        host = host or self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{path}"

    @property
    def hits(self) -> list[Hit]:
        return self.log.hits

    @property
    def peak(self) -> int:
        """The most requests that were ever in flight together."""
        return self.log.peak

    @property
    def peak_by_host(self) -> Counter[str]:
        """The same for each host name (Host header without port, in lower case)."""
        return self.log.peak_by_host

    async def until(self, condition: Callable[[], bool], seconds: float = 10.0) -> None:
        """Wait until the condition holds, looking at every beginning and end of a request."""
        async with asyncio.timeout(seconds):
            await self.log.until(condition)

    async def start(self) -> None:
        """Begin to serve; after a stop, on the same port as before."""
        self._stopping = False
        loop = asyncio.get_running_loop()
        listeners = listen(self.host, self.port)
        self.port = listeners[0].getsockname()[1]
        for listener in listeners:
            self._servers.append(await loop.create_server(self._connection, sock=listener))

    async def stop(self) -> None:
        """Stop at once; whoever is being served is cut off."""
        self._stopping = True
        servers, self._servers = self._servers, []
        for server in servers:
            server.close()
        connections = tuple(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for server in servers:
            await server.wait_closed()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _connection(self) -> Connection:
        return Connection(self._converse, self._register)

    def _register(self, task: asyncio.Task[None]) -> None:
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        if self._stopping:
            task.cancel()

    async def _converse(
        self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection until either side has had enough."""
        try:
            for _ in range(REQUESTS_PER_CONNECTION):
                if not await self._exchange(connection, reader, writer):
                    break
            writer.close()
            async with asyncio.timeout(CLOSE_SECONDS):
                await writer.wait_closed()
        except (OSError, TimeoutError):
            pass

    async def _exchange(
        self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request, and say whether another may follow."""
        try:
            request = await read_request(reader)
        except BadRequestError as error:
            writer.write(_refusal(error).encode(keep_alive=False, head_only=False))
            return False
        if request is None:
            return False
        hit = None if request.path.startswith("/_log") else self.log.begin(request)
        connection.answering = True
        try:
            return not connection.gone and await self._answer(Call(request, self, reader, writer))
        finally:
            connection.answering = False
            if hit is not None:
                self.log.finish(hit)

    async def _answer(self, call: Call) -> bool:
        request = call.request
        handler = find(self.routes, request.path) or _not_found
        try:
            reply = await handler(call)
        except BadRequestError as error:
            reply = _refusal(error)
        if reply is None:
            return False
        call.writer.write(reply.encode(keep_alive=request.keep_alive, head_only=request.method == "HEAD"))
        await call.writer.drain()
        return request.keep_alive


async def _not_found(call: Call) -> Reply:
    return page(f"No route for {call.request.path}", status=404)


def _refusal(error: BadRequestError) -> Reply:
    return page(f"Bad request: {error}", status=400)
