"""What a benchmark is: a name, the question it answers, and what it finds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.contestants.contract import Contestant


@dataclass(frozen=True, slots=True)
class Setting:
    """How large, how often and where; the defaults are what `make bench` does."""

    work_dir: Path
    pages: int = 30_000
    scrapy_pages: int = 3_000
    crawlee_pages: int = 3_000
    many: int = 100_000
    rounds: int = 3
    repetitions: int = 10
    concurrency: int = 64
    text: str = "none"
    engines: int = 2
    hosts: int = 8
    # Only these, where several are compared; none means all.
    contestants: tuple[str, ...] = ()

    def pages_for(self, contestant: Contestant) -> int:
        slow = {"scrapy": self.scrapy_pages, "crawlee": self.crawlee_pages}
        return min(self.pages, slow.get(contestant.site, self.pages))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people; the first column is words, the others are figures."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What a figure should be."""

    what: str
    value: float
    limit: float
    unit: str = ""
    at_most: bool = True

    @property
    def met(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit


@dataclass(frozen=True, slots=True)
class Findings:
    """What a benchmark found out."""

    tables: Sequence[Table]
    raw: Sequence[Mapping[str, Any]]
    wishes: Sequence[Wish] = ()
    notes: Sequence[str] = ()
    # What was not done as it should have been: those figures count for nothing.
    complaints: Sequence[str] = ()
    # Who did not take part, and why.
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One question. To add one: a file with one of these in it, and a line in registry.py."""

    name: str
    asks: str
    run: Callable[[Setting], Findings]


def say(line: str) -> None:
    """Tell whoever waits how far we are."""
    print(line, file=sys.stderr, flush=True)
