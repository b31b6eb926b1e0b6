"""`tarantella autopilot`: gaps are found and filled, over and over, and nobody has to watch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose
from tarantella.cli.queue import (
    USUAL_CONFIG,
    USUAL_QUEUE,
    ExpectedFile,
    InventoryPlace,
    ScraperConfig,
    StatusName,
    TaskQueue,
)

if TYPE_CHECKING:
    from tarantella.cli.opening import Opened
    from tarantella.cli.signals import Signals
    from tarantella.cli.terminal import Terminal
    from tarantella.domain.autopilot import Flight
    from tarantella.services.autopilot import Course

EXAMPLES = """
Examples:
  tarantella autopilot start                every hour, in the background
  tarantella autopilot start --interval-minutes 5 --health-port 8090
  tarantella autopilot start --run-once     one cycle, here and now
  tarantella autopilot status
  tarantella autopilot health               exit code 1 where it is not well
  tarantella autopilot stop

A cycle looks for gaps where config/expected_coverage.yaml says what should
be there, has their scrapers executed, and looks again. When the file of gaps
changes in between, the next cycle begins at once.
"""
STARTS_WITHIN = 15.0
LOOK_SECONDS = 0.05
NOBODY = "No autopilot runs here. `tarantella autopilot start` starts one."

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Find gaps and fill them, over and over.",
)


@app.command(cls=Command, epilog=EXAMPLES)
def start(
    interval_minutes: Annotated[
        float, typer.Option("--interval-minutes", metavar="N", min=0.01, max=10_080, help="From one cycle to the next.")
    ] = 60.0,
    run_once: Annotated[bool, typer.Option("--run-once", help="Do one cycle, here, and end.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; start no script.")] = False,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay here until Ctrl-C, for systemd or a container.")
    ] = False,
    max_concurrent: Annotated[
        int, typer.Option("--max-concurrent", metavar="N", min=1, max=1_000, help="Scripts at a time.")
    ] = 5,
    health_port: Annotated[
        int | None,
        typer.Option(
            "--health-port",
            metavar="N",
            min=0,
            max=65_535,
            help="Tell at this port of 127.0.0.1 whether it is well.",
            show_default="none",
        ),
    ] = None,
    expected: ExpectedFile = None,
    inventory: InventoryPlace = ".",
    task_queue: TaskQueue = USUAL_QUEUE,
    scraper_config: ScraperConfig = USUAL_CONFIG,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Start the loop, in the background unless it is told otherwise. There is one for each data directory."""
    from tarantella.services.autopilot import Course
    from tarantella.services.reconciliation import Looking, check

    looking = Looking(expected, inventory, task_queue)
    if looking.is_possible:
        check(looking)  # what can't be understood is told here, and not only in a log
    course = Course(
        looking,
        scraper_config,
        interval_minutes * 60,
        max_concurrent,
        dry_run=dry_run,
        once=run_once,
        port=health_port,
    )
    if not (run_once or foreground):
        return _in_background(data_dir, database_url, as_json=as_json)
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.signals import Signals

    opening = opened(data_dir, database_url, verbose=max(1, verbose), warnings=True, timed=not run_once)
    with Signals() as signals, opening as tarantella:
        return run_async(_fly(tarantella, signals, course, as_json=as_json))


async def _fly(opened: Opened, signals: Signals, course: Course, *, as_json: bool) -> int:
    import asyncio

    from tarantella.cli import exits, queue_shown
    from tarantella.domain.autopilot import unwell
    from tarantella.domain.errors import Conflict
    from tarantella.domain.struct import replace
    from tarantella.services.autopilot import Autopilot
    from tarantella.services.beacon import Beacon
    from tarantella.services.foreground import Interrupt
    from tarantella.services.logbook import Logbook
    from tarantella.services.queue import GapStatus
    from tarantella.services.script import end_all_at_once

    app, interrupt = opened.app, Interrupt()
    watcher = queue_shown.Watching(opened.terminal, course.at_once)
    logbook = Logbook(app.settings.data_dir)
    pilot: Autopilot | None = None

    def ask() -> tuple[str | None, dict[str, Any]]:
        assert pilot is not None
        why = unwell(pilot.flight, app.now())
        return why, told(pilot.flight, why)

    beacon = Beacon(ask)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        watcher.stopping()
        loop.call_soon_threadsafe(interrupt.set)

    try:
        if course.port is not None:
            try:
                course = replace(course, port=await beacon.start(course.port))
            except OSError as error:
                remedy = "Choose another with --health-port."
                raise Conflict(f"Port {course.port} can't be listened at: {error.strerror}.", remedy=remedy) from None
        pilot = Autopilot(app, course, logbook, watcher, interrupt)
        signals.on_first(stop)
        signals.on_second(end_all_at_once)
        summary = await pilot.run()
    finally:
        beacon.close()
        logbook.close()
    if as_json:
        opened.terminal.show_json(told(pilot.flight, None))
    if course.once and pilot.flight.failed_cycles:
        return exits.FAILED
    return exits.FAILED if course.once and summary is not None and summary.count(GapStatus.FAILED) else exits.COMPLETE


def _in_background(data_dir: Path | None, database_url: str | None, *, as_json: bool) -> int:
    """Start the same command with --foreground, detached from this terminal, and wait until it flies."""
    import os
    import subprocess
    import sys
    import time

    from tarantella.cli import exits, words
    from tarantella.cli.command import say_error
    from tarantella.cli.terminal import open_terminal
    from tarantella.domain.errors import Conflict
    from tarantella.services import logbook
    from tarantella.settings import load

    folder = load(data_dir=data_dir, database_url=database_url).data_dir

    def refuse_another(than: int | None = None) -> None:
        if logbook.is_held(folder) and ((there := logbook.holder(folder)) is None or there.pid != than):
            who = f" (process {there.pid})" if there is not None else ""
            raise Conflict(f"An autopilot runs here already{who}.", remedy="`tarantella autopilot stop` stops it.")

    refuse_another()
    path = logbook.log_file(folder)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    command = [sys.executable, "-m", "tarantella", *sys.argv[1:], "--foreground"]
    began = time.time()
    with path.open("ab") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=dict(os.environ)
        )
    give_up = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < give_up and child.poll() is None:
        flight = logbook.living(folder)
        if flight is not None and flight.pid == child.pid and flight.started_at >= began - 1:
            terminal = open_terminal()
            if as_json:
                terminal.show_json(told(flight, None))
            else:
                terminal.show(f"The autopilot flies (process {child.pid}). Its log is {words.nearby(path)}.")
            return exits.COMPLETE
        time.sleep(LOOK_SECONDS)
    refuse_another(than=child.pid)  # who came at the same moment, and whose last words are not ours
    last = path.read_text("utf-8", "replace").strip().splitlines()[-1:]
    say_error(f"It did not start. {' '.join(last)} Its log is {words.nearby(path)}.")
    return exits.FAILED


@app.command(cls=Command)
def stop(
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long scripts that are running may take.")
    ] = 60.0,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> int:
    """Let the scripts that are running finish, and end it; those that take longer are ended."""
    import time

    from tarantella.cli import exits
    from tarantella.cli.command import say_error
    from tarantella.cli.signals import SAME_WISH_SECONDS
    from tarantella.cli.terminal import open_terminal
    from tarantella.services import logbook
    from tarantella.settings import load

    folder, terminal = load(data_dir=data_dir).data_dir, open_terminal()
    if not logbook.is_held(folder):
        _say_ended(terminal, NOBODY, was_there=False, as_json=as_json)
        return exits.COMPLETE
    give_up = time.monotonic() + max(wait, SAME_WISH_SECONDS + 0.1)
    for _ in range(2):  # the second wish ends the scripts, too
        if logbook.is_held(folder) and not logbook.tell_to_end(folder) and logbook.is_held(folder):
            say_error("An autopilot is there, but nobody can say which process: it may be on another machine.")
            return exits.FAILED
        while logbook.is_held(folder) and time.monotonic() < give_up:
            time.sleep(LOOK_SECONDS)
        give_up += STARTS_WITHIN
    if logbook.is_held(folder):
        say_error("The autopilot was told to end, and has not yet. `autopilot status` tells what it does.")
        return exits.FAILED
    _say_ended(terminal, "The autopilot has ended.", was_there=True, as_json=as_json)
    return exits.COMPLETE


def _say_ended(terminal: Terminal, words: str, *, was_there: bool, as_json: bool) -> None:
    if as_json:
        terminal.show_line({"alive": False, "ended": was_there})
    else:
        terminal.show(words)


@app.command(cls=Command)
def status(as_json: AsJson = False, data_dir: DataDir = None) -> int:
    """Tell what it does, what came of its last cycle, and when the next one begins."""
    from tarantella.cli.shown import show_lines
    from tarantella.cli.terminal import open_terminal

    flight, why = _seen(data_dir)
    terminal = open_terminal()
    if as_json:
        terminal.show_json(told(flight, why) if flight is not None else {"alive": False})
    elif flight is None:
        terminal.show(NOBODY)
    else:
        show_lines(terminal, {name: value for name, value in told(flight, why).items() if value is not None})
    return 0


@app.command(cls=Command)
def health(as_json: AsJson = False, data_dir: DataDir = None) -> int:
    """Tell whether it is well: the exit code is 0 then, and 1 where it is not. Work that waits is no illness."""
    from tarantella.cli import exits
    from tarantella.cli.terminal import open_terminal

    flight, why = _seen(data_dir)
    if flight is None:
        why = "no autopilot runs here"
    terminal = open_terminal()
    if as_json:
        terminal.show_line({"status": "ok" if why is None else "unwell", "why": why})
    else:
        terminal.show("It is well." if why is None else f"It is not well: {why}.")
    return exits.COMPLETE if why is None else exits.FAILED


@app.command(cls=Command)
def logs(
    lines: Annotated[
        int, typer.Option("--lines", "-n", metavar="N", min=1, max=100_000, help="So many of the last.")
    ] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as it says more, until Ctrl-C.")] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> int:
    """Show what it has said."""
    import time
    from collections import deque

    from tarantella.cli import words
    from tarantella.cli.signals import Signals
    from tarantella.cli.terminal import open_terminal
    from tarantella.services import logbook
    from tarantella.settings import load

    path, terminal = logbook.log_file(load(data_dir=data_dir).data_dir), open_terminal()

    def show(line: str) -> None:
        text = words.clean(line.rstrip("\n"))
        terminal.show_line(text) if as_json else terminal.show(text)

    if not path.is_file():
        terminal.say(NOBODY)
        return 0
    with Signals() as signals, path.open(encoding="utf-8", errors="replace") as file:
        for line in deque(file, maxlen=lines):
            show(line)
        while follow and not signals.asked:
            if line := file.readline():
                show(line)
            else:
                time.sleep(LOOK_SECONDS)
                if path.stat().st_size < file.tell():
                    file.seek(0)  # it became too long, and was begun anew
    return 0


@app.command(cls=Command)
def tasks(
    task_queue: TaskQueue = USUAL_QUEUE,
    status: Annotated[StatusName | None, typer.Option("--status", help="Only those that are so.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=100_000, help="How many at most.")] = 100,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the gaps that it fills, as `tarantella queue list` does."""
    from tarantella.cli.queue import list_

    return list_(
        task_queue,
        status,
        limit=limit,
        as_json=as_json,
        verbose=verbose,
        server=server,
        data_dir=data_dir,
        database_url=database_url,
    )


def told(flight: Flight, why: str | None) -> dict[str, Any]:
    """How it gets on, in JSON."""
    from tarantella.cli import words
    from tarantella.domain.autopilot import Phase
    from tarantella.domain.struct import asdict

    values = asdict(flight)
    for name in ("started_at", "beat_at", "since", "progress_at", "next_at"):
        values[name] = words.iso(values[name])
    if values["last"] is not None:
        values["last"] = {**values["last"], "at": words.iso(values["last"]["at"])}
    del values["patience"]
    alive = flight.phase is not Phase.STOPPED
    return {"alive": alive, "status": "ok" if why is None else "unwell", "why": why, **values}


def _seen(data_dir: Path | None) -> tuple[Flight | None, str | None]:
    import time

    from tarantella.domain.autopilot import unwell
    from tarantella.services import logbook
    from tarantella.settings import load

    flight = logbook.living(load(data_dir=data_dir).data_dir)
    return flight, unwell(flight, time.time()) if flight is not None else None
