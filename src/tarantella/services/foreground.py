"""Works on one run in this process until it ends or is interrupted, and tells how it goes."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from tarantella.domain.errors import StoreError
from tarantella.domain.progress import Pace, Speedometer, phase
from tarantella.domain.struct import Frozen, replace
from tarantella.engine.settler import SILENT
from tarantella.engine.worker import Worker
from tarantella.services.app import App
from tarantella.settings import shared_environment
from tarantella.store import lanes, runs
from tarantella.store.runs import Run
from tarantella.store.standing import standings
from tarantella.store.tx import Tx

WATCH_SECONDS = 0.2
LONGEST_LOOK = 2.0
LAST_LOOK = 5.0
CHILD_GRACE = 15.0


class Snapshot(Frozen):
    """A run at one moment."""

    run: Run
    pace: Pace
    phase: str
    in_flight: list[str]
    waits_seconds: float | None  # until the next page is due, when all of them wait
    trouble: str | None
    kept: str | None = None  # what keeps its hosts, when nothing is in flight


Watch = Callable[[Snapshot], None]
Prepare = Callable[[str, str], Awaitable[None]]  # (run id, keeper's id): submit, resume or retry


class Interrupt:
    """Asks the work to stop cleanly; the command line sets it on Ctrl-C."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

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
            worker.expect(engines - 1)
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
    # Who was interrupted does not wait for a server that says nothing.
    within = LAST_LOOK if interrupt is not None and interrupt.is_set else None
    return await app.database.read(partial(runs.get, run_id=run_id), within=within)


async def _until_over(
    app: App, worker: Worker, run_id: str, work: asyncio.Task[None], watch: Watch | None, interrupt: Interrupt
) -> None:
    over = asyncio.create_task(worker.run_over.wait())
    stopped = asyncio.create_task(interrupt.wait())
    lookout = _Lookout(app, worker, run_id)
    try:
        while True:
            done, _ = await asyncio.wait(
                {over, stopped, work}, timeout=WATCH_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if watch is not None and (snapshot := await lookout.look()) is not None:
                watch(snapshot)
            if done:
                return
    finally:
        over.cancel()
        stopped.cancel()
        lookout.close()


class _Lookout:
    """Looks at a run for whoever watches. While the store does not answer, it shows what it saw last, and says so."""

    def __init__(self, app: App, worker: Worker, run_id: str) -> None:
        self._app = app
        self._worker = worker
        self._run_id = run_id
        self._speedometer = Speedometer()
        self._looking: asyncio.Task[tuple[Run, float | None, str | None]] | None = None
        self._last: Snapshot | None = None

    async def look(self) -> Snapshot | None:
        """The run as it is now; nothing when it has never been seen."""
        if self._looking is None:
            # Asked here: what is in flight changes with every turn of the loop, and the look is another thread's.
            read = partial(self._read, idle=not self._worker.in_flight())
            self._looking = asyncio.create_task(self._app.database.read(read))
        await asyncio.wait({self._looking}, timeout=LONGEST_LOOK)
        trouble = self._worker.trouble
        if not self._looking.done():
            return self._as_before(trouble or SILENT)
        try:
            run, ready_at, kept = self._looking.result()
        except StoreError as error:
            return self._as_before(trouble or str(error))
        finally:
            self._looking = None
        pace = self._speedometer.observe(time.monotonic(), run.counts)
        in_flight = self._worker.in_flight()
        waits = max(0.0, ready_at - self._app.now()) if ready_at is not None and not in_flight else None
        self._last = Snapshot(
            run,
            pace,
            phase(run.status, pace, len(in_flight), waits),
            in_flight,
            waits,
            self._worker.trouble,
            kept if not in_flight else None,
        )
        return self._last

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    def _read(self, tx: Tx, idle: bool) -> tuple[Run, float | None, str | None]:
        run, ready_at = runs.get(tx, self._run_id), lanes.next_ready(tx, self._run_id)
        if run.is_over or not idle:
            return run, ready_at, None
        now = self._app.now()
        standing = standings(tx, [self._run_id], list(self._app.strategies()), now).get(self._run_id)
        return run, ready_at, standing.why_it_waits(now) if standing is not None and standing.is_kept else None

    def _as_before(self, trouble: str) -> Snapshot | None:
        return None if self._last is None else replace(self._last, trouble=trouble)


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
        env={**os.environ, **shared_environment(app.settings)},
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
