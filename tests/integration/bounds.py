"""Says whether something stayed within bounds: the memory of this process, and the patience of its event loop."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

MEGABYTE = 1024 * 1024
TICK = 0.005


@contextmanager
def growing_by_at_most(megabytes: int) -> Iterator[None]:
    """Fail if this process is ever so much larger meanwhile than it was before."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not reset.exists():
        pytest.skip("This system does not tell the peak of a process.")

    def peak() -> int:
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024

    reset.write_text("5")
    before = peak()
    yield
    grown = peak() - before
    assert grown < megabytes * MEGABYTE, f"grew by {grown / MEGABYTE:.0f} MB"


@asynccontextmanager
async def loop_busy_at_most(seconds: float) -> AsyncIterator[None]:
    """Fail if the event loop ever computes for so long without looking at anybody else.

    Counted in its own processor time: a machine that is busy otherwise is nobody's fault.
    """
    worst = 0.0

    async def tick() -> None:
        nonlocal worst
        while True:
            began = time.thread_time()
            await asyncio.sleep(TICK)
            worst = max(worst, time.thread_time() - began)

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
    assert worst < seconds, f"busy for {worst:.2f} s"
