"""Settles a process into its work: many short-lived pages, one busy event loop, one thread that writes."""

from __future__ import annotations

import gc
import sys

from tarantella.extractors.memory import keep_freed_memory

# The store's thread asks for the interpreter's lock a few times in each transaction. With the usual 5 ms each time, it
# would hold the database's lock for most of that time.
SWITCH_SECONDS = 0.0005
# What a page leaves behind is freed by reference counts; the collector finds next to nothing, however often it looks.
ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000


def tune() -> None:
    """Call it once, when a worker starts."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 20, 100)
    keep_freed_memory()
