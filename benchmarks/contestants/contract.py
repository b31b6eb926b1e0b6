"""What is asked of a contestant, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Task:
    """Crawl all that can be reached from here, and leave one JSON line a page."""

    start_urls: tuple[str, ...]
    out: Path
    concurrency: int
    text: str
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Contestant:
    """A crawler: how to start it, and what is expected of it."""

    name: str
    describes: str
    command: Callable[[Task], list[str]]
    # Below this many pages per second a run is taken for hung.
    hopeless_rate: float
    # Why it can't run here and what to do about it, or None.
    missing: Callable[[], str | None]
    # Whose number of pages it gets: the slow ones would take too long on the site of the fast ones.
    site: Literal["everybody", "scrapy", "crawlee"] = "everybody"
    outputs: Callable[[Task], list[Path]] = lambda task: [task.out]
    extracts_text: bool = True

    def timeout_seconds(self, pages: int) -> float:
        return 60 + pages / self.hopeless_rate
