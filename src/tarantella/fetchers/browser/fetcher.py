"""The browser strategy: one browser for all pages of a process."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

from tarantella.domain.failure import Failure
from tarantella.domain.struct import Mutable, field
from tarantella.fetchers.browser.chromium import Chromium
from tarantella.fetchers.browser.contexts import SECONDS, Context, Contexts
from tarantella.fetchers.browser.failures import crashed, translated
from tarantella.fetchers.browser.means import BrowserMeans
from tarantella.fetchers.browser.sessions import Sessions
from tarantella.fetchers.browser.tab import Tab
from tarantella.fetchers.browser.visit import PageVisit
from tarantella.fetchers.contract import FetchError, Request, Response
from tarantella.fetchers.guard import Guard
from tarantella.log import log

LOOKS_AT_MEMORY_EVERY = 20  # pages


class _Running(Mutable, eq=False):
    """A browser at work."""

    chromium: Chromium
    contexts: Contexts
    busy: int = 0
    pages: int = 0
    worn: bool = False  # it gets no more pages, and is replaced when those in it have ended
    empty: asyncio.Event = field(default_factory=asyncio.Event)


class BrowserFetcher:
    """Shows pages in Chromium and gives what stands on them then."""

    def __init__(self, guard: Guard, means: BrowserMeans) -> None:
        self._guard = guard
        self._means = means
        self._room = asyncio.Semaphore(means.pages_at_once)
        self._starting = asyncio.Lock()
        self._running: _Running | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._nap: asyncio.TimerHandle | None = None

    async def fetch(self, request: Request) -> Response:
        """The page as a browser shows it; raises FetchError and nothing else."""
        async with self._room:
            running = await self._ready()
            running.busy += 1
            running.empty.clear()
            try:
                return await self._visit(running, request)
            except FetchError as error:
                failure = error
            except Exception as error:
                failure = translated(error, request.url, "unexpected")
            finally:
                self._one_less(running)
            if failure.failure is Failure.BROWSER and not await running.chromium.answers():
                self._replace(running)
            # Raised out here, it does not carry Playwright's exception along, whose text may hold secrets.
            raise failure

    async def close(self) -> None:
        """End the browser; nothing of it is left."""
        if self._running is not None:
            self._replace(self._running)
        await asyncio.gather(*self._endings)

    # -- one page

    async def _visit(self, running: _Running, request: Request) -> Response:
        try:
            context = await running.contexts.take(request)
        except TimeoutError:
            self._replace(running)
            raise crashed("hung") from None
        tab: Tab | None = None
        broken, clean = True, False
        try:
            async with asyncio.timeout(SECONDS):
                tab = await context.tab()
            visit = PageVisit(tab, context, request, self._means.navigation_seconds)
            response = await visit.run()
            broken, clean = False, visit.clean
            return response
        except TimeoutError:
            self._replace(running)
            raise crashed("hung") from None
        except FetchError as error:
            broken = error.failure is Failure.BROWSER or error.detail == "script"
            raise
        finally:
            await self._leave(running, context, tab, broken=broken, clean=clean)

    async def _leave(self, running: _Running, context: Context, tab: Tab | None, *, broken: bool, clean: bool) -> None:
        """Keep the window for the next page if it is fit for one; a browser that can't even close one is replaced."""
        from playwright.async_api import Error

        try:
            if tab is not None:
                with suppress(Error):
                    async with asyncio.timeout(SECONDS):
                        await context.leave(tab, clean=clean)
            await running.contexts.give_back(context, broken=broken)
            await self._look_at_memory(running)
        except TimeoutError:
            self._replace(running)

    async def _look_at_memory(self, running: _Running) -> None:
        running.pages += 1
        if running.pages % LOOKS_AT_MEMORY_EVERY or running.worn or not running.chromium.is_alive:
            return
        async with asyncio.timeout(SECONDS):
            used = await running.chromium.memory()
        if used > self._means.most_memory:
            log.info("The browser has grown too large and is replaced", action="browser_replaced", bytes=used)
            running.worn = True

    # -- the browser

    async def _ready(self) -> _Running:
        """The browser, started if there is none, or none that can be used any more."""
        async with self._starting:
            if self._nap is not None:
                self._nap.cancel()
                self._nap = None
            running = self._running
            if running is not None and running.worn and running.busy:
                # One at a time: two large ones could be more than the machine has room for.
                await running.empty.wait()
            if running is not None and (running.worn or not running.chromium.is_alive):
                self._replace(running)
            return self._running or await self._start()

    async def _start(self) -> _Running:
        means = self._means
        sandbox = os.geteuid() != 0 if means.sandbox is None else means.sandbox
        chromium = Chromium(means.program, sandbox=sandbox)
        await chromium.start()
        sessions = Sessions(means.sessions) if means.sessions is not None else None
        contexts = Contexts(chromium, self._guard, pages_per_context=means.pages_per_context, sessions=sessions)
        self._running = _Running(chromium, contexts)
        return self._running

    def _one_less(self, running: _Running) -> None:
        running.busy -= 1
        if running.busy:
            return
        running.empty.set()
        if running is self._running:
            loop = asyncio.get_running_loop()
            self._nap = loop.call_later(self._means.idle_seconds, self._rest, running)

    def _rest(self, running: _Running) -> None:
        """Nobody has wanted a page for a while: others on this machine can use the memory."""
        if not running.busy and running is self._running:
            self._replace(running)

    def _replace(self, running: _Running) -> None:
        """Let go of this browser; the next page gets another."""
        if self._running is not running:
            return
        self._running = None
        ending = asyncio.create_task(_end(running))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)


async def _end(running: _Running) -> None:
    await running.chromium.stop()
    await running.contexts.close()
