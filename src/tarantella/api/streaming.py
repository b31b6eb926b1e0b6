"""Answers that are sent piece by piece, and clients that don't read them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Mapping
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tarantella.log import log

PATIENCE = 20.0  # seconds that a client may take to read what is waiting for it
ABORT = "tarantella.abort"  # in a request's scope: a function that drops its connection


class Chunks(Protocol):
    """Pieces of an answer, and a way to let go of where they come from."""

    def __aiter__(self) -> AsyncIterable[bytes]: ...

    async def aclose(self) -> None: ...


class Streamed(Response):
    """Sends what comes as it comes. A client that is gone, or doesn't read, is let go of."""

    def __init__(
        self,
        chunks: Chunks,
        media_type: str,
        headers: Mapping[str, str] | None = None,
        *,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(None, 200, headers, media_type)
        del self.headers["content-length"]
        self._chunks = chunks
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send_all(scope, send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)
            await self._chunks.aclose()

    async def _send_all(self, scope: Scope, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for chunk in self._chunks:  # type: ignore[attr-defined]
                async with asyncio.timeout(self._patience):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            async with asyncio.timeout(self._patience):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            log.info("A client that did not read was dropped", action="client_dropped", path=scope["path"])
            abort: Callable[[], None] | None = scope.get(ABORT)
            if abort is not None:
                abort()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
