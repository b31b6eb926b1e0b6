"""The real browser that tests use."""

from __future__ import annotations

import os
from functools import lru_cache

import pytest

from tarantella.fetchers.browser.finding import find_browser


@lru_cache(maxsize=1)
def program() -> str | None:
    """Chromium on this machine, if it has one."""
    return find_browser().program


def program_or_skip() -> str:
    """The browser. On a laptop a test without it is skipped; where CI is set, it fails."""
    found = program()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing, and CI must not skip what needs it: make setup-browser")
        pytest.skip("there is no Chromium: make setup-browser installs it")
    return found
