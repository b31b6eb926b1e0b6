"""Lets scrapers ask sites only as often as they may, all of them together: the way out for their scripts is a gateway of ours."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial

from tarantella import __version__
from tarantella.domain.pace import Bucket
from tarantella.domain.scraper import RateLimit, Scraper
from tarantella.domain.url import Url
from tarantella.fetchers.contract import Options
from tarantella.fetchers.gateway import Gateway
from tarantella.fetchers.guard import Guard

# A script can reach whatever it likes without us; this is about how often, not about what.
_ANYWHERE = ("0.0.0.0/0", "::/0")
_LONGEST_WAIT = 3_600.0
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_NO_PROXY = "NO_PROXY"


class Pacer:
    """Gateways for the scrapers that have a limit, each opened when it is first needed."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._gateways: dict[str, Gateway] = {}
        self._buckets: dict[str, Bucket] = {}
        self._opening = asyncio.Lock()

    async def environment(self, scraper: Scraper) -> Mapping[str, str]:
        """What a script has to be told to go out through its gateway; nothing where it has no limit."""
        if scraper.rate_limit is None:
            return {}
        async with self._opening:
            if scraper.name not in self._gateways:
                options = Options(f"Tarantella/{__version__}", allow_networks=_ANYWHERE)
                gateway = Gateway(self._guard, options, partial(self._turn, limit=scraper.rate_limit))
                await gateway.start()
                self._gateways[scraper.name] = gateway
        address = f"http://127.0.0.1:{self._gateways[scraper.name].port}"
        told = {_NO_PROXY: "", _NO_PROXY.lower(): ""}
        return told | {name: address for each in _PROXIES for name in (each, each.lower())}

    async def close(self) -> None:
        for gateway in self._gateways.values():
            await gateway.close()

    async def _turn(self, url: Url, limit: RateLimit) -> None:
        bucket = self._buckets.setdefault(url.host, Bucket(limit.requests_per_second, limit.burst_size))
        bucket.be_stricter(limit.requests_per_second, limit.burst_size)
        await asyncio.sleep(min(bucket.wait(time.monotonic()), _LONGEST_WAIT))
