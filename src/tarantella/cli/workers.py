"""`tarantella workers`: the fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose

if TYPE_CHECKING:
    from tarantella.cli.terminal import Terminal

EXAMPLES = """
Examples:
  tarantella workers list                    who works, and how they get on
  tarantella workers wakes --run 01a1e4a2-60c8-7dc6-9d27-05c52311e6d6
  tarantella workers wakes --task 8f4ff16c-aed2-467f-bf78-d706dd8724a9
"""
COLUMNS = {
    "machine": "host",
    "process": "pid",
    "condition": "condition",
    "lanes": "lanes",
    "in flight": "in_flight",
    "pages/s": "pages_per_second",
    "memory": "memory",
    "last progress": "progress_at",
    "node": "node",
    "version": "version",
    "worker": "id",
}
WAKES = {"message": "task_id", "run": "run_id", "worker": "worker_id", "node": "node", "when": "woken_at"}
MOST = 200

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="See who works on all runs, here and on other machines.",
)


@app.command("list", cls=Command)
def list_(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List who is alive: what they hold, how fast they are, and whether they get on."""
    from tarantella.cli.connection import connected
    from tarantella.cli.shown import show_table

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.ask_all("/workers")
        if as_json:
            tarantella.terminal.show_json(found)
            return 0
        show_table(
            tarantella.terminal,
            rows_of(found),
            COLUMNS,
            "Nobody works: `tarantella worker` starts somebody; so does `tarantella serve` where no broker is set.",
        )
        tell_troubles(tarantella.terminal, found)
    return 0


def rows_of(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Workers as a table has them."""
    from tarantella.cli import words

    return [{**each, "memory": words.size(each["memory_bytes"])} for each in found]


def tell_troubles(terminal: Terminal, found: Sequence[Mapping[str, Any]]) -> None:
    """Who of them does not get on, and why."""
    from tarantella.cli import words

    for each in found:
        if each["trouble"] is not None:
            terminal.say(words.clean(f"{each['id']} on {each['host']}: {each['trouble']}"))


@app.command(cls=Command)
def wakes(
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only those for this run, by its id.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="Only this message, by Celery's id.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=MOST, help="So many at most.")] = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List Celery's messages and whom they woke for which run, the newest first."""
    from tarantella.cli.connection import connected
    from tarantella.cli.shown import show_table

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.ask_all("/workers/wakes", run_id=run, task_id=task, limit=limit)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_table(tarantella.terminal, found, WAKES, "No message is known to have woken anybody for that.")
    return 0
