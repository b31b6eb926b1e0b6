"""The browser that this machine has, and how it is used."""

from __future__ import annotations

from pathlib import Path

from tarantella.domain.struct import Frozen

PAGES_PER_CONTEXT = 100


class BrowserMeans(Frozen):
    """Which browser, and its limits."""

    program: str
    sandbox: bool | None = None  # None: with it, unless we are root, as whom it can't be had
    navigation_seconds: float = 30.0
    pages_at_once: int = 4
    most_memory: int = 2_000_000_000
    idle_seconds: float = 60.0
    sessions: Path | None = None  # where logins are stored
    pages_per_context: int = PAGES_PER_CONTEXT
