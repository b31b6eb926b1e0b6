"""Counts the requests to the API, and how long their answers took to begin."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
NO_ROUTE = "none"


class Traffic:
    """What was asked, by route: addresses as such are never counted, there is no end of them."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests[method if method in METHODS else "other", route, status] += 1
        self._buckets[route][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[route] += seconds

    def exposition(self) -> Iterator[str]:
        """The lines of Prometheus' text format."""
        yield "# HELP tarantella_http_requests_total Requests to the API, by route and status."
        yield "# TYPE tarantella_http_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"tarantella_http_requests_total{{{labels}}} {count}"
        name = "tarantella_http_response_seconds"
        yield f"# HELP {name} How long answers of the API took to begin."
        yield f"# TYPE {name} histogram"
        for route, buckets in sorted(self._buckets.items()):
            total = 0
            for limit, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
                total += count
                yield f'{name}_bucket{{route="{route}",le="{limit}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'


class Counting:
    """Around everything else, so that what is refused is counted too."""

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self._app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", NO_ROUTE)
                self._traffic.count(scope["method"], route, message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, send_counted)
