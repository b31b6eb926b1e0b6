"""How long the disk itself takes: a small piece of a file that has its size already, written and waited for."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PIECE = 16_384  # bytes
PIECES = 256
PER_SECOND = 20

_flush = getattr(os, "fdatasync", os.fsync)


@contextmanager
def watched(folder: Path) -> Iterator[list[float]]:
    """The seconds that each flush took while the block lasted."""
    seconds: list[float] = []
    path, over = folder / "disk.probe", threading.Event()
    path.write_bytes(os.urandom(PIECE * PIECES))
    thread = threading.Thread(target=_watch, args=(path, over, seconds), daemon=True)
    thread.start()
    try:
        yield seconds
    finally:
        over.set()
        thread.join()
        path.unlink()


def _watch(path: Path, over: threading.Event, seconds: list[float]) -> None:
    piece = os.urandom(PIECE)
    with path.open("r+b", buffering=0) as file:
        os.fsync(file.fileno())
        while not over.wait(1 / PER_SECOND):
            began = time.perf_counter()
            os.pwrite(file.fileno(), piece, PIECE * (len(seconds) % PIECES))
            _flush(file.fileno())
            seconds.append(time.perf_counter() - began)
