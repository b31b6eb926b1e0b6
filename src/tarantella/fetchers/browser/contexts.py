"""Contexts: a browser's own cookies, storage and way out, for the pages of one job on one host."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tarantella.domain.errors import NotFound, StoreBroken
from tarantella.domain.failure import MISSING, Failure
from tarantella.domain.session import Session
from tarantella.domain.struct import Mutable, field
from tarantella.fetchers.browser.chromium import Chromium
from tarantella.fetchers.browser.means import PAGES_PER_CONTEXT
from tarantella.fetchers.browser.sessions import Sessions
from tarantella.fetchers.browser.tab import Tab
from tarantella.fetchers.contract import FetchError, Options, Request
from tarantella.fetchers.gateway import Gateway
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.user_agent import default_user_agent

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

VIEWPORT = (1280, 720)
MOST_CONTEXTS = 8
TAB_SECONDS = 0.5  # for which a window without a page to show is kept
SECONDS = 10.0  # for whatever is asked of the browser itself


class Context(Mutable, eq=False):
    """A context and its gateway."""

    browser: BrowserContext
    gateway: Gateway
    key: Hashable
    pages: int = 0
    busy: int = 0
    retired: bool = False
    known_cookies: set[tuple[object, ...]] = field(default_factory=set)
    idle: list[Tab] = field(default_factory=list)
    _nap: asyncio.TimerHandle | None = None

    async def tab(self) -> Tab:
        """A window for a page: one that has shown another before, if there is one, for a new one costs more than a page."""
        if self._nap is not None:
            self._nap.cancel()
            self._nap = None
        while self.idle:
            tab = self.idle.pop()
            if not tab.page.is_closed():
                return tab
        return await Tab.open(self.browser)

    async def leave(self, tab: Tab, *, clean: bool) -> None:
        """A page has been read. Its window is kept for the next one, if that comes soon: until then its scripts go on."""
        if not clean or self.retired:
            await tab.close()
            return
        self.idle.append(tab)
        if self._nap is None:
            self._nap = asyncio.get_running_loop().call_later(TAB_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._nap = None
        while self.idle:
            closing = asyncio.ensure_future(self.idle.pop().close())
            closing.add_done_callback(lambda done: done.cancelled() or done.exception())


class Contexts:
    """The contexts of one browser, the least recently used closed first."""

    def __init__(
        self,
        chromium: Chromium,
        guard: Guard,
        *,
        pages_per_context: int = PAGES_PER_CONTEXT,
        sessions: Sessions | None = None,
    ) -> None:
        self._chromium = chromium
        self._guard = guard
        self._most_pages = pages_per_context
        self._sessions = sessions
        self._contexts: OrderedDict[Hashable, Context] = OrderedDict()
        self._making = (
            asyncio.Lock()
        )  # one context at a time: two for the same pages would each have half of their cookies

    async def take(self, request: Request) -> Context:
        """A context for this page; `give_back` comes later. Raises TimeoutError when the browser hangs."""
        key = _key(request.options, request.url.host, self._edition(request.options.session))
        async with self._making:
            context = self._contexts.get(key)
            if context is None or context.retired:
                context = self._contexts[key] = await self._make(key, request.options, None)
            elif context.pages >= self._most_pages:
                context = await self._renewed(context, request.options)
            context.busy += 1
            context.pages += 1
        self._contexts.move_to_end(key)
        await self._make_room()
        return context

    async def _renewed(self, old: Context, options: Options) -> Context:
        """A context in the place of one that has had its pages; what the site has stored in the old one goes on in it."""
        context = await self._make(old.key, options, await _state(old))
        context.known_cookies |= old.known_cookies
        self._contexts[old.key] = context
        await self._retire(old)
        return context

    async def give_back(self, context: Context, *, broken: bool = False) -> None:
        """One page less in it; a context that was renewed or is broken is closed when its last page is."""
        context.busy -= 1
        alone = not isinstance(context.key, tuple) or not context.key[0]
        if broken or alone or context.retired:
            await self._retire(context)

    async def _retire(self, context: Context) -> None:
        context.retired = True
        if self._contexts.get(context.key) is context:
            del self._contexts[context.key]
        if not context.busy:
            await _close(context)

    async def _make_room(self) -> None:
        idle = [context for context in self._contexts.values() if not context.busy]
        for context in idle[: max(0, len(self._contexts) - MOST_CONTEXTS)]:
            await self._retire(context)

    async def _make(self, key: Hashable, options: Options, state: Any) -> Context:
        session = await self._session(options.session)
        given: Any = session.to_json() if session is not None else None
        gateway = Gateway(self._guard, options)
        await gateway.start()
        assert self._chromium.browser is not None
        try:
            async with asyncio.timeout(SECONDS):
                made = await self._chromium.browser.new_context(
                    viewport={"width": VIEWPORT[0], "height": VIEWPORT[1]},
                    user_agent=self._user_agent(options),
                    proxy={"server": f"http://127.0.0.1:{gateway.port}"},
                    service_workers="block",
                    accept_downloads=False,
                    storage_state=state or given,
                )
                made.set_default_timeout(SECONDS * 1000)
                if options.cookies and state is None:
                    await made.add_cookies([_given(cookie) for cookie in options.cookies])
        except BaseException:
            await gateway.close()
            raise
        context = Context(made, gateway, key)
        if session is not None:
            # Known from the start, they are not taken for something that the site has set, and stored with the run.
            context.known_cookies.update(_marks(session))
        return context

    def _edition(self, session: str | None) -> int | None:
        """Tells a session from the one that had its name before, so that one that was replaced or deleted is used no more."""
        return self._sessions.edition(session) if session is not None and self._sessions is not None else None

    async def _session(self, name: str | None) -> Session | None:
        if name is None:
            return None
        try:
            if self._sessions is None:
                raise NotFound(f"There is no session {name!r}.")
            return await asyncio.to_thread(self._sessions.load, name)
        except (NotFound, StoreBroken) as error:
            raise FetchError(Failure.BROWSER, MISSING, str(error)) from None

    def _user_agent(self, options: Options) -> str:
        """A user's choice as it is; otherwise a browser's, with our own name behind it, as honest crawlers have it."""
        ours = default_user_agent()
        return f"{self._chromium.user_agent} {ours}" if options.user_agent == ours else options.user_agent

    async def close(self) -> None:
        contexts = list(self._contexts.values())
        self._contexts.clear()
        await asyncio.gather(*(context.gateway.close() for context in contexts))


async def _state(context: Context) -> Any:
    """Its cookies and storage; nothing, where it can't be asked any more."""
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        async with asyncio.timeout(SECONDS):
            return await context.browser.storage_state()
    return None


async def _close(context: Context) -> None:
    """Raises TimeoutError when the browser hangs."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(SECONDS):
            with suppress(Error):
                await context.browser.close()
    finally:
        await context.gateway.close()


def _key(options: Options, host: str, edition: int | None) -> tuple[object, ...]:
    """Whose pages share a context: those of one job on one host, fetched in the same way."""
    given = tuple(tuple(sorted(cookie.items())) for cookie in options.cookies)
    way = (
        options.user_agent,
        options.proxy,
        options.near_proxy,
        options.allow_networks,
        options.connect_timeout,
        options.session,
        edition,
        given,
    )
    return (options.owner, host, way) if options.owner else ("", object())


def _marks(session: Session) -> Iterator[tuple[object, ...]]:
    """Its cookies, as visits tell them apart."""
    for cookie in session.cookies:
        yield cookie["domain"].removeprefix("."), cookie["path"], cookie["name"], cookie["value"]


def _given(cookie: Mapping[str, str]) -> Any:
    """A user's cookie as a browser takes it."""
    return {
        "name": cookie["name"],
        "value": cookie["value"],
        "domain": cookie.get("domain", ""),
        "path": cookie.get("path") or "/",
        "secure": str(cookie.get("secure", "")).lower() in ("true", "1"),
    }
