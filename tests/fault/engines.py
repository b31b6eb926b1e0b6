"""Workers in the process of the test itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tarantella.services import runs
from tarantella.services.app import App


@asynccontextmanager
async def engine(app: App) -> AsyncIterator[None]:
    """A worker for all runs, in this process."""
    tools = app.make_tools()
    worker = app.make_worker(tools, None)
    await worker.start()
    work = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await work
        await tools.close()


async def until_over(app: App, run_id: str, seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not (await runs.get(app, run_id)).is_over:
            await asyncio.sleep(0.02)
