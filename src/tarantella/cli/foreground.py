"""Works on a run in the foreground: progress while it goes, then its records, a summary and an exit code."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from tarantella.cli import exits
from tarantella.cli.command import say_error
from tarantella.cli.opening import Opened
from tarantella.cli.progress import open_progress
from tarantella.cli.signals import Signals
from tarantella.cli.summary import Summary, summary_json, summary_lines, tried
from tarantella.cli.terminal import NARROWEST, WIDEST
from tarantella.domain.errors import TarantellaError
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from tarantella.services.export import Target
    from tarantella.services.runs import Run

STOPPING = "Stopping: pages in flight are finished first. Ctrl-C again stops at once."

Prepare = Callable[[str, str], Awaitable[object]]  # (run id, keeper's id)


class Ending(Frozen):
    """What is wanted of a run when it has ended."""

    target: Target
    fail_on: exits.FailOn = "partial"
    as_json: bool = False


async def work(
    opened: Opened,
    signals: Signals,
    run_id: str,
    prepare: Prepare,
    engines: int | None,
    ending: Ending,
) -> int:
    """Drain a run here and tell how it went; the exit code."""
    from tarantella.services.target import remember

    async def prepared(run: str, keeper: str) -> None:
        await prepare(run, keeper)
        remember(opened.app, run, ending.target)

    summary = await drained(opened, signals, run_id, prepared, engines, ending.target)
    run = summary.run
    code = exits.FAILED if summary.export_error else exits.of_run(run.status, run.counts.done, ending.fail_on)
    tell(opened, summary, code, as_json=ending.as_json)
    return code


async def drained(
    opened: Opened,
    signals: Signals,
    run_id: str,
    prepare: Prepare,
    engines: int | None,
    target: Target,
    *,
    resumable: bool = True,
) -> Summary:
    """Drain a run here and export its records; what there is to tell."""
    from tarantella.services import runs
    from tarantella.services.export import export

    before = 0

    async def prepared(run: str, keeper: str) -> None:
        nonlocal before
        await prepare(run, keeper)
        # Only now: pages that are tried again have ended before, and are to be counted.
        before = tried(await runs.get(opened.app, run), await runs.troubles(opened.app, run))

    began = time.monotonic()
    run = await _watched(opened, signals, run_id, prepared, engines or opened.app.settings.engines_of_a_run)
    elapsed = time.monotonic() - began
    exported, export_error = None, None
    try:
        exported = export(opened.app, run, target)
    except TarantellaError as error:
        # The crawl is done and stored: that is told first, and the records can be exported again.
        export_error = str(error)
    troubles = await runs.troubles(opened.app, run.id)
    return Summary(
        run=run,
        elapsed=elapsed,
        tried=tried(run, troubles) - before,
        troubles=troubles,
        missing=await runs.missing_strategy(opened.app, run.id),
        exported=exported,
        export_error=export_error,
        suffix=opened.suffix,
        target=_again(target),
        width=max(NARROWEST, min(opened.terminal.err.width, WIDEST)),
        ellipsis=opened.terminal.ellipsis,
        resumable=resumable,
    )


def _again(target: Target) -> tuple[str, ...]:
    """The options that mean the same target; the usual one needs none."""
    if target.destination is None:
        return ()
    return ("--format", target.format, "--output", shlex.quote(str(target.destination)))


def tell(opened: Opened, summary: Summary, code: int, *, as_json: bool) -> None:
    """The summary on stderr, and its JSON on stdout."""
    for line in summary_lines(summary):
        opened.terminal.say(line)
    if summary.export_error:
        say_error(f"The records could not be written: {summary.export_error}")
    if as_json:
        opened.terminal.show_json(summary_json(summary, code))


async def _watched(
    opened: Opened, signals: Signals, run_id: str, prepare: Callable[[str, str], Awaitable[None]], engines: int
) -> Run:
    from tarantella.services.foreground import Interrupt, work_on

    interrupt = Interrupt()
    loop = asyncio.get_running_loop()

    with open_progress(opened.terminal) as progress:

        def stop() -> None:
            progress.note(STOPPING)
            interrupt.set()

        signals.on_first(partial(loop.call_soon_threadsafe, stop))
        return await work_on(opened.app, run_id, prepare, engines=engines, watch=progress, interrupt=interrupt)
