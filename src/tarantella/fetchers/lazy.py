"""A strategy that is made when the first page needs it, because most runs never do."""

from __future__ import annotations

from collections.abc import Callable

from tarantella.fetchers.contract import Fetcher, Request, Response


class LazyFetcher:
    """Stands for a fetcher whose libraries take long to load."""

    def __init__(self, make: Callable[[], Fetcher]) -> None:
        self._make = make
        self._made: Fetcher | None = None

    async def fetch(self, request: Request) -> Response:
        if self._made is None:
            self._made = self._make()
        return await self._made.fetch(request)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()
