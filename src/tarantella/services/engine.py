"""An engine process: helps with one run until it ends, or serves all of them; at the latest it ends with its parent."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from tarantella.engine.worker import Worker
from tarantella.services.app import App
from tarantella.services.step_process import execute_if_allowed
from tarantella.services.stepper import Stepper


async def help_with(app: App, run_id: str | None) -> None:
    """Drain lanes of this run beside its keeper, or serve all: runs, and steps of workflows. The parent holds the other end of
    standard input: its end is ours.
    """
    tools = app.make_tools()
    try:
        worker = app.make_worker(tools, run_id)
        await work_until(worker, _end_of_input(), beside=serve_steps(app, worker) if run_id is None else None)
    finally:
        await tools.close()


def serve_steps(app: App, worker: Worker) -> Coroutine[Any, Any, None]:
    """Execute handlers of workflows for as long as the worker lives, each in a process of its own."""
    return Stepper(app, worker.id, partial(execute_if_allowed, app)).run()


async def work_until(
    worker: Worker, end: Coroutine[Any, Any, object], *, beside: Coroutine[Any, Any, None] | None = None
) -> None:
    """Work until this has come to its end, or the one run that the worker serves is over; then drain."""
    ending = asyncio.create_task(end)
    over = asyncio.create_task(worker.run_over.wait())
    others: set[asyncio.Task[None]] = set()
    try:
        await worker.start()
        work = asyncio.create_task(worker.run())
        others = {asyncio.create_task(beside)} if beside is not None else set()
        await asyncio.wait({work, ending, over, *others}, return_when=asyncio.FIRST_COMPLETED)
        failed = [other for other in others if other.done()]
        for other in others:
            other.cancel()
        worker.stop()
        with suppress(asyncio.CancelledError):
            await work
        await asyncio.gather(*others, return_exceptions=True)
        for other in failed:
            other.result()
    finally:
        ending.cancel()
        over.cancel()
        for other in others:
            other.cancel()


async def _end_of_input() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
