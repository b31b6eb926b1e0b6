"""A small site on loopback that the package brings along, to be crawled for demonstration."""

from __future__ import annotations

from tarantella.demo.content import EXPECTED, EXPECTED_WITH_BROWSER, PAGES, Ending, Expected, Page
from tarantella.demo.site import DemoSite

__all__ = ["EXPECTED", "EXPECTED_WITH_BROWSER", "PAGES", "DemoSite", "Ending", "Expected", "Page"]
