"""A small site on loopback that the package brings along, to be crawled for demonstration."""

from __future__ import annotations

from tarantella.demo.content import EXPECTED, PAGES, Ending, Expected, Page
from tarantella.demo.site import DemoSite

__all__ = ["EXPECTED", "PAGES", "DemoSite", "Ending", "Expected", "Page"]
