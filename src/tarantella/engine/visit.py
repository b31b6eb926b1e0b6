"""Fetches a page and reads it: everything that touches what a site sent, and nothing that decides."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from types import MappingProxyType
from typing import Protocol

from tarantella.domain.cookie import Cookie
from tarantella.domain.failure import MISSING, Failure, classify_status
from tarantella.domain.struct import Struct
from tarantella.domain.url import Url
from tarantella.engine.reader import Reader
from tarantella.extractors.document import media_type
from tarantella.extractors.page import Extracted, ExtractionFailed, NotADocument, Wants, extract
from tarantella.extractors.sitemap import Listing, read_sitemap
from tarantella.fetchers.contract import Artifact, Exchange, Fetcher, FetchError, Request, Response
from tarantella.fetchers.redirects import FINAL_DETAILS

LARGE_ANSWER = 256 * 1024  # more takes longer than others should wait
_NOTHING = Wants(text="none", links=False)


class Visit(Struct, frozen=True):
    """What a site answered and what is in it; or why not."""

    url: str
    status: int | None = None
    size: int = 0
    content_type: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    hops: int = 0
    redirect_to: Url | None = None
    cookies: tuple[Cookie, ...] = ()
    failure: Failure | None = None
    detail: str | None = None
    final: bool = False  # the failure would be the same the next time
    not_a_document: str | None = None
    extracted: Extracted | None = None
    body: bytes | None = None
    protocol: str | None = None
    from_cache: bool = False
    listing: Listing | None = None
    exchanges: tuple[Exchange, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    plain: bool = False  # a page over HTTP, and nothing else to be said of it
    reading: float = 0.0  # seconds that the answer was with a reader, or waited for one: our time, not the site's


class Visitor(Protocol):
    """Somebody who visits pages: this process, or a taster."""

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit: ...


class DirectVisitor:
    """Visits in this process."""

    def __init__(self, fetcher: Fetcher, reader: Reader | None = None) -> None:
        self._fetcher = fetcher
        self._reader = reader  # for what could take long

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        try:
            response = await self._fetcher.fetch(request)
        except FetchError as error:
            final = error.detail in FINAL_DETAILS or error.detail == MISSING
            return Visit(request.url.href, failure=error.failure, detail=_told(error), final=final)
        content_type = response.headers.get("content-type", "")
        failure: Failure | None = None
        detail: str | None = None
        not_a_document: str | None = None
        extracted: Extracted | None = None
        listing: Listing | None = None
        reading = 0.0
        if response.redirect_to is None:
            if response.status != 200:
                failure = classify_status(response.status, retry_after=_asks_to_wait(response))
            if failure is not None:
                detail = f"HTTP {response.status}"
                if failure is Failure.BAD_RESPONSE and (sign := _challenge(response, content_type)) is not None:
                    failure, detail = Failure.BLOCKED, f"challenge: HTTP {response.status}, {sign}"
            elif wants.sitemap:
                listing = await _listed(response.body)
            else:
                try:
                    if self._reader is not None and (wants.aside or (wants.recorded and _is_large(response))):
                        began = monotonic()
                        extracted = await self._reader.read(response.body, content_type, wants, response.url)
                        reading = monotonic() - began
                    else:
                        extracted = extract(response.body, content_type, wants, response.url)
                except NotADocument as error:
                    not_a_document = str(error)
                except ExtractionFailed as error:
                    failure, detail = Failure.UNKNOWN, f"extraction: {error}"
                else:
                    if extracted.challenge is not None:
                        failure, detail = Failure.BLOCKED, f"challenge: {extracted.challenge}"
                        extracted = None
                    elif extracted.shell is None and _is_plain(request, response):
                        # Nearly every page.
                        return Visit(
                            response.url,
                            response.status,
                            len(response.body),
                            media_type(content_type).name,
                            response.headers,
                            response.hops,
                            extracted=extracted,
                            body=response.body if keep_body else None,
                            protocol=response.protocol,
                            plain=True,
                            reading=reading,
                        )
        return Visit(
            response.url,
            response.status,
            len(response.body),
            media_type(content_type).name,
            response.headers,
            response.hops,
            response.redirect_to,
            response.cookies,
            failure,
            detail,
            False,
            not_a_document,
            extracted,
            response.body if keep_body and extracted is not None else None,
            response.protocol,
            response.from_cache,
            listing,
            response.exchanges,
            response.artifacts,
            reading=reading,
        )


def _is_plain(request: Request, response: Response) -> bool:
    return (
        request.strategy == "http"
        and response.url == request.url.href
        and not (response.cookies or response.from_cache)
    )


def _is_large(response: Response) -> bool:
    return len(response.body) > LARGE_ANSWER


async def _listed(body: bytes) -> Listing:
    """What a sitemap lists; it may be long, so others have their turn after every piece."""
    reading = read_sitemap(body)
    while True:
        try:
            next(reading)
        except StopIteration as end:
            listing: Listing = end.value
            return listing
        await asyncio.sleep(0)


def _asks_to_wait(response: Response) -> bool:
    return "retry-after" in response.headers


def _challenge(response: Response, content_type: str) -> str | None:
    """What tells that an error page is a challenge, which another strategy may pass."""
    if response.headers.get("cf-mitigated") == "challenge":
        return "cloudflare"
    try:
        return extract(response.body, content_type, _NOTHING).challenge
    except (NotADocument, ExtractionFailed):
        return None


def _told(error: FetchError) -> str:
    return error.detail if error.message == error.detail else f"{error.detail}: {error.message}"
