"""What a page asks for: counted, so that its end can be told; some of it stopped, led elsewhere, or kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tarantella.domain.url import Unfetchable, Url, resolve
from tarantella.fetchers.contract import Exchange, Request

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page
    from playwright.async_api import Request as Asked
    from playwright.async_api import Response as Answer

MOST_EXCHANGES = 50
MOST_EXCHANGE_BYTES = 8_000_000
_TYPES = {"image": "Image", "font": "Font", "media": "Media", "stylesheet": "Stylesheet"}
# Connections that are meant to stay open say nothing about whether a page has finished.
_LASTING = frozenset({"websocket", "eventsource", "ping", "texttrack"})


class Traffic:
    """The requests of one page, from its first to its last."""

    def __init__(self, page: Page, request: Request, leads_away: Callable[[Url], None]) -> None:
        self._page = page
        self._request = request
        self._leads_away = leads_away
        self._main_frame: str | None = None
        self._session: CDPSession | None = None
        self._replies: set[asyncio.Task[None]] = set()
        self._open: set[int] = set()
        self._data: list[Answer] = []
        self.moved = asyncio.Event()  # something began or ended
        self.hops = 0
        self.roams = False  # the page may go where it likes: a user's own actions lead it
        self.document: Answer | None = None  # the last answer to a navigation of the page itself
        self.requests = 0

    async def watch(self, block: tuple[str, ...]) -> None:
        """Begin; before anything is asked for."""
        page, options = self._page, self._request.options
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)
        self._session = await page.context.new_cdp_session(page)
        self._session.on("Fetch.requestPaused", self._paused)
        patterns = [{"resourceType": kind} for kind in ("Document", *(_TYPES[each] for each in block))]
        if options.headers:
            patterns += [{"urlPattern": f"*://{server}/*"} for server in sorted(options.trusted_servers)]
        await self._session.send("Fetch.enable", {"patterns": patterns})

    def close(self) -> None:
        for reply in self._replies:
            reply.cancel()

    @property
    def is_quiet(self) -> bool:
        return not self._open

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing has been on its way for so long."""
        while True:
            self.moved.clear()
            if self.is_quiet:
                try:
                    await asyncio.wait_for(self.moved.wait(), seconds)
                except TimeoutError:
                    return
            else:
                await self.moved.wait()

    async def exchanges(self) -> tuple[Exchange, ...]:
        """What the page's scripts asked for in JSON, as far as it can still be had."""
        found, size = [], 0
        for answer in self._data:
            exchange = await _exchange(answer)
            if exchange is not None and size + len(exchange.body) <= MOST_EXCHANGE_BYTES:
                size += len(exchange.body)
                found.append(exchange)
        return tuple(found)

    # -- what happens

    def _began(self, asked: Asked) -> None:
        self.requests += 1
        if asked.resource_type not in _LASTING and asked.url.startswith("http"):
            self._open.add(id(asked))
            self.moved.set()

    def _ended(self, asked: Asked) -> None:
        self._open.discard(id(asked))
        self.moved.set()

    def _answered(self, answer: Answer) -> None:
        asked = answer.request
        if asked.is_navigation_request():
            if answer.frame == self._page.main_frame:
                self.document = answer
        elif self._request.options.watch_exchanges and asked.resource_type in ("xhr", "fetch"):
            if len(self._data) < MOST_EXCHANGES and "json" in answer.headers.get("content-type", ""):
                self._data.append(answer)

    def _paused(self, event: Mapping[str, Any]) -> None:
        reply = asyncio.create_task(self._reply(event))
        self._replies.add(reply)
        reply.add_done_callback(self._replies.discard)

    async def _reply(self, event: Mapping[str, Any]) -> None:
        assert self._session is not None
        held: dict[str, Any] = {"requestId": event["requestId"]}
        kind = event["resourceType"]
        verdict = "Fetch.continueRequest"
        if kind == "Document":
            if not self._may_navigate(event):
                verdict, held["errorReason"] = "Fetch.failRequest", "Aborted"
        elif kind in _TYPES.values() and not self._is_for_trusted(event):
            verdict, held["errorReason"] = "Fetch.failRequest", "BlockedByClient"
        if verdict == "Fetch.continueRequest" and self._is_for_trusted(event):
            held["headers"] = self._with_headers(event["request"]["headers"])
        # The page may be gone by now.
        with suppress(Exception):
            await self._session.send(verdict, held)

    def _may_navigate(self, event: Mapping[str, Any]) -> bool:
        """Whether a document may be asked for. The page itself stays on its host: to others it moves, and waits its turn there."""
        self._main_frame = self._main_frame or event["frameId"]
        if event["frameId"] != self._main_frame:
            return True
        first = not self.hops and self.document is None and "redirectedRequestId" not in event
        try:
            target = resolve(event["request"]["url"])
        except Unfetchable:
            return True  # about:blank and the like; what is not http goes nowhere
        if first and target.href == self._request.url.href:
            return True
        self.hops += 1
        if self.roams:
            return True
        follows = self._request.follows
        if target.host == self._request.url.host and (follows is None or follows(target)):
            return True
        self._leads_away(target)
        return False

    def _is_for_trusted(self, event: Mapping[str, Any]) -> bool:
        options = self._request.options
        if not options.headers:
            return False
        try:
            url = resolve(event["request"]["url"])
        except Unfetchable:
            return False
        downgraded = url.scheme == "http" and (self._request.url.scheme == "https" or self._request.hops > 0)
        return url.server in options.trusted_servers and not downgraded

    def _with_headers(self, headers: Mapping[str, str]) -> list[dict[str, str]]:
        ours = {name.lower(): (name, value) for name, value in self._request.options.headers.items()}
        kept = [(name, value) for name, value in headers.items() if name.lower() not in ours]
        return [{"name": name, "value": value} for name, value in (*kept, *ours.values())]


async def _exchange(answer: Answer) -> Exchange | None:
    with suppress(Exception):  # the page has gone on, and its answers with it
        asked = answer.request
        return Exchange(
            asked.method,
            asked.url,
            await asked.all_headers(),
            asked.post_data_buffer,
            answer.status,
            await answer.all_headers(),
            await answer.body(),
        )
    return None
