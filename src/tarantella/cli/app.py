"""The command `tarantella`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_group

from tarantella.cli.command import Group, complain
from tarantella.domain.errors import InvalidInput

PROGRAM = "tarantella"
# Their parent decides what a signal means; they must not die of one before they have said so themselves.
CHILDREN = ("engine", "taster", "reader")
EXAMPLES = """
Examples:
  tarantella demo                           see it at work, in a few seconds
  tarantella scrape example.com --depth 2   a page and what it links to
  tarantella serve                          the HTTP API, and who does its work
  tarantella runs list                      what was done so far
  tarantella runs resume latest             go on after Ctrl-C, or a power cut

Exit codes: 0 complete, 1 failed, 2 usage, 3 partial, 130 interrupted.
"""


# The commands, those that people start with first, and the file that has each of them.
FILES: Mapping[str, str] = {
    "scrape": "scrape",
    "demo": "demo",
    "serve": "serve",
    "worker": "worker",
    "workers": "workers",
    "infra": "infra",
    "jobs": "jobs",
    "schedules": "schedules",
    "workflows": "workflows",
    "queue": "queue",
    "autopilot": "autopilot",
    "tasks": "tasks",
    "gaps": "gaps",
    "sites": "sites",
    "recordings": "recordings",
    "sessions": "sessions",
    "system": "system",
    "tokens": "tokens",
    "preview": "preview",
    "runs": "steering",  # which adds its commands to those of runs.py
    "export": "export",
    "re-extract": "reextract",
    "cache": "cache",
    "doctor": "doctor",
    "config": "config",
    "engine": "engine",
    "taster": "engine",
    "reader": "engine",
    "step": "engine",
}
# Starting makes many things that stay: looking for garbage among them again and again takes a tenth of the time.
ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000


class Commands(Mapping[str, Any]):
    """The commands by their names. Each is loaded when somebody asks for it, because loading all of them takes a while."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            group = get_group(import_module(f"tarantella.cli.{FILES[name]}").app)
            self._loaded[name] = group.commands.get(name, group)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(FILES)

    def __len__(self) -> int:
        return len(FILES)


class Root(Group):
    """All commands."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.commands = Commands()  # type: ignore[assignment]


app = typer.Typer(
    name=PROGRAM,
    cls=Root,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EXAMPLES,
    help="Tarantella runs web data collection so that nobody has to watch it.",
)


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
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    if sys.argv[1:2] and sys.argv[1] in CHILDREN:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _have_streams()
    try:
        for argument in sys.argv[1:]:
            _check_characters(argument)
        app(prog_name=PROGRAM)
    except Exception as error:
        sys.exit(complain(error))


def _have_streams() -> None:
    """Where a stream was closed, what is said there is lost; no file that is opened later may take its place."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))


def _check_characters(argument: str) -> None:
    try:
        argument.encode()
    except UnicodeEncodeError:
        from tarantella.domain.url import shown

        told = argument.encode(errors="surrogateescape").decode(errors="replace")
        raise InvalidInput(
            f"The argument {shown(told)} is not UTF-8.",
            remedy="Write it in UTF-8; other names can't be stored or shown.",
        ) from None
