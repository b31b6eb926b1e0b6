"""Identifiers that sort by the time they were made (UUID version 7)."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

LENGTH = 36
SHOWN = 12  # of its end, where there is little room
HIGHEST = "~"  # sorts behind every character of an identifier


_turn = threading.Lock()
_last = 0


def new_id() -> str:
    """A new identifier. Those of one process come in the order in which they were made, also within a millisecond."""
    global _last
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    value = (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | (random >> 68) << 64 | 0b10 << 62 | random & (2**62 - 1)
    with _turn:
        if value <= _last:
            # By as much as nobody can guess: another process may have had the same beginning.
            value = _last + 1 + (random & (2**32 - 1))
        _last = value
    return str(UUID(int=value))
