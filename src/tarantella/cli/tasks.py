"""`tarantella tasks`: one address and its links, submitted to a server and collected later."""

from __future__ import annotations

from typing import Annotated

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.named import TASKS
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, PriorityName, ServerUrl, Verbose

EXAMPLES = """
Examples:
  tarantella tasks submit https://example.com --depth 2
  tarantella tasks show 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10
  tarantella tasks results 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10 --errors --json

Tasks are worked on by `tarantella serve`. A task is a run: `tarantella runs`
knows it by the same id.
"""
COLUMNS = {
    "task": "task_id",
    "status": "status",
    "progress": "progress",
    "items": "total_items",
    "done": "completed_items",
    "failed": "failed_items",
    "created": "created_at",
}
SCRAPING = "Scraping"
TASK = "/scraping/tasks/{}"

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Submit tasks to a server, watch them, and collect their results.",
)
TaskArgument = Annotated[
    str,
    typer.Argument(
        metavar="TASK", help="A task: its id, the beginning or the end of it, or `latest`.", show_default=False
    ),
]


@app.command(cls=Command)
def submit(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address to scrape.", show_default=False)],
    depth: Annotated[
        int | None,
        typer.Option("--depth", metavar="N", min=1, max=5, help="How far to follow links.", rich_help_panel=SCRAPING),
    ] = None,
    timeout_minutes: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=5, max=120, help="When to stop and keep what there is.", rich_help_panel=SCRAPING
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=25, help="Pages in flight at a time.", rich_help_panel=SCRAPING),
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=5, help="Requests for one page in all.", rich_help_panel=SCRAPING),
    ] = None,
    priority: Annotated[
        PriorityName | None,
        typer.Option(
            metavar="critical|high|medium|low", help="Who goes first when tasks wait.", rich_help_panel=SCRAPING
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Submit a task."""
    said = {
        "max_depth": depth,
        "timeout_minutes": timeout_minutes,
        "max_concurrent_articles": concurrency,
        "retry_attempts": attempts,
        "priority": priority,
    }
    from tarantella.domain.url import with_scheme

    body = {"url": with_scheme(url), **{name: value for name, value in said.items() if value is not None}}
    return Asking(as_json, verbose, server, data_dir, database_url).one(
        "POST", "/scraping/async-scrape", body, is_work=True
    )


@app.command("list", cls=Command)
def list_(
    status: Annotated[
        str | None,
        typer.Option(
            metavar="STATUS", help="Only those that are pending, running, completed, failed, partial or cancelled."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="So many at most.")] = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the tasks, the newest first."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many("/scraping/tasks", COLUMNS, limit, "There are no such tasks.", status_filter=status)


@app.command(cls=Command)
def show(
    task: TaskArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show how far a task is."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("GET", f"{TASK}/status", of=(TASKS, task))


@app.command(cls=Command)
def results(
    task: TaskArgument,
    errors: Annotated[bool, typer.Option("--errors", help="Also the pages that failed.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=5_000, help="So many at most.")] = 1_000,
    cursor: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Where to go on: metadata.next_cursor of the answer before.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show what a task has collected so far."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("GET", f"{TASK}/results", of=(TASKS, task), include_errors=errors, limit=limit, cursor=cursor)


@app.command(cls=Command)
def cancel(
    task: TaskArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """End a task; what it has found is kept."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("DELETE", TASK, of=(TASKS, task))
