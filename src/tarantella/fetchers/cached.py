"""Fetches from the cache what is in it and fresh, and from the site what isn't."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Any

import orjson

from tarantella.domain.cookie import path_of
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import FROM_CACHE
from tarantella.domain.url import stored
from tarantella.fetchers.cache import Cache, Entry, refreshed
from tarantella.fetchers.contract import Caching, Fetcher, FetchError, Request, Response
from tarantella.fetchers.cookies import matching
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.robots import KEPT_SECONDS
from tarantella.fetchers.ttl_cache import Memory

# Answers that are likely to be the same the next time. What a site says when it is ill, or has had enough of us, isn't.
STORED = frozenset({200, 203, 204, 301, 302, 303, 307, 308, 404, 410})
NOT_MODIFIED = 304
# Never cookies, which are secrets, nor how the body was encoded, which it isn't any more.
STORED_HEADERS = ("content-type", "content-language", "etag", "last-modified", "link", "x-robots-tag")
VALIDATORS = {"etag": "if-none-match", "last-modified": "if-modified-since"}
CHECKED_SECONDS = 60.0
CHECKED_HOSTS = 4_096


class CachedFetcher:
    """A fetcher with a memory that outlives the run, for those runs that want one."""

    def __init__(self, fetcher: Fetcher, guard: Guard, now: Callable[[], float] = time) -> None:
        self._fetcher = fetcher
        self._guard = guard
        self._now = now
        self._caches: dict[Caching, Cache] = {}
        self._checked: Memory[tuple[object, ...], bool] = Memory(CHECKED_SECONDS, CHECKED_HOSTS)

    def fetch(self, request: Request) -> Coroutine[Any, Any, Response]:
        """The page; raises FetchError and nothing else."""
        caching = request.options.cache
        if caching is None or request.method != "GET":
            return self._fetcher.fetch(request)
        return self._fetch(request, caching)

    async def close(self) -> None:
        await self._fetcher.close()

    async def _fetch(self, request: Request, caching: Caching) -> Response:
        cache, key = self._cache(caching), _key(request)
        entry = await asyncio.to_thread(cache.get, key)
        if entry is not None and not _can_be_served(entry, request):
            entry = None
        if entry is None:
            return await self._fetch_and_store(request, cache, key)
        if _is_fresh(entry, request, caching, self._now()):
            await self._check(request)
            return _answer(entry, request, FROM_CACHE)
        return await self._revalidate(request, cache, key, entry)

    async def _revalidate(self, request: Request, cache: Cache, key: str, entry: Entry) -> Response:
        """Ask whether a stale answer is still good; if it is, only that much is sent."""
        try:
            response = await self._fetch_and_store(request._replace(headers=_validators(entry)), cache, key)
        except FetchError as error:
            if not _is_robots(request) or error.failure is Failure.DENIED:
                raise
            # What robots.txt said last holds for as long as it can't be asked.
            return _answer(entry, request, FROM_CACHE)
        if response.status != NOT_MODIFIED:
            return response
        entry = refreshed(entry, _kept(response.headers), self._now())
        await asyncio.to_thread(cache.put, key, entry)
        return _answer(entry, request, response.protocol)._replace(cookies=response.cookies)

    async def _fetch_and_store(self, request: Request, cache: Cache, key: str) -> Response:
        response = await self._fetcher.fetch(request)
        if response.status in STORED:
            redirect = response.redirect_to.href if response.redirect_to is not None else None
            entry = Entry(
                response.url,
                response.status,
                _kept(response.headers),
                self._now(),
                response.hops - request.hops,
                redirect,
                response.body,
            )
            await asyncio.to_thread(cache.put, key, entry)
        return response

    async def _check(self, request: Request) -> None:
        """What a run may not fetch, it may not read here either, though another run could fetch it."""
        url, options = request.url, request.options
        place = (url.host, url.port, options.allow_networks)
        if self._checked.get(place) is None:
            await self._guard.check_by_name(url, options.allow_networks, within=options.total_timeout)
            self._checked.put(place, True)

    def _cache(self, caching: Caching) -> Cache:
        if caching not in self._caches:
            self._caches[caching] = Cache(Path(caching.folder), caching.max_bytes)
        return self._caches[caching]


def _key(request: Request) -> str:
    """What an answer depends on: the address, and what the user sends along. What sites set is not part of it."""
    url, options = request.url, request.options
    trusted = url.server in options.trusted_servers
    depends_on = (
        "GET",
        url.href,
        options.user_agent,
        sorted(options.headers.items()) if trusted else [],
        sorted(matching(url, options.cookies).items()),
        options.proxy,
        request.cut,
    )
    return blake2b(orjson.dumps(depends_on), digest_size=16).hexdigest()


def _can_be_served(entry: Entry, request: Request) -> bool:
    """Whether this request would lead to this answer, if the site had not changed."""
    options = request.options
    if len(entry.body) > options.max_decoded or request.hops + entry.hops > options.max_redirects:
        return False
    if entry.redirect_to is not None or entry.url == request.url.href:
        return True
    return request.follows is None or request.follows(stored(entry.url))


def _is_fresh(entry: Entry, request: Request, caching: Caching, now: float) -> bool:
    ttl = caching.ttl
    if _is_robots(request):
        # Rules that a site has changed must not be broken for as long as a user likes.
        ttl = KEPT_SECONDS if ttl is None else min(ttl, KEPT_SECONDS)
    # A time in the future is that of a clock that was wrong.
    return ttl is None or 0 <= now - entry.stored_at < ttl


def _is_robots(request: Request) -> bool:
    return request.cut is not None and path_of(request.url) == "/robots.txt"


def _validators(entry: Entry) -> dict[str, str]:
    """How to ask whether an answer has changed; nothing for one that was reached by redirects, which may have changed too."""
    if entry.hops or entry.status != 200:
        return {}
    return {VALIDATORS[name]: value for name, value in entry.headers.items() if name in VALIDATORS}


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name in STORED_HEADERS if (value := headers.get(name)) is not None}


def _answer(entry: Entry, request: Request, protocol: str) -> Response:
    return Response(
        entry.url,
        entry.status,
        entry.headers,
        entry.body,
        request.hops + entry.hops,
        stored(entry.redirect_to) if entry.redirect_to is not None else None,
        protocol=protocol,
        from_cache=True,
    )
