"""Stands where a strategy would be that this machine lacks, and says what to do about it."""

from __future__ import annotations

from tarantella.domain.failure import MISSING, Failure
from tarantella.fetchers.contract import FetchError, Request, Response


class MissingFetcher:
    """Fails every page that needs it, at once and for good; nothing escalates to it."""

    def __init__(self, why: str) -> None:
        self.why = why

    async def fetch(self, request: Request) -> Response:
        raise FetchError(Failure.BROWSER, MISSING, self.why)

    async def close(self) -> None:
        pass
