"""Waiting for the disk, for many at once: it takes as long for one commit as for fifty."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Disk:
    """Flushes what was committed, one flush at a time, each for all who asked before it began."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-disk")
        self._lock = threading.Lock()
        self._next: Future[None] | None = None  # has not begun

    def reached(self) -> Future[None]:
        """Done when everything that was committed before this call is on the disk."""
        with self._lock:
            if self._next is None:
                self._next = self._thread.submit(self._run)
            return self._next

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    def _run(self) -> None:
        with self._lock:
            # Whoever commits from here on needs another one.
            self._next = None
        self._flush()
