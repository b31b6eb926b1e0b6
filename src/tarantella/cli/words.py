"""Numbers, times and addresses as people read them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

from tarantella.cli.plain import one_line
from tarantella.domain.run import Counts
from tarantella.domain.url import redact

SHORT_ID = 12
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SCHEME = re.compile(r"^https?://")


def count(number: int, noun: str = "") -> str:
    """`1,234 pages`, `1 page`."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sum_of(counts: Counts) -> str:
    """`5 = 3 done + 1 failed + 1 skipped`: what becomes of pages, and that none is missing."""
    parts = {
        "done": counts.done,
        "failed": counts.failed,
        "skipped": counts.skipped,
        "pending": counts.pending,
    }
    told = [f"{number:,} {name}" for name, number in parts.items() if number or name != "pending"]
    return f"{counts.total:,} = {' + '.join(told)}"


def size(number: float) -> str:
    """`2.1 MB`."""
    for unit, name in _UNITS:
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number:.0f} B"


def duration(seconds: float) -> str:
    """`0.8 s`, `42 s`, `3 min 12 s`, `2 h 5 min`, `3 d 4 h`."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 86_400:
        return f"{whole // 3_600} h {whole % 3_600 // 60} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3_600} h"


def wait(seconds: float) -> str:
    """`7 s`: how long until something happens, never less than it is."""
    whole = max(1, ceil(seconds))
    return f"{whole} s" if whole < 60 else duration(whole)


def cost(told: Mapping[str, Any]) -> str:
    """What a run took: `90, 334.8 kB`, and how its pages were had, where that was not over HTTP alone."""
    line = f"{count(told['requests'])}, {size(told['bytes'])}"
    pages = told["pages_by_strategy"]
    if not told["browser_seconds"] and set(pages) <= {"http"}:
        return line
    shares = ", ".join(f"{count(number)} with {name}" for name, number in pages.items())
    busy = f"the browser was busy for {duration(told['browser_seconds'])}" if told["browser_seconds"] else ""
    return "; ".join(filter(None, (line, f"pages: {shares}" if shares else "", busy)))


def clock(seconds: float) -> str:
    """`0:42`, `1:02:03`: how long something has been going on."""
    whole = int(max(0.0, seconds))
    minutes = f"{whole // 60 % 60}:{whole % 60:02}"
    return minutes if whole < 3_600 else f"{whole // 3_600}:{whole // 60 % 60:02}:{whole % 60:02}"


def rate(per_second: float) -> str:
    if per_second >= 100:
        return f"{per_second:,.0f} pages/s"
    return f"{per_second:.1f} pages/s" if per_second >= 0.1 or per_second == 0 else f"{per_second:.2f} pages/s"


def eta(soonest: float, latest: float) -> str:
    """A range in one unit, as exact as it can be known: `ETA 2–4 min`."""
    if latest < 5:
        return "ETA a few seconds"
    unit, name = (1, "s") if latest < 90 else (60, "min") if latest < 5_400 else (3_600, "h")
    low, high = max(1, round(soonest / unit)), max(1, round(latest / unit))
    return f"ETA {low}–{high} {name}" if low < high else f"ETA {high} {name}"


def when(timestamp: float | None) -> str:
    """A moment in local time."""
    if timestamp is None:
        return ""
    return datetime.fromtimestamp(timestamp, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def iso(timestamp: float | None) -> str | None:
    """A moment for machines."""
    if timestamp is None:
        return None
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds")


def short_id(run_id: str) -> str:
    """The end of a run's id: enough to name it, and the part in which ids of one moment differ."""
    return run_id[-SHORT_ID:]


def clean(text: str) -> str:
    """Text from a site in one line, without secrets."""
    return one_line(redact(text))


def value(found: Any) -> str:
    """What was found on a page: a text as it is, anything else as JSON."""
    return clean(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def shortened(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut in the middle: the beginning tells the site, the end tells the page."""
    if len(text) <= width:
        return text
    room = max(2, width - len(ellipsis))
    tail = room * 3 // 5
    return text[: room - tail] + ellipsis + text[len(text) - tail :]


def short_url(url: str, width: int, ellipsis: str = "…") -> str:
    return shortened(_SCHEME.sub("", clean(url)), width, ellipsis)


def nearby(path: Path) -> str:
    """A path as one would type it here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def host_of(url: str) -> str:
    """`example.com:8080` of an address."""
    return _SCHEME.sub("", url).partition("/")[0].partition("?")[0].rpartition("@")[2]


@lru_cache(maxsize=1)
def program() -> str:
    """How this program can be called again from here: by its name, or by where it was found."""
    if shutil.which("tarantella") is not None:
        return "tarantella"
    return sys.argv[0] if Path(sys.argv[0]).name == "tarantella" else f"{sys.executable} -m tarantella"
