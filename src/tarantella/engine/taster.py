"""Visits pages of a lane whose owners keep dying, in a child process that may die instead."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from tarantella.domain.browsing import Browsing
from tarantella.domain.cookie import Cookie
from tarantella.domain.failure import CRASH, Failure
from tarantella.domain.struct import asdict
from tarantella.domain.url import Url
from tarantella.engine.visit import Visit, Visitor
from tarantella.extractors.page import Wants
from tarantella.extractors.parcel import pack_extracted, unpack_extracted
from tarantella.extractors.sitemap import Listing
from tarantella.fetchers.contract import Artifact, Caching, Options, Request

READY = b"ready\n"
LONGEST_LINE = 256 * 1024 * 1024
SPARE_SECONDS = 30.0
BROWSER_SECONDS = 300.0  # where a browser has to be started first, and told what to do on the page
TASTER = (sys.executable, "-m", "tarantella", "taster")


class Taster:
    """A visitor in a process of its own. If that process dies, the page that it was at has failed, and nothing else."""

    def __init__(self, command: tuple[str, ...] = TASTER) -> None:
        self._command = command
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        async with self._turn:
            spare = SPARE_SECONDS if request.strategy == "http" else BROWSER_SECONDS
            limit = request.options.total_timeout + spare
            try:
                line = await asyncio.wait_for(self._ask(pack_request(request, wants, keep_body)), limit)
            except (TimeoutError, OSError, asyncio.CancelledError):
                await self.close()
                raise
            if not line:
                await self.close()
                return Visit(request.url.href, failure=Failure.UNKNOWN, detail=CRASH)
            return unpack_visit(line)

    async def _ask(self, line: bytes) -> bytes:
        if self._child is None:
            self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LONGEST_LINE,
            )
            assert self._child.stdout is not None
            if await self._child.stdout.readline() != READY:
                # It died of something else than the page, which is not to be blamed for it.
                raise OSError("the taster did not start")
        assert self._child.stdin is not None and self._child.stdout is not None
        with suppress(ConnectionError):
            self._child.stdin.write(line + b"\n")
            await self._child.stdin.drain()
        return await self._child.stdout.readline()

    async def close(self) -> None:
        if self._child is not None:
            with suppress(ProcessLookupError):
                self._child.kill()
            await self._child.wait()
            self._child = None


async def serve_tastings(
    visitor: Visitor, reader: asyncio.StreamReader, write: Any, others: Mapping[str, Visitor] | None = None
) -> None:
    """The child's side: visit what comes in, line by line, until the parent is gone; others know other strategies."""
    write(READY)
    while line := await reader.readline():
        request, wants, keep_body = unpack_request(line)
        chosen = (others or {}).get(request.strategy, visitor)
        write(pack_visit(await chosen.visit(request, wants, keep_body)) + b"\n")


def pack_request(request: Request, wants: Wants, keep_body: bool) -> bytes:
    options = request.options
    return orjson.dumps(
        {
            "url": request.url._asdict(),
            "options": {
                **asdict(options),
                "trusted_servers": sorted(options.trusted_servers),
                "headers": dict(options.headers),
                "cookies": [dict(c) for c in options.cookies],
                "secrets": dict(options.secrets),
                "cache": asdict(options.cache) if options.cache is not None else None,
                "browsing": options.browsing.to_json() if options.browsing is not None else None,
            },
            "hops": request.hops,
            "cookies": [asdict(cookie) for cookie in request.cookies],
            "asks": request.follows is not None,
            "cut": request.cut,
            "headers": request.headers,
            "method": request.method,
            "body": request.body.decode("latin-1") if request.body is not None else None,
            "strategy": request.strategy,
            "wants": wants.to_json(),
            "keep_body": keep_body,
        }
    )


def unpack_request(line: bytes) -> tuple[Request, Wants, bool]:
    data = orjson.loads(line)
    options = data["options"]
    options["trusted_servers"] = frozenset(options["trusted_servers"])
    options["cache"] = Caching(**options["cache"]) if options["cache"] is not None else None
    options["browsing"] = Browsing.from_json(options["browsing"]) if options["browsing"] is not None else None
    for name in ("cookies", "allow_networks"):
        options[name] = tuple(options[name])
    cookies = tuple(Cookie(**cookie) for cookie in data["cookies"])
    # Whoever knows the rules is in the other process: redirects are handed back to it.
    follows = (lambda _: False) if data["asks"] else None
    url, hops = Url(**data["url"]), data["hops"]
    return (
        Request(url, Options(**options), hops, cookies, follows, **_more(data)),
        Wants.from_json(data["wants"]),
        data["keep_body"],
    )


def _more(data: dict[str, Any]) -> dict[str, Any]:
    body = data["body"].encode("latin-1") if data["body"] is not None else None
    return {name: data[name] for name in ("headers", "cut", "method", "strategy")} | {"body": body}


def pack_visit(visit: Visit) -> bytes:
    data = {**visit._asdict(), "headers": dict(visit.headers), "cookies": [asdict(each) for each in visit.cookies]}
    if visit.redirect_to is not None:
        data["redirect_to"] = visit.redirect_to._asdict()
    if visit.extracted is not None:
        data["extracted"] = pack_extracted(visit.extracted)
    if visit.listing is not None:
        data["listing"] = visit.listing._asdict()
    data["artifacts"] = [(each.kind, base64.b64encode(each.data).decode()) for each in visit.artifacts]
    if visit.body is not None:
        data["body"] = base64.b64encode(visit.body).decode()
    # Nothing is recorded of a page that may kill who reads it.
    del data["exchanges"]
    return orjson.dumps(data)


def unpack_visit(line: bytes) -> Visit:
    data = orjson.loads(line)
    if data["redirect_to"] is not None:
        data["redirect_to"] = Url(**data["redirect_to"])
    data["cookies"] = tuple(Cookie(**cookie) for cookie in data["cookies"])
    if data["failure"] is not None:
        data["failure"] = Failure(data["failure"])
    if data["extracted"] is not None:
        data["extracted"] = unpack_extracted(data["extracted"])
    if data["listing"] is not None:
        data["listing"] = Listing(**data["listing"])
    data["artifacts"] = tuple(Artifact(kind, base64.b64decode(found)) for kind, found in data["artifacts"])
    if data["body"] is not None:
        data["body"] = base64.b64decode(data["body"])
    return Visit(**data)
