"""Answers that are sent piece by piece, to clients that may not read them, or not be allowed to any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tarantella.log import log

PATIENCE = 20.0  # seconds that a client may take to read what is waiting for it
LOOKS_EVERY = 0.5  # seconds between two looks whether a client may still have it; they share one read of the tokens
# In a request's scope: a function that drops its connection, and one that tells whether it would be let in now.
ABORT = "tarantella.abort"
IS_LET_IN = "tarantella.is_let_in"


class Chunks(Protocol):
    """Pieces of an answer, and a way to let go of where they come from."""

    def __aiter__(self) -> AsyncIterable[bytes]: ...

    async def aclose(self) -> None: ...


class Streamed(Response):
    """Sends what comes as it comes. A client that is gone, doesn't read, or has lost its token is let go of."""

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
        shut_out = asyncio.create_task(_shut_out(scope))
        tasks = (sending, gone, shut_out)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            elif shut_out.done():
                # Cut off, not ended: half an export must not look like all of it.
                _drop(scope, "A client was dropped: it would not be let in any more")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
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
            _drop(scope, "A client that did not read was dropped")


def _drop(scope: Scope, why: str) -> None:
    log.info(why, action="client_dropped", path=scope["path"])
    abort: Callable[[], None] | None = scope.get(ABORT)
    if abort is not None:
        abort()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _shut_out(scope: Scope) -> None:
    """Wait until whoever asked would not be let in any more."""
    is_let_in: Callable[[], Awaitable[bool]] | None = scope.get(IS_LET_IN)
    while True:
        await asyncio.sleep(LOOKS_EVERY)
        if is_let_in is not None and not await is_let_in():
            return
