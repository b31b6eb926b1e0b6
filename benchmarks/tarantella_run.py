"""Tarantella as a user runs it: its command, in a process of its own, with a fresh data folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def entry_point() -> list[str] | None:
    """How to start Tarantella here, or None when it is not installed beside this Python."""
    script = Path(sys.executable).with_name("tarantella")
    if script.is_file():
        return [str(script)]
    if importlib.util.find_spec("tarantella") and importlib.util.find_spec("tarantella.__main__"):
        return [sys.executable, "-m", "tarantella"]
    return None


def command(entry: list[str], url: str, out: Path, concurrency: int, text: str) -> list[str]:
    """Crawl everything that can be reached, without waiting for politeness on our own loopback."""
    return [
        *entry,
        *("scrape", url, "--depth", "all", "--max-pages", "1000000"),
        *("--concurrency", str(concurrency), "--per-host", str(concurrency)),
        *("--allow-network", "127.0.0.0/8", "--text", text),
        *("--format", "jsonl", "--output", str(out), "--data-dir", str(out.parent / "data"), "--quiet"),
    ]
