"""Opens the application for one command: settings, terminal, log, store."""

from __future__ import annotations

import shlex
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tarantella.cli.terminal import Terminal, open_terminal
from tarantella.domain.struct import Frozen

if TYPE_CHECKING:
    from tarantella.services.app import App

T = TypeVar("T")


class Opened(Frozen):
    """What a command works with."""

    app: App
    terminal: Terminal
    suffix: str  # what other commands need to find the same data: nothing, or ` --data-dir …` and the like


@contextmanager
def opened(
    data_dir: Path | None,
    database_url: str | None,
    *,
    verbose: int = 0,
    log_file: Path | None = None,
    quiet: bool = False,
    warnings: bool = False,
    timed: bool = False,
) -> Iterator[Opened]:
    """The application on its data directory, closed again behind the command."""
    from tarantella.bootstrap import open_app
    from tarantella.cli import logs
    from tarantella.settings import load

    terminal = open_terminal(quiet=quiet, timed=timed)
    logs.configure(verbose=verbose, warnings=warnings and not quiet, file=log_file, say=terminal.log)
    settings = load(data_dir=data_dir, database_url=database_url)
    app = open_app(settings)
    try:
        yield Opened(app, terminal, suffix_of(data_dir, database_url))
    finally:
        app.close()


def suffix_of(data_dir: Path | None, database_url: str | None) -> str:
    """The options that make another command find the same data, if it needs any; a password is not told."""
    from tarantella.domain.url import redact
    from tarantella.settings import load

    usual = load()
    suffix = ""
    if data_dir is not None and data_dir != usual.data_dir:
        suffix += f" --data-dir {shlex.quote(str(data_dir))}"
    if database_url is not None and database_url != usual.database_url:
        suffix += f" --database-url {shlex.quote(redact(database_url))}"
    return suffix


def broker_suffix_of(broker_url: str | None) -> str:
    """What a server or a worker needs besides to find the same broker."""
    from tarantella.domain.url import redact
    from tarantella.settings import load

    if broker_url is None or broker_url == load().broker_url:
        return ""
    return f" --broker-url {shlex.quote(redact(broker_url))}"


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the fastest event loop that is installed."""
    try:
        import uvloop
    except ImportError:
        import asyncio

        return asyncio.run(work)
    return uvloop.run(work)
