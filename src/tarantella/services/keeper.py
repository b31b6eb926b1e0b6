"""Whether the command that keeps a run still lives, where nobody can tell at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from tarantella.engine.clock import Clock
from tarantella.engine.lifeline import is_cut
from tarantella.engine.reaper import Reaper
from tarantella.engine.timing import Timing
from tarantella.log import log
from tarantella.services.app import App
from tarantella.store import runs, workers
from tarantella.store.connection import Row
from tarantella.store.tx import Tx

DYING_SECONDS = 1.0  # a process that was just killed may take a moment to be gone
LOOK_AGAIN = 0.1


async def wait_for_keeper(
    app: App, run_id: str, *, timing: Timing | None = None, given_up: Callable[[], bool] = lambda: False
) -> None:
    """Wait until the command that keeps a run is known to be gone, and the run is free; or until it is known to live.

    On this machine its lifeline tells, in a moment. Where there is none, because it ran on another machine or in a container
    that is no more, only a beat that does not come tells, and somebody has to wait for it.
    """
    timing = timing or Timing.of_life(app.settings.worker_life_seconds)
    reaper = Reaper(
        app.database,
        app.settings.workers_dir,
        app.hostname,
        max_running=app.settings.max_concurrent_tasks,
        clock=Clock(),
        timing=timing,
    )
    began, heard, said = time.monotonic(), None, False
    while not given_up():
        await reaper.run_once()
        keeper = await app.database.read(partial(_keeper, run_id=run_id))
        if keeper is None:
            return
        waited = time.monotonic() - began
        if keeper.host == app.hostname and is_cut(app.settings.workers_dir, keeper.id) is False:
            if waited > DYING_SECONDS:
                return
        else:
            heard = keeper.beat if heard is None else heard
            if keeper.beat != heard or waited > timing.thought_dead_after + timing.beat:
                return
            if not said:
                said = True
                log.warning(
                    f"The run is kept by process {keeper.pid} on {keeper.host}. Waiting to hear whether that still lives: "
                    f"{timing.beat:.0f} s if it does, else {timing.thought_dead_after:.0f} s",
                    action="keeper_awaited",
                )
        await asyncio.sleep(LOOK_AGAIN)


def _keeper(tx: Tx, run_id: str) -> Row | None:
    """The worker that keeps a run which isn't over, if that is not known to be dead."""
    run = runs.get(tx, run_id)
    if run.keeper is None or run.is_over:
        return None
    return next((worker for worker in workers.alive(tx) if worker.id == run.keeper), None)
