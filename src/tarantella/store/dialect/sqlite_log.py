"""SQLite's log: what is committed goes there first, and is put away into the database when there is much of it.

The file of the log stays as long as it ever was, so its size does not tell how much is in it. Its frames do: each carries
the salts of the log that it belongs to, and those change whenever SQLite begins anew at the start of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tarantella.store.connection import Connection

LONG = 4_000_000  # bytes: putting away more takes so long that whoever waits for the disk notices
# While somebody always writes, SQLite never finds a moment at which all of the log is put away, and it grows. Then others
# wait once, for as long as it takes to put away what was written meanwhile.
TOO_LONG = 16 * LONG
# Cut to this when SQLite begins anew: flushing a file that grows costs more than flushing one that doesn't.
LARGEST_FILE = 8 * LONG

HEADER, FRAME_HEADER = 32, 24  # bytes, in a file whose format is documented and does not change
PAGE_SIZE, SALTS, FRAME_SALTS = slice(8, 12), slice(16, 24), slice(8, 16)

_flush = getattr(os, "fdatasync", os.fsync)  # macOS has only the second


class SqliteLog:
    """The log of one database file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._salts = b""
        self._frame_size = 0
        self._put_away = 0  # frames of the log with these salts, or a few more

    def flush(self) -> None:
        """Wait until everything in it is on the disk. A checkpoint that overtakes this has done so itself."""
        with self._path.open("rb") as file:
            _flush(file.fileno())

    def is_long(self) -> bool:
        """Whether much was written since it was last put away."""
        try:
            with self._path.open("rb", buffering=0) as file:
                return self._is_long(file.fileno())
        except OSError:
            return False

    def put_away(self, connection: Connection, *, alone: Callable[[], AbstractContextManager[None]]) -> None:
        """Copy it into the database, only when it is long. Others write meanwhile, unless it has become too long.

        Before version 3.51.3, SQLite can lose a commit that is made at the very moment at which a log is put away of
        which nothing is left to put away. So either much is left of it, or nobody commits.
        """
        self._put_away = _checkpoint(connection)
        if self._put_away * self._frame_size > TOO_LONG:
            with alone():
                self._put_away = _checkpoint(connection)

    def _is_long(self, descriptor: int) -> bool:
        header = os.pread(descriptor, HEADER, 0)
        if len(header) < HEADER:
            return False
        if header[SALTS] != self._salts:
            self._salts, self._put_away = header[SALTS], 0
            self._frame_size = FRAME_HEADER + int.from_bytes(header[PAGE_SIZE])
        frame = self._put_away + LONG // self._frame_size
        return os.pread(descriptor, FRAME_HEADER, HEADER + frame * self._frame_size)[FRAME_SALTS] == self._salts


def _checkpoint(connection: Connection) -> int:
    """How many frames the log had then; not all of them need have been put away."""
    _busy, frames, _done = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").rows[0]
    return max(0, int(frames))
