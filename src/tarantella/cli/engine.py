"""Commands that Tarantella calls itself: another engine for a run, a taster for pages that kill, a reader for those that take long,
a step of a workflow.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tarantella.cli import exits
from tarantella.cli.command import Command
from tarantella.cli.options import DataDir, Verbose

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, hidden=True)
def engine(run: Annotated[str | None, typer.Argument()] = None, data_dir: DataDir = None, verbose: Verbose = 0) -> int:
    """Drain a run beside the command that keeps it, or all runs, until standard input ends."""
    from tarantella.bootstrap import open_app
    from tarantella.cli import logs
    from tarantella.cli.opening import run_async
    from tarantella.log import log
    from tarantella.services.engine import help_with

    leave_signals_to_the_parent()
    # A server's terminal shows lines one after another, so that everybody can add theirs; a command's shows progress.
    logs.configure_child(verbose=verbose, say=logs.line_on_stderr if run is None else None)
    app_ = open_app(data_dir=data_dir)
    try:
        run_async(help_with(app_, run))
    except Exception:
        # The terminal is the parent's, and so is the run: it goes on without us.
        log.exception("An engine has failed", action="engine_failed", run=run)
        return exits.FAILED
    finally:
        app_.close()
    return exits.COMPLETE


@app.command(cls=Command, hidden=True)
def taster(refuse: Annotated[list[str] | None, typer.Option()] = None, data_dir: DataDir = None) -> int:
    """Visit the pages that come in on standard input, one a line."""
    from tarantella.cli import logs
    from tarantella.cli.opening import run_async

    leave_signals_to_the_parent()
    logs.configure_child()
    endpoints = [each.rpartition("@") for each in refuse or ()]
    run_async(_taste([(address, int(port)) for address, _, port in endpoints], data_dir))
    return 0


async def _taste(refused: Sequence[tuple[str, int]], data_dir: Path | None) -> None:
    import asyncio

    from tarantella.bootstrap import make_tools, means_of
    from tarantella.engine.taster import LONGEST_LINE, serve_tastings
    from tarantella.settings import load

    tools = make_tools(refused=refused, means=means_of(load(data_dir=data_dir)))
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    try:
        await serve_tastings(tools.visitors["http"], reader, write, tools.visitors)
    finally:
        await tools.close()


@app.command(cls=Command, hidden=True)
def reader() -> int:
    """Read the pages that come in on standard input, one after the other."""
    from tarantella.cli import logs
    from tarantella.engine.reader import serve_readings

    leave_signals_to_the_parent()
    logs.configure_child()

    def write(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    serve_readings(sys.stdin.buffer, write)
    return 0


@app.command(cls=Command, hidden=True)
def step() -> int:
    """Execute the handler of a workflow's step that is described on standard input."""
    from tarantella.bootstrap import open_app
    from tarantella.cli import logs
    from tarantella.services.step_process import serve_step

    logs.configure_child()
    serve_step(open_app)
    return 0


def leave_signals_to_the_parent() -> None:
    """Ctrl-C reaches all processes of a terminal; the first of them decides, and closes our input."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
