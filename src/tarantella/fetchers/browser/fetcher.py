"""The browser strategy: one browser for all pages of a process."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tarantella.domain.failure import Failure
from tarantella.fetchers.browser.chromium import Chromium
from tarantella.fetchers.browser.contexts import SECONDS, Context, Contexts
from tarantella.fetchers.browser.failures import crashed, translated
from tarantella.fetchers.browser.means import BrowserMeans
from tarantella.fetchers.browser.visit import PageVisit
from tarantella.fetchers.contract import FetchError, Request, Response
from tarantella.fetchers.guard import Guard
from tarantella.log import log

if TYPE_CHECKING:
    from playwright.async_api import Page

LOOKS_AT_MEMORY_EVERY = 20  # pages


class BrowserFetcher:
    """Shows pages in Chromium and gives what stands on them then."""

    def __init__(self, guard: Guard, means: BrowserMeans) -> None:
        self._guard = guard
        self._means = means
        self._room = asyncio.Semaphore(means.pages_at_once)
        self._starting = asyncio.Lock()
        self._chromium: Chromium | None = None
        self._contexts: Contexts | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._pages = 0

    async def fetch(self, request: Request) -> Response:
        """The page as a browser shows it; raises FetchError and nothing else."""
        async with self._room:
            try:
                return await self._visit(request)
            except FetchError:
                raise
            except Exception as error:
                failure = translated(error, request.url, "unexpected")
            # Raised out here, it does not carry Playwright's exception along, whose text may hold secrets.
            raise failure

    async def _visit(self, request: Request) -> Response:
        chromium, contexts = await self._ready()
        try:
            context = await contexts.take(request)
        except TimeoutError:
            self._replace(chromium)
            raise crashed("hung") from None
        page: Page | None = None
        broken = True
        try:
            async with asyncio.timeout(SECONDS):
                page = await context.browser.new_page()
            response = await PageVisit(page, context, request, self._means.navigation_seconds).run()
            broken = False
            return response
        except TimeoutError:
            self._replace(chromium)
            raise crashed("hung") from None
        except FetchError as error:
            broken = error.failure is Failure.BROWSER or error.detail == "script"
            raise
        finally:
            await self._leave(chromium, contexts, context, page, broken=broken)

    async def _leave(
        self, chromium: Chromium, contexts: Contexts, context: Context, page: Page | None, *, broken: bool
    ) -> None:
        """Close the page, and the context if it is not fit for another; a browser that can't even do that is replaced."""
        from playwright.async_api import Error

        try:
            if page is not None:
                with suppress(Error):
                    async with asyncio.timeout(SECONDS):
                        await page.close()
            await contexts.give_back(context, broken=broken)
            await self._look_at_memory(chromium)
        except TimeoutError:
            self._replace(chromium)

    async def _ready(self) -> tuple[Chromium, Contexts]:
        """The browser, started if there is none, or none that lives."""
        async with self._starting:
            if self._chromium is not None and not self._chromium.is_alive:
                self._replace(self._chromium)
            if self._chromium is None or self._contexts is None:
                means = self._means
                sandbox = os.geteuid() != 0 if means.sandbox is None else means.sandbox
                chromium = Chromium(means.program, sandbox=sandbox)
                await chromium.start()
                self._chromium = chromium
                self._contexts = Contexts(chromium, self._guard, pages_per_context=means.pages_per_context)
            return self._chromium, self._contexts

    def _replace(self, chromium: Chromium) -> None:
        """Let go of this browser; the next page gets another."""
        if self._chromium is not chromium:
            return
        contexts, self._chromium, self._contexts = self._contexts, None, None
        assert contexts is not None
        ending = asyncio.create_task(_end(chromium, contexts))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    async def _look_at_memory(self, chromium: Chromium) -> None:
        self._pages += 1
        if self._pages % LOOKS_AT_MEMORY_EVERY or chromium is not self._chromium:
            return
        async with asyncio.timeout(SECONDS):
            used = await chromium.memory()
        if used > self._means.most_memory:
            log.info("The browser has grown too large and is replaced", action="browser_replaced", bytes=used)
            self._replace(chromium)

    async def close(self) -> None:
        """End the browser; nothing of it is left."""
        if self._chromium is not None:
            self._replace(self._chromium)
        await asyncio.gather(*self._endings)


async def _end(chromium: Chromium, contexts: Contexts) -> None:
    await chromium.stop()
    await contexts.close()
