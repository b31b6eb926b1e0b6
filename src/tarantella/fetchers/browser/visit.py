"""One page in a browser, from the first request to what stands on it in the end. Every step has a limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from tarantella.domain.browsing import Browsing
from tarantella.domain.cookie import Cookie, can_be_sent
from tarantella.domain.failure import Failure
from tarantella.domain.url import Url, resolve
from tarantella.fetchers.browser.acting import Actor
from tarantella.fetchers.browser.contexts import SECONDS, Context
from tarantella.fetchers.browser.failures import DOWNLOAD, crashed, took_too_long, translated
from tarantella.fetchers.browser.tab import Tab
from tarantella.fetchers.contract import Artifact, FetchError, Request, Response
from tarantella.fetchers.gateway import MARK
from tarantella.fetchers.redirects import too_many_redirects

if TYPE_CHECKING:
    from playwright.async_api import Response as Answer

T = TypeVar("T")
PROTOCOL = "browser"
LONGEST_QUIET = 15.0  # a page that never comes to rest is read as it is before that
ACTION_SECONDS = 90.0  # every step of an action has its own limit, far below this
LOOKS_AT_SIZE_EVERY = 0.25
RENDERED = "text/html; charset=utf-8"
_HTML = frozenset({"", "text/html", "application/xhtml+xml"})
# Of the site's own headers those that speak of the bytes on the wire, which are not the ones we give on.
_ABOUT_BYTES = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-type"})
_READ = """limit => {
  const kind = document.doctype ? '<!DOCTYPE html>' : '';
  const html = kind + (document.documentElement ? document.documentElement.outerHTML : '');
  return html.length > limit ? html.length : html;
}"""


class _Over(Exception):
    """The page came to its end in another way than by being read."""


class PageVisit:
    """A visit to one page."""

    def __init__(self, tab: Tab, context: Context, request: Request, navigation_seconds: float) -> None:
        self._tab = tab
        self._page = tab.page
        self._context = context
        self._request = request
        self._seconds = navigation_seconds
        self._browsing = request.options.browsing or Browsing()
        self._actor = Actor(tab, self._browsing, request.options.secrets)
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._threw_in = asyncio.Event()  # a file, and is a page nevertheless
        self._moved_to: Url | None = None
        self._failure: FetchError | None = None
        self.clean = not self._browsing.actions  # whether another page may come after this one
        self._download = False
        self._bodiless = False

    async def run(self) -> Response:
        """The page as it stands in the end; or raises FetchError."""
        try:
            await self._within(SECONDS, self._prepare(), "start")
            await self._navigate()
            await self._settle()
            return await self._read()
        except _Over:
            self.clean = False
            return await self._ended_otherwise()
        finally:
            self._tab.end()

    # -- the steps

    async def _prepare(self) -> None:
        await self._tab.begin(self._request, self._browsing, self)
        await self._bring_cookies()

    async def _navigate(self) -> None:
        watching = asyncio.create_task(self._watch_size())
        try:
            await self._within(self._seconds + 1, self._go(), "navigation")
        except FetchError as error:
            if error.detail == DOWNLOAD:
                self.downloads()
                raise _Over from None
            self._explain(error)
        finally:
            watching.cancel()

    async def _go(self) -> None:
        """Until the document is there, which no browser says of one that begins a download meanwhile."""
        going = asyncio.ensure_future(
            self._page.goto(self._request.url.href, wait_until="domcontentloaded", timeout=self._seconds * 1000)
        )
        thrown = asyncio.ensure_future(self._threw_in.wait())
        try:
            await asyncio.wait((going, thrown), return_when=asyncio.FIRST_COMPLETED)
            if going.done():
                await going
        finally:
            thrown.cancel()
            if not going.cancel():
                going.cancelled() or going.exception()

    async def _settle(self) -> None:
        """Wait for what was to be waited for; otherwise until the page has come to rest."""
        browsing = self._browsing
        if browsing.actions:
            await self._within(LONGEST_QUIET, self._actor.rest(), "quiet")
            # Where a user's own actions lead is where the user wants to go.
            self._tab.roams = True
            for action in browsing.actions:
                await self._within(ACTION_SECONDS, self._actor.act(action), "action")
        if browsing.wait_for is not None:
            found = self._page.wait_for_selector(browsing.wait_for, state="attached", timeout=SECONDS * 1000)
            await self._within(SECONDS + 1, found, "wait_for")
        else:
            await self._come_to_rest()
            if await self._within(LONGEST_QUIET, self._actor.wait_out_a_check(), "quiet"):
                await self._come_to_rest()
        if browsing.scroll or browsing.load_more is not None:
            await self._within(ACTION_SECONDS, self._actor.look_for_more(), "action")

    async def _come_to_rest(self) -> None:
        await self._within(LONGEST_QUIET, self._actor.rest(), "quiet")
        await self._within(LONGEST_QUIET, self._actor.see_something(), "quiet")

    async def _read(self) -> Response:
        answer = self._tab.document
        if answer is None:
            raise FetchError(Failure.NETWORK, "closed", f"{self._request.url.host} gave no page.")
        self._look_for_refusal(answer)
        media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._bodiless:
            body, content_type = b"", answer.headers.get("content-type", RENDERED)
        elif media in _HTML:
            body, content_type = await self._rendered(), RENDERED
        else:
            # A browser shows data in a page of its own making; what is wanted is the data.
            body, content_type = await self._within(SECONDS, answer.body(), "body"), answer.headers["content-type"]
            self._check_size(len(body))
        exchanges = await self._within(SECONDS, self._tab.exchanges(), "exchanges")
        cookies = await self._within(SECONDS, self._cookies_set(), "cookies")
        artifacts = await self._kept(body)
        # Where the page's own scripts have led it without a request counts too, but not what only scrolls.
        final = resolve(self._page.url) if self._page.url.startswith("http") else resolve(answer.url)
        return Response(
            final.href,
            answer.status,
            {**_without_bytes(answer.headers), "content-type": content_type},
            body,
            self._request.hops + self._tab.hops,
            cookies=cookies,
            protocol=PROTOCOL,
            exchanges=exchanges,
            artifacts=artifacts,
        )

    async def _kept(self, body: bytes) -> tuple[Artifact, ...]:
        """What was asked to be kept beside the record."""
        kept = []
        if self._browsing.screenshot:
            # A picture that can't be taken is not worth the page.
            with suppress(FetchError):
                taken = self._page.screenshot(full_page=True, timeout=SECONDS * 1000)
                kept.append(Artifact("screenshot", await self._within(SECONDS + 1, taken, "screenshot")))
        if self._browsing.keep_html:
            kept.append(Artifact("html", body))
        return tuple(kept)

    async def _rendered(self) -> bytes:
        limit = self._request.options.max_decoded
        try:
            found = await self._within(SECONDS, self._page.evaluate(_READ, limit), "script")
        except FetchError as error:
            if error.failure is not Failure.BROWSER:
                raise
            # The page went on to another at this very moment; that one is read instead.
            await self._within(SECONDS, self._page.wait_for_load_state("domcontentloaded"), "navigation")
            found = await self._within(SECONDS, self._page.evaluate(_READ, limit), "script")
        if not isinstance(found, str):
            self._check_size(int(found))
            return b""
        body = found.encode("utf-8", "replace")
        self._check_size(len(body))
        return body

    def _check_size(self, size: int) -> None:
        limit = self._request.options.max_decoded
        if size > limit:
            raise FetchError(Failure.TOO_LARGE, "decoded", f"The page is larger than {limit:,} bytes.")

    # -- cookies

    async def _bring_cookies(self) -> None:
        """What the site has set so far, in whichever way it was fetched, goes into the browser."""
        news = [cookie for cookie in self._request.cookies if _mark(cookie) not in self._context.known_cookies]
        if news:
            await self._context.browser.add_cookies([_for_browser(cookie) for cookie in news])
            self._context.known_cookies.update(map(_mark, news))

    async def _cookies_set(self) -> tuple[Cookie, ...]:
        """What the browser has now and we did not know."""
        now = time.time()
        found = [_from_browser(each, now) for each in await self._context.browser.cookies(self._page.url)]
        news = [each for each in found if can_be_sent(each.name, each.value)]
        news = [each for each in news if _mark(each) not in self._context.known_cookies]
        self._context.known_cookies.update(map(_mark, news))
        return tuple(news)

    # -- other ends

    def leads_away(self, target: Url) -> None:
        self._moved_to = target
        self._end()

    def crashes(self) -> None:
        self._fail(crashed())

    def closes(self) -> None:
        self._fail(crashed("closed"))

    def throws_in(self) -> None:
        self._threw_in.set()

    def downloads(self) -> None:
        self._download = True
        self._end()

    def _fail(self, failure: FetchError) -> None:
        self._failure = failure
        self._end()

    def _end(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    async def _ended_otherwise(self) -> Response:
        request, answer = self._request, self._tab.document
        if self._moved_to is not None:
            hops = request.hops + self._tab.hops
            if hops > request.options.max_redirects:
                raise too_many_redirects(request.options.max_redirects)
            cookies: tuple[Cookie, ...] = ()
            with suppress(Exception):
                cookies = await asyncio.wait_for(self._cookies_set(), SECONDS)
            status = answer.status if answer is not None else 302
            return Response(request.url.href, status, {}, b"", hops, self._moved_to, cookies, PROTOCOL)
        if self._download:
            headers = dict(_without_bytes(answer.headers)) if answer is not None else {}
            return Response(request.url.href, 200, {**headers, "content-type": "application/octet-stream"}, b"")
        assert self._failure is not None
        raise self._failure

    def _explain(self, error: FetchError) -> None:
        """A navigation failed: the gateway may know better why, and some are no failures at all."""
        url = self._request.url
        if (known := self._context.gateway.failure_at(url)) is not None:
            raise known
        answer = self._tab.document
        # Instead of an answer without a body a browser shows a page of its own, which is not the site's.
        self._bodiless = answer is not None and answer.status in (204, 205, *range(400, 600))
        if not self._bodiless:
            raise error

    def _look_for_refusal(self, answer: Answer) -> None:
        """An answer that our own gateway gave in the place of a site."""
        if answer.headers.get(MARK) == self._context.gateway.mark:
            known = self._context.gateway.failure_at(resolve(answer.url))
            raise known or FetchError(
                Failure.NETWORK, "connect", f"No connection to {self._request.url.host} came about."
            )

    async def _watch_size(self) -> None:
        """End a page whose bytes don't end."""
        gateway, began = self._context.gateway, self._context.gateway.received
        while True:
            await asyncio.sleep(LOOKS_AT_SIZE_EVERY)
            limit = self._request.options.max_body
            # Pages of one context share its gateway.
            if gateway.received - began > limit * max(1, self._context.busy):
                self._fail(FetchError(Failure.TOO_LARGE, "body", f"The page is larger than {limit:,} bytes."))

    async def _within(self, seconds: float, work: Coroutine[Any, Any, T], what: str) -> T:
        """The result of a step, or the failure that it is; raises _Over when the page has come to another end meanwhile."""
        from playwright.async_api import Error

        task = asyncio.ensure_future(work)
        try:
            either: list[asyncio.Future[Any]] = [task, self._over]
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._over.done():
                raise _Over
            if not task.done():
                raise took_too_long(what, self._request.url)
            try:
                return task.result()
            except Error as error:
                failure = translated(error, self._request.url, what)
            raise failure
        finally:
            if task.done():
                task.cancelled() or task.exception()
            else:
                task.cancel()


def _without_bytes(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _ABOUT_BYTES}


def _mark(cookie: Cookie) -> tuple[object, ...]:
    return (*cookie.key, cookie.value)


def _for_browser(cookie: Cookie) -> Any:
    return {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain if cookie.host_only else f".{cookie.domain}",
        "path": cookie.path,
        "secure": cookie.secure,
        "expires": cookie.expires_at if cookie.expires_at is not None else -1,
    }


def _from_browser(cookie: Any, now: float) -> Cookie:
    expires = cookie.get("expires", -1)
    return Cookie(
        name=cookie["name"],
        value=cookie["value"],
        domain=cookie["domain"].removeprefix("."),
        path=cookie["path"],
        secure=bool(cookie.get("secure")),
        host_only=not cookie["domain"].startswith("."),
        expires_at=None if expires is None or expires < 0 else float(expires),
        set_at=now,
    )
