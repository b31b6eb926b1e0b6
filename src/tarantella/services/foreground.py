"""Works on one run in this process until it ends or is interrupted, and tells how it goes."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from tarantella.domain.progress import Pace, Speedometer, phase
from tarantella.engine.worker import Worker
from tarantella.services.app import App
from tarantella.store import lanes, runs
from tarantella.store.runs import Run
from tarantella.store.tx import Tx

WATCH_SECONDS = 0.2
CHILD_GRACE = 15.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run at one moment."""

    run: Run
    pace: Pace
    phase: str
    in_flight: list[str]
    waits_seconds: float | None  # until the next page is due, when all of them wait
    trouble: str | None


Watch = Callable[[Snapshot], None]
Prepare = Callable[[str, str], Awaitable[None]]  # (run id, keeper's id): submit, resume or retry


class Interrupt:
    """Asks the work to stop cleanly; the command line sets it on Ctrl-C."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        await self._event.wait()


async def work_on(
    app: App,
    run_id: str,
    prepare: Prepare,
    *,
    engines: int,
    watch: Watch | None = None,
    interrupt: Interrupt | None = None,
) -> Run:
    """Become the keeper of a run, drain it with this process and its helpers, and give its last state."""
    tools = app.make_tools()
    worker = app.make_worker(tools, run_id)
    children: list[asyncio.subprocess.Process] = []
    try:
        await worker.start()
        work: asyncio.Task[None] | None = None
        try:
            await prepare(run_id, worker.id)
            work = asyncio.create_task(worker.run())
            children = [await _spawn_engine(app, run_id) for _ in range(engines - 1)]
            await _until_over(app, worker, run_id, work, watch, interrupt or Interrupt())
        finally:
            worker.stop()
            await (work or worker.run())
    finally:
        for child in children:
            await _end(child)
        await tools.close()
    return await app.database.read(partial(runs.get, run_id=run_id))


async def _until_over(
    app: App, worker: Worker, run_id: str, work: asyncio.Task[None], watch: Watch | None, interrupt: Interrupt
) -> None:
    over = asyncio.create_task(worker.run_over.wait())
    stopped = asyncio.create_task(interrupt.wait())
    speedometer = Speedometer()
    try:
        while True:
            done, _ = await asyncio.wait(
                {over, stopped, work}, timeout=WATCH_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if watch is not None:
                watch(await _snapshot(app, worker, run_id, speedometer))
            if done:
                return
    finally:
        over.cancel()
        stopped.cancel()


async def _snapshot(app: App, worker: Worker, run_id: str, speedometer: Speedometer) -> Snapshot:
    def look(tx: Tx) -> tuple[Run, float | None]:
        return runs.get(tx, run_id), lanes.next_ready(tx, run_id)

    run, ready_at = await app.database.read(look)
    pace = speedometer.observe(time.monotonic(), run.counts)
    in_flight = worker.in_flight()
    waits = max(0.0, ready_at - app.now()) if ready_at is not None and not in_flight else None
    return Snapshot(run, pace, phase(run.status, pace, len(in_flight), waits), in_flight, waits, worker.trouble)


async def _spawn_engine(app: App, run_id: str) -> asyncio.subprocess.Process:
    """Another process for the same run. It ends by itself when the run ends, or when this pipe is closed."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tarantella",
        "engine",
        run_id,
        "--data-dir",
        str(app.settings.data_dir),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )


async def _end(child: asyncio.subprocess.Process) -> None:
    assert child.stdin is not None
    child.stdin.close()
    try:
        await asyncio.wait_for(child.wait(), CHILD_GRACE)
    except TimeoutError:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
