"""Identifiers that sort by the time they were made (UUID version 7)."""

from __future__ import annotations

import os
import time
from uuid import UUID

LENGTH = 36
SHOWN = 12  # of its end, where there is little room
HIGHEST = "~"  # sorts behind every character of an identifier


def new_id() -> str:
    """A new identifier."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    value = (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | (random >> 68) << 64 | 0b10 << 62 | random & (2**62 - 1)
    return str(UUID(int=value))
