"""A connection that notices when its client leaves, also while an answer is being prepared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from tests.site.request import HEAD_LIMIT

Serve = Callable[["Connection", asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


class Connection(asyncio.StreamReaderProtocol):
    """One client; the task that serves it is cancelled when the client leaves in the middle of an answer."""

    def __init__(self, serve: Serve, register: Callable[[asyncio.Task[None]], None]) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(asyncio.StreamReader(limit=HEAD_LIMIT, loop=loop), self._begin, loop=loop)
        self._serve = serve
        self._register = register
        self._serving: asyncio.Task[None] | None = None
        self.answering = False
        self.gone = False

    def eof_received(self) -> bool:
        self._leave()
        super().eof_received()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving = asyncio.get_running_loop().create_task(self._serve(self, reader, writer))
        self._serving.add_done_callback(lambda _: writer.transport.abort())
        self._register(self._serving)

    def _leave(self) -> None:
        # Only while answering: a request that has arrived is still read and logged, whoever sent it.
        self.gone = True
        if self.answering and self._serving is not None:
            self._serving.cancel()
