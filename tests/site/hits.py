"""What the site was asked, when, and how much of it at once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass

from tests.site.request import Request


@dataclass(slots=True)
class Hit:
    """One request; `end` stays None while it is in flight. Times are monotonic seconds."""

    method: str
    path: str
    query: str
    host: str
    user_agent: str
    start: float
    end: float | None = None

    @property
    def hostname(self) -> str:
        """The Host header in lower case and without its port."""
        return hostname(self.host)


class HitLog:
    """Every hit, and the largest number of requests that were in flight together."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.in_flight = 0
        self.peak = 0
        self.peak_by_host: Counter[str] = Counter()
        self._in_flight_by_host: Counter[str] = Counter()
        self._watchers: list[asyncio.Future[None]] = []

    def begin(self, request: Request) -> Hit:
        hit = Hit(
            method=request.method,
            path=request.path,
            query=request.query,
            host=request.host,
            user_agent=request.header("user-agent"),
            start=time.monotonic(),
        )
        self.hits.append(hit)
        self.in_flight += 1
        self._in_flight_by_host[hit.hostname] += 1
        self._note_peak(hit.hostname)
        self._wake_watchers()
        return hit

    def finish(self, hit: Hit) -> None:
        hit.end = time.monotonic()
        self.in_flight -= 1
        self._in_flight_by_host[hit.hostname] -= 1
        self._wake_watchers()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds; it is looked at whenever a request begins or ends."""
        while not condition():
            watcher = asyncio.get_running_loop().create_future()
            self._watchers.append(watcher)
            await watcher

    def reset(self) -> None:
        """Forget the past; what is in flight now goes on counting towards the peaks."""
        self.hits.clear()
        self.peak = 0
        self.peak_by_host.clear()
        for name in +self._in_flight_by_host:
            self._note_peak(name)

    def as_json(self) -> dict[str, object]:
        return {
            "hits": [asdict(hit) for hit in self.hits],
            "in_flight": self.in_flight,
            "peak": self.peak,
            "peak_by_host": dict(self.peak_by_host),
        }

    def _wake_watchers(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)

    def _note_peak(self, name: str) -> None:
        self.peak = max(self.peak, self.in_flight)
        self.peak_by_host[name] = max(self.peak_by_host[name], self._in_flight_by_host[name])


def hostname(host: str) -> str:
    """A Host header in lower case and without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdecimal() else host.lower()
