"""The two times: wall time for what is stored, monotonic time for waiting."""

from __future__ import annotations

import time
from collections.abc import Callable

from tarantella.domain.struct import Frozen


class Clock(Frozen):
    """Where a worker reads them."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
