"""Child processes with a group of their own: waited for, and ended with all that they have started."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress

GRACE_SECONDS = 5.0
LOOK_SECONDS = 0.1


async def until_ended(child: Process) -> int:
    """Its exit code. What it left behind may hold its streams, and is not waited for, as asyncio would."""
    waiting = asyncio.create_task(child.wait())
    try:
        while child.returncode is None:
            await asyncio.wait({waiting}, timeout=LOOK_SECONDS)
        return child.returncode
    finally:
        waiting.cancel()


async def end(child: Process) -> None:
    """End the process and its group: with a word first, then without."""
    # The group bears the number of the child, which nobody else can have before it is waited for.
    try:
        if child.returncode is None:
            signal_group(child.pid, signal.SIGTERM)
            await a_moment(child)
    finally:
        # Also where nobody has the patience to wait any more.
        signal_group(child.pid, signal.SIGKILL)
    await a_moment(child)
    child._transport.close()  # type: ignore[attr-defined]  # or what was left behind keeps our ends of its pipes, too


def signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def a_moment(child: Process) -> None:
    """Wait a little for it to end."""
    with suppress(TimeoutError):
        await asyncio.wait_for(until_ended(child), GRACE_SECONDS)
