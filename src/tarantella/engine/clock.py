"""The two times: wall time for what is stored, monotonic time for waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Where a worker reads them."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
