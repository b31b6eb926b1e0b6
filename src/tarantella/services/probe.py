"""A quick look at a site, to find out which strategy it takes. It is no attempt, and it never fails anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from tarantella.domain.errors import InvalidInput
from tarantella.domain.failure import Failure
from tarantella.domain.job import strategy_after
from tarantella.domain.learning import REFUSALS
from tarantella.domain.spec import Spec
from tarantella.domain.struct import Frozen, replace
from tarantella.domain.url import Url, start_url
from tarantella.engine.served import options_of
from tarantella.engine.tools import Tools
from tarantella.extractors.page import Wants
from tarantella.fetchers.contract import FetchError, Options, Request
from tarantella.fetchers.robots import RobotsUnreachable
from tarantella.fetchers.single_flight import Flights
from tarantella.fetchers.ttl_cache import Memory
from tarantella.log import log

SECONDS = 2.0
MOST_AT_ONCE = 20
MOST_HOPS = 5
KNOWN_SECONDS = 5.0  # a site that was looked at a moment ago is not looked at again
MOST_KNOWN = 1_000
_WANTS = Wants(text="none", links=False)


class TargetDenied(InvalidInput):
    code = "target_denied"


class Probed(Frozen):
    """Which strategy a site takes, and how that is known."""

    strategy: str
    why: str
    refusal: Failure | None = None  # how the site refused a plain client, if it did
    is_known: bool = False  # nobody had to look for it now


class Prober:
    """Looks at sites through the guard. What is needed for that is made when the first look is asked for."""

    def __init__(self, make_tools: Callable[[], Tools], *, seconds: float = SECONDS) -> None:
        self._make_tools = make_tools
        self._seconds = seconds
        self._tools: Tools | None = None
        self._flights: Flights[tuple[object, ...], Probed] = Flights()
        self._known: Memory[tuple[object, ...], Probed] = Memory(KNOWN_SECONDS, MOST_KNOWN)

    async def resolve(self, spec: Spec, address: str) -> Probed:
        """The strategy for a site, within two seconds. Those who ask for the same at the same time get the same answer."""
        url = start_url(address)
        key = (url.href, spec.allow_networks)
        if (known := self._known.get(key)) is not None:
            return replace(known, is_known=True)
        if len(self._flights) >= MOST_AT_ONCE and key not in self._flights:
            return Probed(strategy_after(None), "too many sites are being looked at")
        found = await self._flights.join(key, lambda: self._look(spec, url))
        self._known.put(key, found)
        return found

    async def warning(self, url: Url, allow_networks: tuple[str, ...]) -> str | None:
        """What there is to say of an address before anything is fetched; one that is denied is refused."""
        try:
            async with asyncio.timeout(self._seconds):
                await self._made().guard.addresses(url, allow_networks, within=self._seconds)
        except FetchError as error:
            if error.failure is Failure.DENIED:
                raise TargetDenied(
                    error.message.partition(" To fetch it")[0],
                    field="target_url",
                    remedy="Start the server with --allow-network to reach private networks.",
                ) from None
            return f"{error.message} Runs will fail until that changes."
        except TimeoutError:
            return f"No address for {url.host} was found within {self._seconds:g} seconds."
        return None

    async def close(self) -> None:
        if self._tools is not None:
            await self._tools.close()
            self._tools = None

    def _made(self) -> Tools:
        if self._tools is None:
            self._tools = self._make_tools()
        return self._tools

    async def _look(self, spec: Spec, url: Url) -> Probed:
        try:
            async with asyncio.timeout(self._seconds):
                failure, why = await self._visit(spec, url)
        except TimeoutError:
            failure, why = None, f"no answer within {self._seconds:g} seconds"
        except Exception as error:
            log.exception("A probe went wrong", action="probe_broken", url=url.href)
            failure, why = None, type(error).__name__
        return Probed(strategy_after(failure), why, failure if failure in REFUSALS else None)

    async def _visit(self, spec: Spec, url: Url) -> tuple[Failure | None, str]:
        """What the site does to a plain client, and how that is known."""
        tools, options = self._made(), options_of(spec)
        request = Request(url, options)
        for _ in range(MOST_HOPS):
            if spec.obey_robots and not await _is_allowed(tools, request.url, options):
                return None, "robots.txt asks crawlers to stay away"
            visit = await tools.visitors["http"].visit(request, _WANTS, False)
            if visit.redirect_to is None:
                break
            request = request._replace(url=visit.redirect_to, hops=visit.hops)
        else:
            return None, "too many redirects"
        if visit.failure is not None:
            return visit.failure, visit.detail or visit.failure.value
        if visit.extracted is not None and visit.extracted.shell is not None:
            return Failure.NEEDS_RENDER, f"an empty page that scripts would fill: {visit.extracted.shell}"
        return None, f"HTTP {visit.status}"


async def _is_allowed(tools: Tools, url: Url, options: Options) -> bool:
    with suppress(RobotsUnreachable, FetchError):
        rules = await tools.robots.rules(url, options)
        return rules.allowed(url.href, options.user_agent)
    return True  # the fetch will say what is wrong
