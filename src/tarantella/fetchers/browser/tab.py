"""A window of a browser, used for one page after the other, and everything that the page in it asks for.

Its requests are counted, so that the end of a page can be told; some are stopped, led elsewhere, or kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from tarantella.domain.browsing import Browsing
from tarantella.domain.url import Unfetchable, Url, resolve
from tarantella.fetchers.contract import Exchange, Request

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Download, Page
    from playwright.async_api import Request as Asked
    from playwright.async_api import Response as Answer

MOST_EXCHANGES = 50
MOST_EXCHANGE_BYTES = 8_000_000
_TYPES = {"image": "Image", "font": "Font", "media": "Media", "stylesheet": "Stylesheet"}
# Connections that are meant to stay open say nothing about whether a page has finished.
_LASTING = frozenset({"websocket", "eventsource", "ping", "texttrack"})


class Watcher(Protocol):
    """Whoever wants to know what becomes of the page."""

    def leads_away(self, target: Url) -> None: ...

    def crashes(self) -> None: ...

    def closes(self) -> None: ...

    def downloads(self) -> None: ...

    def throws_in(self) -> None: ...


class Tab:
    """A window, and the traffic of the page that is in it now."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page = page
        self._session = session
        self._patterns: list[dict[str, str]] = []
        self._replies: set[asyncio.Task[None]] = set()
        self._main_frame: str | None = None
        self._request: Request | None = None
        self._watcher: Watcher | None = None
        self._open: set[int] = set()
        self._data: list[Answer] = []
        self._moved = asyncio.Event()  # something began or ended
        self._started = False  # the page itself was asked for
        self.hops = 0
        self.roams = False  # the page may go where it likes: a user's own actions lead it
        self.document: Answer | None = None  # the last answer to a navigation of the page itself
        self._page_before: Answer | None = None  # the page that it came from, if it was one

    @classmethod
    async def open(cls, context: BrowserContext) -> Tab:
        page = await context.new_page()
        session = await context.new_cdp_session(page)
        tab = cls(page, session)
        session.on("Fetch.requestPaused", tab._paused)
        page.on("request", tab._began)
        page.on("requestfinished", tab._ended)
        page.on("requestfailed", tab._ended)
        page.on("response", tab._answered)
        page.on("crash", tab._crashed)
        page.on("close", tab._closed)
        page.on("download", tab._downloads)
        page.on("popup", _unwanted)
        return tab

    async def begin(self, request: Request, browsing: Browsing, watcher: Watcher) -> None:
        """The next page; before anything of it is asked for."""
        self._request, self._watcher = request, watcher
        self._open.clear()
        self._data.clear()
        self._started = self.roams = False
        self.hops, self.document, self._page_before = 0, None, None
        options = request.options
        patterns = [{"resourceType": kind} for kind in ("Document", *(_TYPES[each] for each in browsing.block))]
        if options.headers:
            patterns += [{"urlPattern": f"*://{server}/*"} for server in sorted(options.trusted_servers)]
        if patterns != self._patterns:
            await self._session.send("Fetch.enable", {"patterns": patterns})
            self._patterns = patterns

    def end(self) -> None:
        """Nobody looks at the page any more, and it may not go anywhere else."""
        self._request = self._watcher = None
        self.document = self._page_before = None
        self._data.clear()

    async def close(self) -> None:
        self.end()
        for reply in self._replies:
            reply.cancel()
        await self.page.close()

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing has been on its way for so long, and the page's scripts have let go of it."""
        while True:
            self._moved.clear()
            if self._open:
                await self._moved.wait()
                continue
            try:
                await asyncio.wait_for(self._moved.wait(), seconds)
            except TimeoutError:
                # A script at work asks for nothing, and for what it wants at its end: its page has not been quiet.
                if await self._is_idle():
                    return

    async def _is_idle(self) -> bool:
        """Whether nothing more was asked for by the time that the page could answer."""
        from playwright.async_api import Error

        # One that can't answer has gone elsewhere, and says so by what it asks for.
        with suppress(Error):
            await self.page.evaluate("0")
        return not self._moved.is_set()

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
        if asked.resource_type not in _LASTING and asked.url.startswith("http"):
            self._open.add(id(asked))
            self._moved.set()

    def _ended(self, asked: Asked) -> None:
        self._open.discard(id(asked))
        self._moved.set()

    def _answered(self, answer: Answer) -> None:
        if self._request is None or not self._started:
            return  # of the page before
        asked = answer.request
        if asked.is_navigation_request():
            if answer.frame == self.page.main_frame:
                if self.document is not None and not 300 <= self.document.status < 400:
                    self._page_before = self.document
                self.document = answer
        elif self._request.options.watch_exchanges and asked.resource_type in ("xhr", "fetch"):
            if len(self._data) < MOST_EXCHANGES and "json" in answer.headers.get("content-type", ""):
                self._data.append(answer)

    def _crashed(self, _page: Page) -> None:
        if self._watcher is not None:
            self._watcher.crashes()

    def _closed(self, _page: Page) -> None:
        if self._watcher is not None:
            self._watcher.closes()

    def _downloads(self, download: Download) -> None:
        """A file instead of the page, or one that the page has thrown in, which leaves the page as it is."""
        if self._watcher is None:
            return
        if self.document is not None and self.document.url == download.url:
            self.document = self._page_before
        if self.document is not None:
            self._watcher.throws_in()
        else:
            self._watcher.downloads()

    def _paused(self, event: Mapping[str, Any]) -> None:
        reply = asyncio.create_task(self._reply(event))
        self._replies.add(reply)
        reply.add_done_callback(self._replies.discard)

    async def _reply(self, event: Mapping[str, Any]) -> None:
        held: dict[str, Any] = {"requestId": event["requestId"]}
        kind = event["resourceType"]
        trusted = self._is_for_trusted(event)
        if kind == "Document":
            refusal = None if self._may_navigate(event) else "Aborted"
        else:
            refusal = "BlockedByClient" if kind in _TYPES.values() and not trusted else None
        if refusal is not None:
            verdict, held["errorReason"] = "Fetch.failRequest", refusal
        else:
            verdict = "Fetch.continueRequest"
            if trusted:
                held["headers"] = self._with_headers(event["request"]["headers"])
        # The page may be gone by now.
        with suppress(Exception):
            await self._session.send(verdict, held)

    def _may_navigate(self, event: Mapping[str, Any]) -> bool:
        """Whether a document may be asked for. The page itself stays on its host: to others it moves, and waits its turn there."""
        self._main_frame = self._main_frame or event["frameId"]
        if event["frameId"] != self._main_frame:
            return True
        request = self._request
        if request is None:
            return False  # a page that nobody looks at any more
        try:
            target = resolve(event["request"]["url"])
        except Unfetchable:
            return True  # about:blank and the like; what is not http goes nowhere
        if not self._started:
            # Of the page before something may still be on its way; ours is the one that was asked for.
            self._started = target.href == request.url.href
            return self._started
        self.hops += 1
        if self.roams or (target.host == request.url.host and (request.follows is None or request.follows(target))):
            return True
        if self._watcher is not None:
            self._watcher.leads_away(target)
        return False

    def _is_for_trusted(self, event: Mapping[str, Any]) -> bool:
        request = self._request
        if request is None or not request.options.headers:
            return False
        try:
            url = resolve(event["request"]["url"])
        except Unfetchable:
            return False
        downgraded = url.scheme == "http" and (request.url.scheme == "https" or request.hops > 0)
        return url.server in request.options.trusted_servers and not downgraded

    def _with_headers(self, headers: Mapping[str, str]) -> list[dict[str, str]]:
        assert self._request is not None
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


def _unwanted(popup: Page) -> None:
    """A window that the page has opened is closed; nobody waits for that."""
    closing = asyncio.ensure_future(popup.close())
    closing.add_done_callback(lambda done: done.cancelled() or done.exception())
