"""The replay strategy: asks a recorded question over plain HTTP, and nobody but the server that it was recorded at."""

from __future__ import annotations

from tarantella.domain.url import Url
from tarantella.fetchers.contract import Request, Response
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher

ACCEPT = "application/json, */*;q=0.5"


class ApiReplayFetcher:
    """Sends what a request says beside its address: a method, headers, a body. A redirect is handed back, never followed."""

    def __init__(self, guard: Guard) -> None:
        self._http = HttpFetcher(guard)

    async def fetch(self, request: Request) -> Response:
        """The answer; raises FetchError and nothing else."""
        headers = {"accept": ACCEPT, **(request.headers or {})}
        # What was recorded for one server, its credentials above all, is not for another.
        return await self._http.fetch(request._replace(headers=headers, follows=_never))

    async def close(self) -> None:
        await self._http.close()


def _never(_: Url) -> bool:
    return False
