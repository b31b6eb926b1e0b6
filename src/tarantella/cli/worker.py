"""`tarantella worker`: processes that do the work, for servers on any machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarantella.cli import exits
from tarantella.cli.command import Command
from tarantella.cli.options import RUNNING, AsJson, BrokerUrl, DatabaseUrl, DataDir, LogFile, Verbose

if TYPE_CHECKING:
    from pathlib import Path

    from tarantella.settings import Settings

EXAMPLES = """
Examples:
  tarantella worker                                  one process per core
  tarantella worker --processes 4 --name big@%h
  tarantella worker --database-url postgresql://me@db/crawls \\
      --broker-url redis://queue:6379/1

The same addresses for `tarantella serve`, on this machine or another, and both
work together. Stop it with Ctrl-C or SIGTERM: pages in flight are finished
first, and nothing is lost. `celery -A tarantella.queues.celery worker` does
the same, with Celery's own options.
"""

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def worker(
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes", metavar="N", min=1, max=256, help="How many, each with an engine.", rich_help_panel=RUNNING
        ),
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            help="What Celery calls it; `%h` is the name of this machine. Each on a machine needs one of its own.",
            rich_help_panel=RUNNING,
        ),
    ] = "tarantella@%h",
    as_json: AsJson = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Work on all runs of a database, together with other workers.

    Celery starts the processes, replaces those that die, and brings word of new runs. What is done
    and what is to be done is only in the database: without the broker the work goes on.
    """
    from tarantella.settings import load

    settings = load(data_dir=data_dir, database_url=database_url, broker_url=broker_url, worker_processes=processes)
    _check_libraries()
    _hand_down(settings)
    return _work(settings, name, verbose=verbose, log_file=log_file, as_json=as_json)


def _check_libraries() -> None:
    from importlib.util import find_spec

    from tarantella.domain.errors import InvalidInput

    if find_spec("celery") is None or find_spec("redis") is None:
        raise InvalidInput(
            "Workers need Celery and Redis' client.",
            remedy="Install them with `pip install 'celery[redis]' redis 'psycopg[binary]'`.",
        )


def _hand_down(settings: Settings) -> None:
    """Celery's processes, and what they load, find the same settings as this command."""
    from tarantella.settings import shared_environment

    os.environ.update(shared_environment(settings), TARANTELLA_DATA_DIR=str(settings.data_dir.absolute()))


def _work(settings: Settings, name: str, *, verbose: int, log_file: Path | None, as_json: bool) -> int:
    from celery.signals import setup_logging, worker_ready

    from tarantella.cli import logs, words
    from tarantella.cli.terminal import open_terminal
    from tarantella.queues.celery import app as celery

    def configure(**_: object) -> None:
        logs.configure(verbose=verbose, file=log_file, say=logs.line_on_stderr)

    processes = settings.worker_processes or os.cpu_count() or 1
    terminal = open_terminal()

    def tell(sender: Any = None, **_: object) -> None:
        if as_json:
            terminal.show_line({"node": sender.hostname, "pid": os.getpid(), "processes": processes})
        else:
            terminal.say(f"{sender.hostname} works, with {words.count(processes, 'engine')}. Ctrl-C stops it.")

    worker_ready.connect(tell, weak=False)
    # Called in every process. Without it Celery would set up a log of its own.
    setup_logging.connect(configure, weak=False)

    # `inspect` and `control` work without the chatter by which Celery's workers get to know each other.
    options = ["--without-gossip", "--without-mingle", "--hostname", name, "--pool", "prefork"]
    options += ["--concurrency", str(processes)]
    try:
        celery.worker_main(["--quiet", "worker", *options])
    except SystemExit as left:
        if isinstance(left.code, str):
            raise
        return int(left.code or 0)
    return exits.COMPLETE
