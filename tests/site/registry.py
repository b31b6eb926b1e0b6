"""Which handler answers which path."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.site.reply import Reply
from tests.site.request import Request

if TYPE_CHECKING:
    from tests.site.server import Site


@dataclass(frozen=True, slots=True)
class Call:
    """A request together with the wire that it came on."""

    request: Request
    site: Site
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Put bytes on the wire as they are."""
        self.writer.write(data)
        await self.writer.drain()
        # drain() doesn't suspend while the socket takes everything: an endless body would starve the others.
        await asyncio.sleep(0)


# A handler that returns None has written to the wire itself; the connection is closed behind it.
Handler = Callable[[Call], Awaitable[Reply | None]]

ROUTES: dict[str, Handler] = {}


def route(*paths: str) -> Callable[[Handler], Handler]:
    """Register a handler for these paths; a path that ends with a slash stands for all below it."""

    def register(handler: Handler) -> Handler:
        for path in paths:
            if path in ROUTES:
                raise ValueError(f"{path} has a handler already")
            ROUTES[path] = handler
        return handler

    return register


def find(routes: dict[str, Handler], path: str) -> Handler | None:
    """The handler of this very path, else of the nearest folder above it."""
    if handler := routes.get(path):
        return handler
    while (cut := path.rstrip("/").rfind("/")) > 0:
        path = path[: cut + 1]
        if handler := routes.get(path):
            return handler
    return None
