"""robots.txt: fetched once per origin, kept for hours, obeyed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from protego import Protego

from tarantella.domain.failure import Failure
from tarantella.domain.url import Url, resolve
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.http import HttpFetcher
from tarantella.fetchers.retry_after import parse_retry_after
from tarantella.fetchers.shared import Shared

MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5
MAX_CRAWL_DELAY = 60.0
KEPT_SECONDS = 6 * 3600.0
KEPT_ORIGINS = 10_000
# Parsing takes long enough to be noticed from about this size on.
SMALL_BYTES = 32 * 1024
# The parser gives each rule to every agent of its group: a small file can ask for a lot of work.
MAX_WORK = 200_000

_AGENT = ("user-agent", "useragent", "user agent")
_RULE = ("allow", "dis", "crawl")


class RobotsUnreachable(Exception):  # noqa: N818 - a state of affairs that the engine waits out
    """Nobody knows what is allowed here, so nothing is; `retry_after` is in seconds, if the site said."""

    def __init__(self, failure: Failure, detail: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.failure = failure
        self.detail = detail
        self.message = message
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class CrawlDelay:
    """The pause between two pages that a site asks for, and whether it asked for more than it gets."""

    seconds: float
    clamped: bool


class RobotsRules:
    """What one origin allows."""

    __slots__ = ("_rules", "sitemaps")

    def __init__(self, text: str = "") -> None:
        self._rules = Protego.parse(text)
        self.sitemaps: tuple[str, ...] = tuple(self._rules.sitemaps)

    def allowed(self, url: Url, user_agent: str) -> bool:
        return self._rules.can_fetch(url.href, product(user_agent))

    def crawl_delay(self, user_agent: str) -> CrawlDelay | None:
        seconds = self._rules.crawl_delay(product(user_agent))
        if seconds is None:
            return None
        return CrawlDelay(min(float(seconds), MAX_CRAWL_DELAY), clamped=seconds > MAX_CRAWL_DELAY)


class Robots:
    """The rules of the origins that were met lately."""

    def __init__(
        self,
        fetcher: HttpFetcher,
        *,
        ttl: float = KEPT_SECONDS,
        size: int = KEPT_ORIGINS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        # Runs that reach a site in other ways may find other rules there, or none.
        self._shared: Shared[tuple[object, ...], RobotsRules] = Shared(ttl, size, clock)

    async def rules(self, url: Url, options: Options) -> RobotsRules:
        """What this URL's origin allows. Raises RobotsUnreachable, or FetchError if the address is denied."""
        key = (url.origin, options.proxy, options.ca_file, options.allow_networks)
        return await self._shared.get(key, lambda: self._find_out(url, options))

    async def _find_out(self, url: Url, options: Options) -> RobotsRules:
        body = await self._fetch(url, options)
        if len(body) < SMALL_BYTES:
            return RobotsRules(_readable(body))
        return await asyncio.to_thread(lambda: RobotsRules(_readable(body)))

    async def _fetch(self, url: Url, options: Options) -> bytes:
        """The text of robots.txt; empty when there is none."""
        options = replace(options, max_redirects=MAX_REDIRECTS)
        request = Request(resolve("/robots.txt", base=url.href), options)
        try:
            response = await self._fetcher.fetch_start(request, MAX_BYTES)
            while response.redirect_to is not None:
                request = Request(response.redirect_to, options, hops=response.hops)
                response = await self._fetcher.fetch_start(request, MAX_BYTES)
        except FetchError as error:
            return _without_response(error, redirected=request.hops > 0)
        return _with_response(response)


def product(user_agent: str) -> str:
    """The name that a site knows a crawler by: of `Tarantella/0.1 (…)` the first word."""
    name = user_agent.partition("/")[0].strip()
    # A browser's name says nothing about who we are; then any word of the whole may be meant.
    return user_agent if not name or name.lower() == "mozilla" else name


def _without_response(error: FetchError, *, redirected: bool) -> bytes:
    if error.failure is Failure.BAD_RESPONSE or (redirected and error.failure is Failure.DENIED):
        # Redirects that lead nowhere, or where we don't go, are as good as no file.
        return b""
    if error.failure is Failure.DENIED:
        raise error
    raise RobotsUnreachable(error.failure, error.detail, f"robots.txt could not be read: {error.message}")


def _with_response(response: Response) -> bytes:
    status = response.status
    if 200 <= status < 300:
        return response.body
    if status == 429 or status >= 500:
        failure = Failure.RATE_LIMITED if status == 429 else Failure.BAD_RESPONSE
        wait = parse_retry_after(response.headers.get("retry-after"), time.time())
        raise RobotsUnreachable(failure, str(status), f"robots.txt answered with status {status}.", wait)
    return b""


def _readable(body: bytes) -> str:
    """The text up to where it is cut off, or becomes too much work."""
    lines = body.decode("utf-8-sig", "replace").splitlines()
    if len(body) >= MAX_BYTES:
        # The last line may be cut in two, and half a path forbids more than the whole.
        lines = lines[:-1]
    work, agents, ruled = 0.0, 0, False
    for number, line in enumerate(lines):
        word = line.lstrip()[:10].lower()
        if word.startswith(_AGENT):
            agents, ruled = (1 if ruled else agents + 1), False
            work += agents / 16
        else:
            ruled = ruled or word.startswith(_RULE)
            work += agents
        if work > MAX_WORK:
            return "\n".join(lines[:number])
    return "\n".join(lines)
