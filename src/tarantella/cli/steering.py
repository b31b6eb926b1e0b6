"""`tarantella runs`, the commands that change runs: resume, pause, cancel, retry, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarantella.cli.command import Command
from tarantella.cli.exits import FailOn
from tarantella.cli.options import (
    AsJson,
    DatabaseUrl,
    DataDir,
    Engines,
    FailOnOption,
    Format,
    LogFile,
    Output,
    Quiet,
    RecordFormat,
    RunArgument,
    ServerUrl,
    Verbose,
    Yes,
)
from tarantella.cli.runs import app, find, remote
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from tarantella.cli.opening import Opened
    from tarantella.cli.signals import Signals
    from tarantella.services.app import App

Revive = Callable[["App", str, str], Awaitable[object]]  # (app, run id, keeper's id): makes the run go on


class Asked(Frozen):
    """The options of the commands that go on with a run."""

    run: str
    format: Format | None
    output: str | None
    fail_on: FailOn
    as_json: bool
    engines: int | None


@app.command(cls=Command)
def resume(
    run: RunArgument,
    format_: RecordFormat = None,
    output: Output = None,
    fail_on: FailOnOption = "partial",
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engines: Engines = None,
) -> int:
    """Go on with a run that was interrupted or paused.

    Without --format and --output, the records go where the run was told to write them when it began.
    Where a server works on the same data, or is named, it is the server that goes on with it.
    """
    from tarantella.cli.remote_runs import GOES_ON, refuse, server_of

    if (server := server_of(server, data_dir, database_url, also_running=True)) is not None:
        refuse(GOES_ON, format=format_, output=output, engines=engines)
        return remote(server, as_json, verbose).steer(run, "resume")
    from tarantella.services import runs

    asked = Asked(run, format_, output, fail_on, as_json, engines)
    return _go_on(asked, runs.resume, data_dir, database_url, quiet=quiet, verbose=verbose, log_file=log_file)


@app.command("retry-failed", cls=Command)
def retry_failed(
    run: RunArgument,
    format_: RecordFormat = None,
    output: Output = None,
    fail_on: FailOnOption = "partial",
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engines: Engines = None,
) -> int:
    """Try the failed pages of a run again.

    Also those that it had to leave: because its time was up, or a host did not answer.
    Without --format and --output, the records go where the run was told to write them when it began.
    """
    from tarantella.cli.remote_runs import GOES_ON, refuse, server_of

    if (server := server_of(server, data_dir, database_url, also_running=True)) is not None:
        refuse(GOES_ON, format=format_, output=output, engines=engines)
        return remote(server, as_json, verbose).steer(run, "retry-failed")
    from tarantella.domain.errors import Conflict
    from tarantella.services import runs

    async def revive(app_: App, run_id: str, keeper: str) -> None:
        if not await runs.retry_failed(app_, run_id, keeper):
            raise Conflict("The run has no failed pages.", remedy="There is nothing to try again.")

    asked = Asked(run, format_, output, fail_on, as_json, engines)
    return _go_on(asked, revive, data_dir, database_url, quiet=quiet, verbose=verbose, log_file=log_file)


def _go_on(
    asked: Asked,
    revive: Revive,
    data_dir: Path | None,
    database_url: str | None,
    *,
    quiet: bool,
    verbose: int,
    log_file: Path | None,
) -> int:
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.signals import Signals

    with (
        Signals() as signals,
        opened(data_dir, database_url, verbose=verbose, log_file=log_file, quiet=quiet, warnings=True) as tarantella,
    ):
        return run_async(_work_again(tarantella, signals, asked, revive))


async def _work_again(opened: Opened, signals: Signals, asked: Asked, revive: Revive) -> int:
    from tarantella.cli.foreground import Ending, work
    from tarantella.services.export import target_again, target_of
    from tarantella.services.keeper import wait_for_keeper

    run_id = await find(opened, asked.run)
    await wait_for_keeper(opened.app, run_id, given_up=lambda: signals.asked)
    if asked.format is None and asked.output is None:
        target = target_again(opened.app, run_id, opened.terminal.say)
    else:
        target = target_of(opened.app, asked.format, asked.output, stdout_taken=asked.as_json)

    async def prepare(run: str, keeper: str) -> None:
        await revive(opened.app, run, keeper)

    ending = Ending(target, asked.fail_on, asked.as_json)
    return await work(opened, signals, run_id, prepare, asked.engines, ending)


@app.command(cls=Command)
def pause(
    run: RunArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let a run rest; pages in flight are finished first."""
    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).steer(run, "pause")
    from tarantella.services import runs

    return _steer(run, runs.pause, data_dir, database_url, as_json, verbose)


@app.command(cls=Command)
def cancel(
    run: RunArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """End a run; what it has found is kept."""
    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).steer(run, "cancel")
    from tarantella.services import runs

    return _steer(run, runs.cancel, data_dir, database_url, as_json, verbose)


def _steer(
    run: str,
    change: Callable[[App, str], Awaitable[Any]],
    data_dir: Path | None,
    database_url: str | None,
    as_json: bool,
    verbose: int,
) -> int:
    from tarantella.cli import words
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.views import run_json
    from tarantella.services import runs

    async def steer(opened_: Opened) -> Any:
        run_id = await find(opened_, run)
        await change(opened_.app, run_id)
        return await runs.get(opened_.app, run_id)

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found = run_async(steer(tarantella))
        if as_json:
            tarantella.terminal.show_json(run_json(found))
        elif found.wanted == "pause" and found.status != "paused":
            tarantella.terminal.say(f"Run {words.short_id(found.id)} pauses as soon as its pages in flight are done.")
        else:
            tarantella.terminal.say(f"Run {words.short_id(found.id)} is {found.status.value}.")
    return 0


@app.command(cls=Command)
def delete(
    run: RunArgument,
    yes: Yes = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Delete a run that is over, and free its disk space.

    Files that were exported stay where they are.
    """
    from tarantella.cli import words
    from tarantella.cli.confirm import confirmed
    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).delete(run, lambda told: yes or confirmed(f"Delete {told}?"))
    from tarantella.cli.opening import opened, run_async

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found = run_async(_deletable(tarantella, run))
        pages = words.count(found.counts.total, "page")
        told = f"run {words.short_id(found.id)}: {pages}, about {words.size(found.disk_bytes)}"
        if not yes and not confirmed(f"Delete {told}?"):
            tarantella.terminal.say("Nothing was deleted.")
            return 0
        run_async(_delete(tarantella, found.id))
        if as_json:
            tarantella.terminal.show_json({"id": found.id, "deleted": True, "disk_bytes": found.disk_bytes})
        else:
            tarantella.terminal.say(f"Deleted {told}.")
    return 0


async def _deletable(opened: Opened, text: str) -> Any:
    from tarantella.domain.errors import Conflict
    from tarantella.services import runs

    run_id = await find(opened, text)
    run = await runs.get(opened.app, run_id)
    if not run.is_over:
        remedy = f"`tarantella runs cancel {run_id}` ends it first."
        raise Conflict(f"The run is still {run.status}.", remedy=remedy)
    return run


async def _delete(opened: Opened, run_id: str) -> None:
    from tarantella.services import runs

    await runs.delete(opened.app, run_id)
    await opened.app.database.reclaim()
