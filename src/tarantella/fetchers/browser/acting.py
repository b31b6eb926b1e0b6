"""What is done on a page before it is read: actions that a user wrote down, and looking for more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic

from tarantella.domain.browsing import Action, Browsing
from tarantella.domain.challenge import Signs, passes_by_itself
from tarantella.fetchers.browser.tab import Tab

MORE_SECONDS = 60.0  # for all the scrolling and clicking that looks for more; then the page is read as it is
QUIET_SECONDS = 10.0
BLANK_SECONDS = 3.0
CHECK_SECONDS = 10.0  # most checks that let browsers through take about five
LOOKS_AT_CHECK_EVERY = 0.25
LOOK_SECONDS = 1.0
_SCROLL = "() => { window.scrollTo(0, document.documentElement.scrollHeight); }"
_SIZE = "() => [document.documentElement.scrollHeight, document.getElementsByTagName('*').length].join()"

_SOMETHING = """() => !document.body || !document.scripts.length || document.body.innerText.trim() !== ''
  || document.querySelector('img, svg, canvas, video, iframe, frame, object, embed, input') !== null"""
_SIGNS = """() => [document.title, document.links.length,
  document.body && document.links.length <= 50 ? document.body.innerText.split(/\\s+/).length : 0]"""


class Actor:
    """Acts on one page. Everything that it does is bounded by Playwright's own time for an operation."""

    def __init__(self, tab: Tab, browsing: Browsing, secrets: Mapping[str, str]) -> None:
        self._page = tab.page
        self._tab = tab
        self._browsing = browsing
        self._secrets = secrets

    async def rest(self) -> None:
        """Until the network has been quiet for a moment, or for as long as that is worth waiting for."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._tab.quiet(self._browsing.quiet_ms / 1000), QUIET_SECONDS)

    async def see_something(self) -> None:
        """A page with nothing on it is given a moment more: scripts wait for clocks and workers as well as for the network."""
        from playwright.async_api import Error

        with suppress(Error):
            await self._page.wait_for_function(_SOMETHING, polling=100, timeout=BLANK_SECONDS * 1000)

    async def wait_out_a_check(self) -> bool:
        """A check that lets browsers through by itself is given the time for it; whether there was one."""
        if not await self._is_checked():
            return False
        for _ in range(int(CHECK_SECONDS / LOOKS_AT_CHECK_EVERY)):
            await asyncio.sleep(LOOKS_AT_CHECK_EVERY)
            if not await self._is_checked():
                break
        return True

    async def _is_checked(self) -> bool:
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(LOOK_SECONDS):
                title, links, words = await self._page.evaluate(_SIGNS)
        except (Error, TimeoutError):
            return False  # it goes on to another page at this very moment, or is too busy to say
        return passes_by_itself(Signs(links=links, words=words, title=title))

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
