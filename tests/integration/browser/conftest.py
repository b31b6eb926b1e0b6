"""One browser for all tests of a module, because starting one takes longer than most of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright.async_api import Page

from tarantella.domain.browsing import Browsing
from tarantella.domain.url import resolve
from tarantella.fetchers.browser.fetcher import BrowserFetcher
from tarantella.fetchers.browser.means import BrowserMeans
from tarantella.fetchers.contract import FetchError, Options, Request, Response
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tests.browsers import program_or_skip
from tests.site import Site

T = TypeVar("T")
LOOPBACK = ("127.0.0.1/32",)
PATIENCE = 60.0


class Lab:
    """A browser and the site that it looks at, in a thread of their own."""

    def __init__(self, program: str, sessions: Path, **limits: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.sessions = sessions
        self.names: dict[str, list[str]] = {}  # what DNS says, in turn
        self.site = Site()
        self.do(self.site.__aenter__())
        means = BrowserMeans(program, navigation_seconds=5.0, sessions=sessions, **limits)
        self.browser = self.do(self._make(means))

    async def _make(self, means: BrowserMeans) -> BrowserFetcher:
        return BrowserFetcher(Guard(dns=Dns(self._resolve, ttl=0.0)), means)

    def _resolve(self, host: str) -> list[str]:
        answers = self.names.get(host)
        if not answers:
            raise OSError(f"no address for {host}")
        return [answers.pop(0) if len(answers) > 1 else answers[0]]

    def do(self, work: Coroutine[Any, Any, T], seconds: float = PATIENCE) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def url(self, path: str) -> str:
        return self.site.url_for(path) if path.startswith("/") else path

    def request(self, path: str, *, browser: dict[str, Any] | None = None, **options: Any) -> Request:
        values: dict[str, Any] = {"user_agent": "Tarantella/test", "allow_networks": LOOPBACK, **options}
        return Request(resolve(self.url(path)), Options(browsing=Browsing.from_json(browser or {}), **values))

    def fetch(self, path: str, *, browser: dict[str, Any] | None = None, **options: Any) -> Response:
        return self.do(self.browser.fetch(self.request(path, browser=browser, **options)))

    def begin(self, path: str) -> Future[Response]:
        return asyncio.run_coroutine_threadsafe(self.browser.fetch(self.request(path)), self._loop)

    def html(self, path: str, *, browser: dict[str, Any] | None = None, **options: Any) -> str:
        return self.fetch(path, browser=browser, **options).body.decode()

    def failure(self, path: str, *, browser: dict[str, Any] | None = None, **options: Any) -> FetchError:
        with pytest.raises(FetchError) as caught:
            self.fetch(path, browser=browser, **options)
        return caught.value

    def asked(self) -> list[str]:
        return [hit.path for hit in self.site.hits]

    def pages(self) -> list[Page]:
        """The windows that the browser has, those that nobody wanted included."""
        running = self.browser._running
        assert running is not None and running.chromium.browser is not None
        return [page for context in running.chromium.browser.contexts for page in context.pages]

    async def page_at(self, path: str) -> Page:
        """The window that shows this; a page may ask for more before we have heard that the window shows it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for page in self.pages():
                    if page.url == self.url(path):
                        return page
                await asyncio.sleep(0.02)

    def close(self) -> None:
        self.do(self.browser.close())
        self.do(self.site.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="module")
def module_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = Lab(program_or_skip(), tmp_path_factory.mktemp("sessions"))
    yield lab
    lab.close()


@pytest.fixture
def lab(module_lab: Lab) -> Lab:
    """The browser, with the site's log empty."""
    module_lab.site.log.reset()
    return module_lab
