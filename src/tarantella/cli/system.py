"""`tarantella system`: how the whole gets on, as the server sees it."""

from __future__ import annotations

from pathlib import Path

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose
from tarantella.cli.workers import COLUMNS, rows_of, tell_troubles

EXAMPLES = """
Examples:
  tarantella system show
  tarantella system ready && echo work gets done
  tarantella system metrics --server http://127.0.0.1:8000
"""
# Few enough for a narrow terminal; `workers list` has the rest.
WORKERS = ("machine", "process", "condition", "lanes", "in flight", "pages/s", "memory")
TABLES = {
    "engines": {
        "engine": "number",
        "process": "pid",
        "state": "state",
        "condition": "condition",
        "restarts": "restarts",
        "last end": "last_end",
    },
    "workers": {name: COLUMNS[name] for name in WORKERS},
}

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="See who works, what waits and why, and the numbers for Prometheus.",
)


@app.command(cls=Command)
def show(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show version, workers, lanes, capacity, and why runs wait."""
    from tarantella.cli.connection import connected
    from tarantella.cli.shown import show_lines

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.ask("GET", "/system")
        if as_json:
            tarantella.terminal.show_json(found)
            return 0
        show_lines(tarantella.terminal, {**found, "workers": rows_of(found["workers"])}, TABLES)
        tell_troubles(tarantella.terminal, found["workers"])
    return 0


@app.command(cls=Command)
def health(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Ask whether the server is alive: the one that is named, or that which works on this data."""
    from tarantella.cli.remote_runs import server_of
    from tarantella.domain.errors import NotFound

    server = server_of(server, data_dir, database_url, also_running=True)
    if server is None:
        raise NotFound("No server works on this data.", remedy="Start `tarantella serve`, or name one with --server.")
    return _show("/health", as_json, verbose, server, data_dir, database_url)


@app.command(cls=Command)
def ready(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Ask whether work gets done; the exit code is 1 when it does not."""
    return _show("/readyz", as_json, verbose, server, data_dir, database_url)


@app.command(cls=Command)
def tasks(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show how tasks get on: slots, errors, and hosts that are left alone."""
    return _show("/scraping/status", as_json, verbose, server, data_dir, database_url)


@app.command(cls=Command)
def metrics(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Print the numbers for Prometheus."""
    from tarantella.cli.answers import not_ours
    from tarantella.cli.connection import connected

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        try:
            text = b"".join(tarantella.download("/metrics", "text/plain")).decode()
            samples = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
            found = {name: float(value) for name, _, value in samples}
        except ValueError:
            raise not_ours() from None
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            tarantella.terminal.show(text.rstrip())
    return 0


def _show(
    path: str, as_json: bool, verbose: int, server: str | None, data_dir: Path | None, database_url: str | None
) -> int:
    from tarantella.cli.asking import Asking

    return Asking(as_json, verbose, server, data_dir, database_url).one("GET", path)
