"""robots.txt: fetched once per origin, kept for hours, obeyed."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from math import inf

from protego import Protego

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import Url, resolve
from tarantella.fetchers.contract import Fetcher, FetchError, Options, Request, Response
from tarantella.fetchers.retry_after import parse_retry_after
from tarantella.fetchers.single_flight import Flights
from tarantella.fetchers.ttl_cache import Memory

MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5
MAX_CRAWL_DELAY = 60.0
KEPT_SECONDS = 6 * 3600.0
KEPT_ORIGINS = 10_000
# After so many failures in a row nobody asks for a while; then all is forgotten.
ENOUGH_TRIES = 3
FAILURE_KEPT_SECONDS = 300.0
# Parsing takes long enough to be noticed from about this size on.
SMALL_BYTES = 32 * 1024
# A small file can ask for a lot of work: the parser gives each rule to every agent of its group, and
# each page is compared with every rule that has wildcards.
MAX_WORK = 200_000
WORK_PER_WILDCARD = 40
WORK_PER_AGENT = 1 / 16

Origin = tuple[str, str, int]
Way = tuple[object, ...]  # an origin, and how a run gets there

_CRAWL_DELAY = re.compile(r"^([ \t]*crawl[- ]delay[ \t]*:)([^#\n]*)", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(r"^([ \t]*user[- ]?agent(?!.*mozilla)[^/#\n]*)/[^#\n]*", re.IGNORECASE | re.MULTILINE)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_AGENT = ("user-agent", "useragent", "user agent")
_RULE = ("allow", "di", "crawl")  # of misspellings that are understood, some don't begin with "dis"


class RobotsUnreachable(Exception):
    """Nobody knows what is allowed here, so nothing is.

    `tries` is how often in a row it was asked in vain; `retry_after` is in seconds, if the site said.
    """

    def __init__(self, failure: Failure, detail: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.failure = failure
        self.detail = detail
        self.message = message
        self.retry_after = retry_after
        self.tries = 1


class RobotsRules:
    """What one origin allows."""

    __slots__ = ("_open", "_rules", "sitemaps")

    def __init__(self, text: str = "") -> None:
        # Whoever copies our name from a log has its version behind it, and means us all the same.
        self._rules = Protego.parse(_CRAWL_DELAY.sub(_finite, _VERSION.sub(r"\1", text)))
        # Many files forbid nothing at all, however it is spelt; then there is nothing to look up for each page.
        self._open = "di" not in text.lower()
        self.sitemaps: tuple[str, ...] = tuple(self._rules.sitemaps)

    def allowed(self, href: str, user_agent: str) -> bool:
        return self._open or self._rules.can_fetch(href, product(user_agent))

    def crawl_delay(self, user_agent: str) -> float:
        """The pause between two pages that the site asks for, as far as it gets it."""
        return min(self._asked_delay(user_agent), MAX_CRAWL_DELAY)

    def clamped(self, user_agent: str) -> bool:
        """Whether the site asks for a longer pause than it gets."""
        return self._asked_delay(user_agent) > MAX_CRAWL_DELAY

    def _asked_delay(self, user_agent: str) -> float:
        return float(self._rules.crawl_delay(product(user_agent)) or 0.0)


class Robots:
    """The rules of the origins that were met lately."""

    def __init__(
        self,
        fetcher: Fetcher,
        *,
        ttl: float = KEPT_SECONDS,
        size: int = KEPT_ORIGINS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._known: Memory[Origin, RobotsRules] = Memory(ttl, size, clock)
        # Kept for longer than anybody waits between two tries, which is up to an hour.
        self._failing: Memory[Way, RobotsUnreachable] = Memory(ttl, size, clock)
        self._given_up: Memory[Way, RobotsUnreachable] = Memory(FAILURE_KEPT_SECONDS, size, clock)
        self._asked: Flights[Way, RobotsRules] = Flights()

    def known(self, url: Url) -> RobotsRules | None:
        """What this URL's origin allows, if that needs no asking."""
        return self._known.get(url.origin)

    async def rules(self, url: Url, options: Options) -> RobotsRules:
        """What this URL's origin allows. Raises RobotsUnreachable, or FetchError if the address is denied."""
        known = self._known.get(url.origin)
        if known is not None:
            return known
        # A run that may reach more, or goes another way, must not share a refusal.
        way = (url.origin, options.proxy, options.ca_file, options.allow_networks)
        if (given_up := self._given_up.get(way)) is not None:
            # Whoever is left of this host's pages need not wait for the same failure one by one.
            raise _again(given_up)
        return await self._asked.join(way, lambda: self._find_out(url, options, way))

    async def _find_out(self, url: Url, options: Options, way: Way) -> RobotsRules:
        try:
            body = await self._fetch(url, options)
        except RobotsUnreachable as error:
            self._count(way, error)
            raise
        if len(body) < SMALL_BYTES:
            rules = RobotsRules(_readable(body))
        else:
            rules = await asyncio.to_thread(lambda: RobotsRules(_readable(body)))
        self._known.put(url.origin, rules)
        return rules

    def _count(self, way: Way, error: RobotsUnreachable) -> None:
        before = self._failing.get(way)
        error.tries = 1 if before is None else before.tries + 1
        if error.tries < ENOUGH_TRIES:
            self._failing.put(way, _again(error))
        else:
            self._failing.drop(way)
            self._given_up.put(way, _again(error))

    async def _fetch(self, url: Url, options: Options) -> bytes:
        """The text of robots.txt; empty when there is none."""
        options = replace(options, max_redirects=MAX_REDIRECTS)
        request = Request(resolve("/robots.txt", base=url.href), options, cut=MAX_BYTES)
        try:
            response = await self._fetcher.fetch(request)
            while response.redirect_to is not None:
                request = request._replace(url=response.redirect_to, hops=response.hops)
                response = await self._fetcher.fetch(request)
        except FetchError as error:
            return _without_response(error, redirected=request.hops > 0 or error.detail == "scheme")
        return _with_response(response)


def _again(error: RobotsUnreachable) -> RobotsUnreachable:
    """The same failure without its traceback, which would grow with everybody who meets it."""
    twin = RobotsUnreachable(error.failure, error.detail, error.message, error.retry_after)
    twin.tries = error.tries
    return twin


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


def _finite(found: re.Match[str]) -> str:
    """A delay without end as one that is long: the parser would pass over it as if there were none."""
    try:
        endless = float(found[2]) == inf
    except ValueError:
        endless = False
    return f"{found[1]} 1e9" if endless else found[0]


def _readable(body: bytes) -> str:
    """The text up to where it is cut off, or becomes too much work."""
    encoding = "utf-16" if body.startswith(_UTF16_MARKS) else "utf-8-sig"
    lines = body.decode(encoding, "replace").splitlines()
    if len(body) >= MAX_BYTES:
        # The last line may be cut in two, and half a path forbids more than the whole.
        lines = lines[:-1]
    work, agents, ruled = 0.0, 0, False
    for number, line in enumerate(lines):
        word = line.lstrip()[:10].lower()
        if word.startswith(_AGENT):
            agents, ruled = (1 if ruled else agents + 1), False
            work += agents * WORK_PER_AGENT
        else:
            ruled = ruled or word.startswith(_RULE)
            work += agents + line.partition("#")[0].count("*") * WORK_PER_WILDCARD
        if work > MAX_WORK:
            return "\n".join(lines[:number])
    return "\n".join(lines)
