"""Settles a process into its work: many short-lived pages, one busy event loop, one thread that writes."""

from __future__ import annotations

import gc
import resource
import sys
from contextlib import suppress
from pathlib import Path

from tarantella.extractors.memory import keep_freed_memory
from tarantella.log import log

# The store's thread asks for the interpreter's lock a few times in each transaction. With the usual 5 ms each time, it
# would hold the database's lock for most of that time.
SWITCH_SECONDS = 0.0005
# What a page leaves behind is freed by reference counts; the collector finds next to nothing, however often it looks.
ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
# More than any crawl needs, and no more than every system allows.
MOST_FILES = 8_192
# For the store, its log, locks, event loops, children, and names that are looked up.
FILES_OF_OUR_OWN = 40
FEW_SLOTS = 32


def slots_for_files(slots: int) -> int:
    """How many of these requests in flight this process can have files for, after asking for as many as it may open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return slots
    # Two for each: the one in use, and one that is kept for the next request to another host.
    possible = max(1, (soft - FILES_OF_OUR_OWN) // 2)
    if possible < min(slots, FEW_SLOTS):
        log.warning(
            f"At most {possible} requests at a time: this process may open only {soft} files; `ulimit -n` says how many",
            action="few_files",
        )
    return min(slots, possible)


def memory() -> int:
    """Bytes of memory that this process has now; where the system does not say, the most that it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1_024
    return pages * resource.getpagesize()


def tune() -> None:
    """Call it once, when a worker starts."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 20, 100)
    keep_freed_memory()
