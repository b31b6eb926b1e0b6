"""The command `tarantella`."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from tarantella.cli import cache, config, demo, doctor, engine, export, runs, scrape, steering
from tarantella.cli.command import Group, complain

PROGRAM = "tarantella"
# Their parent decides what a signal means; they must not die of one before they have said so themselves.
CHILDREN = ("engine", "taster")
EXAMPLES = """
Examples:
  tarantella demo                                   see it at work, in a few seconds
  tarantella scrape example.com --depth 2           a page and what it links to
  tarantella runs list                              what was done so far
  tarantella runs resume latest                     go on after Ctrl-C, or a power cut

Exit codes: 0 complete, 1 failed, 2 usage, 3 partial, 130 interrupted.
"""


class Root(Group):
    """All commands, those that people start with first."""

    order = ("scrape", "demo", "runs", "export", "cache", "doctor", "config")


app = typer.Typer(
    name=PROGRAM,
    cls=Root,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EXAMPLES,
    help="Tarantella runs web data collection so that nobody has to watch it.",
)
for noun in (scrape, demo, export, doctor, engine):
    app.registered_commands += noun.app.registered_commands
runs.app.registered_commands += steering.app.registered_commands
app.add_typer(runs.app, name="runs")
app.add_typer(cache.app, name="cache")
app.add_typer(config.app, name="config")


def _show_version(wanted: bool) -> None:
    if wanted:
        from tarantella import __version__

        sys.stdout.write(f"{PROGRAM} {__version__}\n")
        raise typer.Exit


@app.callback()
def tarantella(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:2] and sys.argv[1] in CHILDREN:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        app(prog_name=PROGRAM)
    except Exception as error:
        sys.exit(complain(error))
