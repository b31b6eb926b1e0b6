"""An engine process: helps with one run until it ends, or serves all of them; at the latest it ends with its parent."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from tarantella.engine.worker import Worker
from tarantella.services.app import App


async def help_with(app: App, run_id: str | None) -> None:
    """Drain lanes of this run beside its keeper, or of all runs. The parent holds the other end of standard input: its
    end is ours.
    """
    tools = app.make_tools()
    try:
        await work_until(app.make_worker(tools, run_id), _end_of_input())
    finally:
        await tools.close()


async def work_until(worker: Worker, end: Coroutine[Any, Any, object]) -> None:
    """Work until this has come to its end, or the one run that the worker serves is over; then drain."""
    ending = asyncio.create_task(end)
    over = asyncio.create_task(worker.run_over.wait())
    try:
        await worker.start()
        work = asyncio.create_task(worker.run())
        await asyncio.wait({work, ending, over}, return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        with suppress(asyncio.CancelledError):
            await work
    finally:
        ending.cancel()
        over.cancel()


async def _end_of_input() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
