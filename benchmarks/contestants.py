"""Who is compared: one entry each, in the order in which they run."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tarantella_run

Command = Callable[[str, Path, int, str], list[str]]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A crawler: how to start it, and what is expected of it."""

    name: str
    describes: str
    command: Command
    # Below this many pages per second a run is taken for hung.
    hopeless_rate: float
    # Why it can't run here and what to do about it, or None.
    missing: Callable[[], str | None]
    small_site: bool = False

    def timeout_seconds(self, pages: int) -> float:
        return 60 + pages / self.hopeless_rate


def _module(module: str, url: str, out: Path, concurrency: int) -> list[str]:
    return [
        *(sys.executable, "-m", f"benchmarks.{module}"),
        *("--url", url, "--concurrency", str(concurrency), "--out", str(out)),
    ]


def _bare_loop(url: str, out: Path, concurrency: int, text: str) -> list[str]:
    return [*_module("bare_loop", url, out, concurrency), "--text", text]


def _scrapy_plain(url: str, out: Path, concurrency: int, _text: str) -> list[str]:
    return _module("scrapy_plain", url, out, concurrency)


def _scrapy_dedup(url: str, out: Path, concurrency: int, _text: str) -> list[str]:
    return _module("scrapy_dedup", url, out, concurrency)


def _tarantella(url: str, out: Path, concurrency: int, text: str) -> list[str]:
    entry = tarantella_run.entry_point()
    assert entry is not None, "asked to run although it is missing"
    return tarantella_run.command(entry, url, out, concurrency, text)


def _no_tarantella() -> str | None:
    return None if tarantella_run.entry_point() else "not installed beside this Python: run ./setup"


def _no_scrapy() -> str | None:
    return None if importlib.util.find_spec("scrapy") else "not installed: pip install 'tarantella[bench]'"


def _no_bare_loop() -> str | None:
    absent = [name for name in ("orjson", "turbohtml", "uvloop", "wreq") if not importlib.util.find_spec(name)]
    return f"{', '.join(absent)} not installed: run ./setup" if absent else None


BARE_LOOP = "bare-loop"
TARANTELLA = "tarantella"
SCRAPY_DEDUP = "scrapy-dedup"
SCRAPY_PLAIN = "scrapy-plain"

CONTESTANTS = (
    Contestant(BARE_LOOP, "wreq + turbohtml + SQLite, no engine: the ceiling", _bare_loop, 100, _no_bare_loop),
    Contestant(TARANTELLA, "`tarantella scrape`", _tarantella, 50, _no_tarantella),
    Contestant(
        SCRAPY_DEDUP,
        "Scrapy, links deduplicated in the spider",
        _scrapy_dedup,
        10,
        _no_scrapy,
        small_site=True,
    ),
    Contestant(SCRAPY_PLAIN, "Scrapy, a request per link", _scrapy_plain, 5, _no_scrapy, small_site=True),
)
