"""A window of a real browser, and a server with an engine that it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tarantella.services.app import App
from tests.browsers import program_or_skip
from tests.integration.api.conftest import app as app  # the same application as for the API
from tests.integration.api.conftest import site as site
from tests.integration.api.conftest import working
from tests.integration.api.live import serving

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
PATIENCE = 20_000  # milliseconds


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The dashboard in a window, and what the browser complained of."""

    page: Page
    url: str
    complaints: list[str]

    def open(self, path: str = "") -> Page:
        self.page.goto(f"{self.url}/dashboard#/{path}")
        return self.page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = program_or_skip()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def dashboard(app: App, chromium: Browser) -> Iterator[Dashboard]:
    """The dashboard of a server that works; at its end the browser must not have complained of anything."""
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # A browser tells of every answer that is no success; what the page makes of it is what the tests look at.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    with working(app), serving(app) as live:
        context = chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield Dashboard(page, live.url, complaints)
        context.close()
    assert complaints == []
