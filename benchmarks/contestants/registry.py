"""Who is compared: one entry each, in the order in which they run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from benchmarks.contestants import bare_loops, tarantella_run
from benchmarks.contestants.contract import Contestant, Task

BARE_LOOP = "bare-loop"
TARANTELLA = "tarantella"


def _module(module: str, task: Task) -> list[str]:
    return [
        *(sys.executable, "-m", f"benchmarks.contestants.{module}"),
        *(part for url in task.start_urls for part in ("--url", url)),
        *("--concurrency", str(task.concurrency), "--out", str(task.out)),
    ]


def _bare_loop(task: Task) -> list[str]:
    return [*_module("bare_loop", task), "--text", task.text]


def _bare_loops(task: Task) -> list[str]:
    return [*_module("bare_loops", task), "--text", task.text, "--processes", str(task.processes)]


def _outputs_of_loops(task: Task) -> list[Path]:
    return [bare_loops.output_of(task.out, index) for index in range(task.processes)]


def _scrapy_dedup(task: Task) -> list[str]:
    return _module("scrapy_dedup", task)


def _scrapy_plain(task: Task) -> list[str]:
    return _module("scrapy_plain", task)


def _crawlee_dedup(task: Task) -> list[str]:
    return _module("crawlee_dedup", task)


def _crawlee_plain(task: Task) -> list[str]:
    return _module("crawlee_plain", task)


def _no_bare_loop() -> str | None:
    absent = [name for name in ("orjson", "turbohtml", "uvloop", "wreq") if not importlib.util.find_spec(name)]
    return f"{', '.join(absent)} not installed: run ./setup" if absent else None


def _no_tarantella() -> str | None:
    return None if tarantella_run.entry_point() else "not installed beside this Python: run ./setup"


def _no_scrapy() -> str | None:
    return None if importlib.util.find_spec("scrapy") else "not installed: pip install 'tarantella[bench]'"


def _no_crawlee() -> str | None:
    return None if importlib.util.find_spec("crawlee") else "not installed: pip install 'tarantella[bench]'"


# On one host, beside one another.
CONTESTANTS = (
    Contestant(BARE_LOOP, "wreq + turbohtml + SQLite, no engine: the ceiling", _bare_loop, 100, _no_bare_loop),
    Contestant(TARANTELLA, "`tarantella scrape`", tarantella_run.scrape, 50, _no_tarantella),
    Contestant(
        "scrapy-dedup",
        "Scrapy, links deduplicated in the spider",
        _scrapy_dedup,
        10,
        _no_scrapy,
        site="scrapy",
        extracts_text=False,
    ),
    Contestant(
        "scrapy-plain",
        "Scrapy, a request per link",
        _scrapy_plain,
        5,
        _no_scrapy,
        site="scrapy",
        extracts_text=False,
    ),
    Contestant(
        "crawlee-dedup",
        "Crawlee with Parsel, links deduplicated in the handler",
        _crawlee_dedup,
        10,
        _no_crawlee,
        site="crawlee",
        extracts_text=False,
    ),
    Contestant(
        "crawlee-plain",
        "Crawlee with Parsel, every link enqueued",
        _crawlee_plain,
        5,
        _no_crawlee,
        site="crawlee",
        extracts_text=False,
    ),
)
# On several hosts, in several processes.
LOOPS = Contestant(
    "bare-loops",
    "a bare loop per process, each on its share of the hosts",
    _bare_loops,
    100,
    _no_bare_loop,
    outputs=_outputs_of_loops,
)


def named(name: str) -> Contestant:
    return next(contestant for contestant in CONTESTANTS if contestant.name == name)
