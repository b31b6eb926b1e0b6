"""Works on a run in the foreground: progress while it goes, then its records, a summary and an exit code."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tarantella.cli import exits
from tarantella.cli.opening import Opened
from tarantella.cli.progress import open_progress
from tarantella.cli.signals import Signals
from tarantella.cli.summary import Summary, summary_json, summary_lines

if TYPE_CHECKING:
    from tarantella.services.export import Target
    from tarantella.services.runs import Run

STOPPING = "Stopping: pages in flight are finished first. Ctrl-C again stops at once."
NARROWEST = 60


@dataclass(frozen=True, slots=True)
class Ending:
    """What is wanted of a run when it has ended."""

    target: Target
    fail_on: exits.FailOn = "partial"
    as_json: bool = False


async def work(
    opened: Opened,
    signals: Signals,
    run_id: str,
    prepare: Callable[[str, str], Awaitable[object]],
    *,
    engines: int | None,
    ending: Ending,
    ended_before: int = 0,
) -> tuple[int, Summary]:
    """Drain a run here and tell how it went; the exit code and what was told."""
    began = time.monotonic()
    run = await _drained(opened, signals, run_id, prepare, engines or opened.app.settings.engines)
    summary = await _summary(opened, run, time.monotonic() - began, ended_before, ending.target)
    code = exits.of_run(run.status, ending.fail_on)
    for line in summary_lines(summary):
        opened.terminal.say(line)
    if ending.as_json:
        opened.terminal.show_json(summary_json(summary, code))
    return code, summary


async def _drained(
    opened: Opened, signals: Signals, run_id: str, prepare: Callable[[str, str], Awaitable[object]], engines: int
) -> Run:
    from tarantella.services.foreground import Interrupt, work_on

    interrupt = Interrupt()
    loop = asyncio.get_running_loop()

    async def prepared(run: str, keeper: str) -> None:
        await prepare(run, keeper)

    with open_progress(opened.terminal) as progress:

        def stop() -> None:
            progress.note(STOPPING)
            interrupt.set()

        signals.on_first(lambda: loop.call_soon_threadsafe(stop))
        return await work_on(opened.app, run_id, prepared, engines=engines, watch=progress, interrupt=interrupt)


async def _summary(opened: Opened, run: Run, elapsed: float, ended_before: int, target: Target) -> Summary:
    from tarantella.services import runs
    from tarantella.services.export import export

    exported = export(opened.app, run.id, target)
    return Summary(
        run=run,
        elapsed=elapsed,
        ended=max(0, run.counts.total - run.counts.pending - ended_before),
        troubles=await runs.troubles(opened.app, run.id),
        exported=exported,
        suffix=opened.suffix,
        width=max(NARROWEST, min(opened.terminal.err.width, 120)),
        ellipsis=opened.terminal.ellipsis,
    )
