"""Tarantella as a user runs it: its command, in a process of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from benchmarks.contestants.contract import Task

# What `scrape` and `runs resume` have loaded by the time of their first request.
ALL_PARTS = "import tarantella.cli.app, tarantella.cli.foreground, tarantella.bootstrap"


def entry_point() -> list[str] | None:
    """How to start Tarantella here, or None when it is not installed beside this Python."""
    script = Path(sys.executable).with_name("tarantella")
    if script.is_file():
        return [str(script)]
    if importlib.util.find_spec("tarantella") and importlib.util.find_spec("tarantella.__main__"):
        return [sys.executable, "-m", "tarantella"]
    return None


def command(*words: str) -> list[str]:
    """A command line of Tarantella's."""
    entry = entry_point()
    assert entry is not None, "asked to run although it is missing"
    return [*entry, *words]


def scrape(task: Task) -> list[str]:
    """Crawl everything that can be reached, without waiting for politeness on our own loopback."""
    return command(
        *("scrape", *task.start_urls, "--depth", "all", "--max-pages", "1000000"),
        *("--concurrency", str(task.concurrency), "--per-host", str(task.concurrency)),
        *("--allow-network", "127.0.0.0/8", "--text", task.text, "--engines", str(task.processes)),
        *("--format", "jsonl", "--output", str(task.out), "--data-dir", str(data_dir(task)), "--quiet"),
    )


def resume(run_id: str, task: Task) -> list[str]:
    """Go on with a run that was interrupted."""
    return command(
        *("runs", "resume", run_id, "--engines", str(task.processes)),
        *("--format", "jsonl", "--output", str(task.out), "--data-dir", str(data_dir(task)), "--quiet"),
    )


def data_dir(task: Task) -> Path:
    return task.out.parent / "data"
