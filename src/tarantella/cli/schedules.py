"""`tarantella schedules`: which jobs run by themselves, and when."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.named import JOBS
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose

EXAMPLES = """
Examples:
  tarantella schedules preview "weekdays at 06:30" --timezone Europe/Berlin
  tarantella schedules set latest "daily at 06:30"   the job made last
  tarantella schedules set 0199f3a2 "*/15 8-18 * * mon-fri"
  tarantella schedules set 0199f3a2 "every 6 hours" --if-running queue
  tarantella schedules list
  tarantella schedules pause 0199f3a2

WHEN is a line as for cron, hourly, daily, weekly, monthly, yearly,
`daily at 06:30`, `mondays at 7:00`, `weekdays at 18:00`, or
`every 15 minutes` (hours, days, weeks), counted from when it was set.

The runs are made by `tarantella serve`.
"""
COLUMNS = {
    "job": "job_id",
    "when": "frequency",
    "next": "next_local",
    "last": "last.came",
    "runs": "runs",
    "paused": "paused",
    "name": "name",
}
SCHEDULE = "/schedules/{}"
IfRunningName = Literal["skip", "queue"]
IfMissedName = Literal["run", "skip"]

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Let jobs run by themselves.",
)
JobArgument = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="A job: its id, the beginning or the end of it, or `latest`.", show_default=False
    ),
]
WhenArgument = Annotated[
    str, typer.Argument(metavar="WHEN", help="As in `daily at 06:30` or `30 6 * * 1-5`.", show_default=False)
]
Timezone = Annotated[
    str | None, typer.Option(metavar="ZONE", help="By the clock of which place, as in Europe/Berlin; usually UTC.")
]


@app.command("list", cls=Command)
def list_(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="So many at most.")] = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the jobs that run by themselves, those whose time comes first."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many("/schedules", COLUMNS, limit, "No job runs by itself: `tarantella schedules set` lets one.")


@app.command(cls=Command)
def show(
    job: JobArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show when a job runs by itself, and what came of it so far."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("GET", SCHEDULE, of=(JOBS, job))


@app.command("set", cls=Command)
def set_(
    job: JobArgument,
    when: WhenArgument,
    timezone: Timezone = None,
    if_running: Annotated[
        IfRunningName | None,
        typer.Option(
            metavar="skip|queue", help="When the last run is not over: skip the time, as usual, or queue a run."
        ),
    ] = None,
    if_missed: Annotated[
        IfMissedName | None,
        typer.Option(
            metavar="run|skip", help="When times passed while nobody worked: run once, as usual, or skip them."
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let a job run by itself, at these times and no others. What is not said is as usual."""
    said = {"frequency": when, "timezone": timezone, "if_running": if_running, "if_missed": if_missed}
    body: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("PUT", SCHEDULE, body, is_work=True, of=(JOBS, job))


@app.command(cls=Command)
def pause(
    job: JobArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let the times of a job pass without a run. Runs that there are go on."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("POST", f"{SCHEDULE}/pause", of=(JOBS, job))


@app.command(cls=Command)
def resume(
    job: JobArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Go on with the next time of a job."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("POST", f"{SCHEDULE}/resume", of=(JOBS, job))


@app.command(cls=Command)
def remove(
    job: JobArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let a job run only when somebody says so. The job and its runs stay."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("DELETE", SCHEDULE, otherwise="It runs on demand now.", of=(JOBS, job))


@app.command(cls=Command)
def preview(
    when: WhenArgument,
    timezone: Timezone = None,
    count: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="So many times.")] = 5,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show the next times that words or a line for cron would mean."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("GET", "/schedules/preview", frequency=when, timezone=timezone, count=count)
