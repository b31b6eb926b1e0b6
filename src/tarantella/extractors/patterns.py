"""Regular expressions that may not take long."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

MAX_MATCHES = 10_000
SECONDS = 1.0  # for all expressions on one page


class TookTooLong(Exception):
    """The expression was stopped: on this page it would have taken more time than a page may."""


class Stopwatch:
    """The time that is left for the expressions on one page."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def find(self, pattern: str, text: str, *, only_first: bool) -> list[str]:
        """What an expression finds: its first group, if it has one, or all of it. Raises TookTooLong."""
        if self._left <= 0:
            raise TookTooLong
        compiled = compile_pattern(pattern)
        group = 1 if compiled.groups else 0
        started = time.monotonic()
        found: list[str] = []
        try:
            for match in compiled.finditer(text, timeout=self._left):
                value = match[group]
                if value is not None:
                    found.append(value)
                if (only_first and found) or len(found) >= MAX_MATCHES:
                    break
        except TimeoutError:
            self._left = 0.0
            raise TookTooLong from None
        self._left -= time.monotonic() - started
        return found


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Raises regex.error for what isn't an expression."""
    import regex

    return regex.compile(pattern)
