"""An engine process: helps with one run until it ends, or serves all of them; at the latest it ends with its parent."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from tarantella.services.app import App


async def help_with(app: App, run_id: str | None) -> None:
    """Drain lanes of this run beside its keeper, or of all runs. The parent holds the other end of standard input: its
    end is ours.
    """
    tools = app.make_tools()
    worker = app.make_worker(tools, run_id)
    await worker.start()
    work = asyncio.create_task(worker.run())
    orphaned = asyncio.create_task(_end_of_input())
    over = asyncio.create_task(worker.run_over.wait())
    await asyncio.wait({work, orphaned, over}, return_when=asyncio.FIRST_COMPLETED)
    worker.stop()
    with suppress(asyncio.CancelledError):
        await work
    orphaned.cancel()
    over.cancel()
    await tools.close()


async def _end_of_input() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
