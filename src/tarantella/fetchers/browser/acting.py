"""What is done on a page before it is read: actions that a user wrote down, and looking for more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from tarantella.domain.browsing import Action, Browsing
from tarantella.fetchers.browser.traffic import Traffic

if TYPE_CHECKING:
    from playwright.async_api import Page

MORE_SECONDS = 60.0  # for all the scrolling and clicking that looks for more; then the page is read as it is
QUIET_SECONDS = 10.0
_SCROLL = "() => { window.scrollTo(0, document.documentElement.scrollHeight); }"
_SIZE = "() => [document.documentElement.scrollHeight, document.getElementsByTagName('*').length].join()"


class Actor:
    """Acts on one page. Everything that it does is bounded by Playwright's own time for an operation."""

    def __init__(self, page: Page, traffic: Traffic, browsing: Browsing, secrets: Mapping[str, str]) -> None:
        self._page = page
        self._traffic = traffic
        self._browsing = browsing
        self._secrets = secrets

    async def rest(self) -> None:
        """Until the network has been quiet for a moment, or for as long as that is worth waiting for."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._traffic.quiet(self._browsing.quiet_ms / 1000), QUIET_SECONDS)

    async def act(self, action: Action) -> None:
        if action.optional and not await self._is_there(action):
            return
        if action.click is not None:
            await self._page.click(action.click)
        elif action.fill is not None:
            # Typed by nobody: a value can hold anything, and is never code.
            value = self._secrets.get(action.secret, "") if action.secret is not None else action.value
            await self._page.fill(action.fill, value or "")
            return
        elif isinstance(action.wait, str):
            await self._page.wait_for_selector(action.wait, state="attached")
            return
        elif action.wait is not None:
            await asyncio.sleep(action.wait)
            return
        elif action.scroll is not None:
            await self.scroll(action.scroll)
            return
        await self.rest()

    async def look_for_more(self) -> None:
        """Scroll and click while that brings something, as often as was allowed."""
        browsing = self._browsing
        if browsing.load_more is not None:
            await self._load_more(browsing.load_more, browsing.load_more_times)
        if browsing.scroll:
            await self.scroll(browsing.scroll)

    async def scroll(self, times: int) -> None:
        until = monotonic() + MORE_SECONDS
        size = await self._page.evaluate(_SIZE)
        for _ in range(times):
            await self._page.evaluate(_SCROLL)
            await self.rest()
            before, size = size, await self._page.evaluate(_SIZE)
            if size == before or monotonic() > until:
                return

    async def _load_more(self, selector: str, times: int) -> None:
        until = monotonic() + MORE_SECONDS
        button = self._page.locator(selector).first
        for _ in range(times):
            if not await button.is_visible() or not await button.is_enabled() or monotonic() > until:
                return
            await button.click()
            await self.rest()

    async def _is_there(self, action: Action) -> bool:
        selector = action.click or action.fill or (action.wait if isinstance(action.wait, str) else None)
        return selector is None or await self._page.query_selector(selector) is not None
