"""`tarantella infra`: a broker, workers and a server on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import RUNNING, AsJson, BrokerUrl, DatabaseUrl, DataDir, Verbose

if TYPE_CHECKING:
    from pathlib import Path

    from tarantella.cli.terminal import Terminal
    from tarantella.services.infra import Infra

EXAMPLES = """
Examples:
  tarantella infra start                 Redis, Celery's workers, the server
  tarantella infra start redis worker    only those
  tarantella infra status
  tarantella infra watch                 start again what dies, until Ctrl-C
  tarantella infra restart worker
  tarantella infra stop

What runs already is used and left alone. Only what was started here is
stopped, known by its number and the time at which it began.
"""
COLUMNS = {"part": "part", "state": "state", "process": "pid", "answers as": "answer"}

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Start, watch and stop a broker, workers and a server.",
)
Parts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PART]...", help="redis, worker or server; all of them, if none is named.", show_default=False
    ),
]
Processes = Annotated[
    int, typer.Option("--processes", metavar="N", min=1, max=256, help="Of the workers.", rich_help_panel=RUNNING)
]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Of the server.", rich_help_panel=RUNNING)
]


@app.command(cls=Command)
def start(
    parts: Parts = None,
    processes: Processes = 8,
    port: Port = 8000,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """See that they run: what answers already is used, the rest is started."""
    infra, terminal = _opened(data_dir, database_url, broker_url, verbose, processes, port)
    infra.start(parts or ())
    _show(terminal, infra, as_json=as_json)
    return 0


@app.command(cls=Command)
def status(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Ask each part how it is. The exit code is 1 where one that was started here does not answer."""
    from tarantella.cli import exits

    infra, terminal = _opened(data_dir, database_url, broker_url, verbose)
    told = _show(terminal, infra, as_json=as_json)
    return exits.FAILED if any(each in ("dead", "silent") for each in told) else exits.COMPLETE


@app.command(cls=Command)
def restart(
    parts: Parts = None,
    processes: Processes = 8,
    port: Port = 8000,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Stop them and start them again. Work goes on meanwhile, and afterwards."""
    infra, terminal = _opened(data_dir, database_url, broker_url, verbose, processes, port)
    infra.restart(parts or ())
    _show(terminal, infra, as_json=as_json)
    return 0


@app.command(cls=Command)
def stop(
    parts: Parts = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Stop what was started here: the server, then the workers, then Redis. Nothing that is under way is lost."""
    infra, terminal = _opened(data_dir, database_url, broker_url, verbose)
    stopped = infra.stop(parts or ())
    if as_json:
        terminal.show_json(stopped)
        return 0
    for name, ran in stopped.items():
        terminal.show(f"{name}: {'stopped' if ran else 'was not started here'}")
    return 0


@app.command(cls=Command)
def watch(
    processes: Processes = 8,
    port: Port = 8000,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Start what does not run, start again what dies, and stop all of it on Ctrl-C or SIGTERM."""
    from threading import Event

    from tarantella.cli.signals import Signals

    infra, terminal = _opened(data_dir, database_url, broker_url, max(1, verbose), processes, port)
    over = Event()
    with Signals() as signals:
        signals.on_first(over.set)
        try:
            infra.start()
            _show(terminal, infra, as_json=as_json)
            infra.watch(over.wait)
        finally:
            infra.stop()
    return 0


def _opened(
    data_dir: Path | None,
    database_url: str | None,
    broker_url: str | None,
    verbose: int,
    processes: int = 8,
    port: int = 8000,
) -> tuple[Infra, Terminal]:
    from importlib.util import find_spec

    from tarantella.cli import logs
    from tarantella.cli.terminal import open_terminal
    from tarantella.domain.errors import InvalidInput
    from tarantella.services.infra import Infra
    from tarantella.settings import load

    if find_spec("celery") is None or find_spec("redis") is None:
        remedy = "Install them with `pip install 'celery[redis]' redis 'psycopg[binary]'`."
        raise InvalidInput("Workers need Celery and Redis' client.", remedy=remedy)
    terminal = open_terminal()
    logs.configure(verbose=verbose, warnings=True, say=terminal.log)
    settings = load(data_dir=data_dir, database_url=database_url, broker_url=broker_url)
    return Infra(settings, processes=processes, port=port), terminal


def _show(terminal: Terminal, infra: Infra, *, as_json: bool) -> list[str]:
    """Show how each part is; their states."""
    from tarantella.cli.shown import show_table

    told = infra.status()
    if as_json:
        terminal.show_json(told)
    else:
        show_table(terminal, told, COLUMNS, "")
    return [each["state"] for each in told]
