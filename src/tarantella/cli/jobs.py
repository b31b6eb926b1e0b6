"""`tarantella jobs`: what is collected again and again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.named import JOBS
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, PriorityName, ServerUrl, StrategyName, Verbose, Yes
from tarantella.domain.errors import InvalidInput

EXAMPLES = """
Examples:
  tarantella jobs create https://example.com/shop --field title \\
      --field price=.price --set max_depth=2
  tarantella jobs run 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10
  tarantella jobs create https://example.com/shop --frequency "daily at 06:30"
  tarantella jobs update 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10 \\
      --set priority='"high"'
  tarantella jobs runs 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10

Its runs are worked on by `tarantella serve`.
"""
COLUMNS = {
    "job": "id",
    "name": "name",
    "target": "target_url",
    "strategy": "strategy",
    "fields": "fields",
    "version": "version",
}
RUN_COLUMNS = {
    "run": "id",
    "status": "status",
    "done": "counts.done",
    "failed": "counts.failed",
    "left": "counts.pending",
    "created": "created_at",
}
WANTED = "What to collect"
NOTHING = "There are none."
JOB = "/jobs/{}"

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Make jobs, change them, and run them.",
)
JobArgument = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="A job: its id, the beginning or the end of it, or `latest`.", show_default=False
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="So many at most.")]
Fields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME[=CSS[@ATTR]]", help="What is wanted from each page.", rich_help_panel=WANTED),
]
Strategy = Annotated[
    StrategyName | None,
    typer.Option(metavar="auto|http|browser|api_replay", help="How to fetch.", rich_help_panel=WANTED),
]
Frequency = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="When it runs by itself, as in `daily at 06:30`; or on_demand.", rich_help_panel=WANTED
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(metavar="ZONE", help="By the clock of which place, as in Europe/Berlin.", rich_help_panel=WANTED),
]
Name = Annotated[str | None, typer.Option(metavar="TEXT", help="A name for people.", rich_help_panel=WANTED)]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="OPTION=JSON",
        help="Any other option of a job, as the API calls it, as in max_depth=2.",
        rich_help_panel=WANTED,
    ),
]


@app.command(cls=Command)
def create(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address to collect from.", show_default=False)],
    field: Fields = None,
    strategy: Strategy = None,
    frequency: Frequency = None,
    timezone: Timezone = None,
    name: Name = None,
    set_: Set = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Make a job."""
    from tarantella.domain.url import with_scheme

    said = {"strategy": strategy, "frequency": frequency, "timezone": timezone, "name": name}
    body = {"target_url": with_scheme(url), **_said(field or ["title"], said, set_)}
    return Asking(as_json, verbose, server, data_dir, database_url).one("POST", "/jobs", body)


@app.command("list", cls=Command)
def list_(
    limit: Limit = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the jobs, the newest first."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many("/jobs", COLUMNS, limit, NOTHING)


@app.command(cls=Command)
def show(
    job: JobArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show all about one job."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("GET", JOB, of=(JOBS, job))


@app.command(cls=Command)
def update(
    job: JobArgument,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The address to collect from.", rich_help_panel=WANTED)
    ] = None,
    field: Fields = None,
    strategy: Strategy = None,
    frequency: Frequency = None,
    timezone: Timezone = None,
    name: Name = None,
    set_: Set = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Change a job. Runs that there are keep what they were made of."""
    from tarantella.domain.url import with_scheme

    said = {"strategy": strategy, "frequency": frequency, "timezone": timezone, "name": name}
    body = {**({"target_url": with_scheme(url)} if url is not None else {}), **_said(field, said, set_)}
    return Asking(as_json, verbose, server, data_dir, database_url).one("PATCH", JOB, body, of=(JOBS, job))


@app.command(cls=Command)
def delete(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The whole id of a job.", show_default=False)],
    yes: Yes = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Delete a job, its runs, and all that they collected."""
    from tarantella.cli.confirm import confirmed
    from tarantella.cli.connection import part

    if not yes and not confirmed(f"Delete the job {job}, its runs, and all that they collected?"):
        typer.echo("Nothing was deleted.", err=True)
        return 0
    # By its whole id alone: nobody may lose a job because a part of its id was that of another.
    path = JOB.format(part(job))
    return Asking(as_json, verbose, server, data_dir, database_url).one("DELETE", path, otherwise="Deleted.")


@app.command(cls=Command)
def run(
    job: JobArgument,
    priority: Annotated[
        PriorityName | None, typer.Option(metavar="critical|high|medium|low", help="Instead of the job's own.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Queue a run of a job, for the engines of `tarantella serve`."""
    body = {"priority": priority} if priority is not None else None
    return Asking(as_json, verbose, server, data_dir, database_url).one(
        "POST", f"{JOB}/runs", body, is_work=True, of=(JOBS, job)
    )


@app.command(cls=Command)
def runs(
    job: JobArgument,
    limit: Limit = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the runs of a job, the newest first."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many(f"{JOB}/runs", RUN_COLUMNS, limit, NOTHING, of=(JOBS, job))


def _said(fields: list[str] | None, options: Mapping[str, str | None], more: list[str] | None) -> dict[str, Any]:
    said: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if fields:
        said["fields"] = [_field(text) for text in fields]
    for text in more or ():
        option, equals, value = text.partition("=")
        try:
            said[option.strip()] = json.loads(value)
        except ValueError:
            if not equals:
                raise InvalidInput(
                    f"{text[:60]!r} sets nothing.", field="set", remedy="Write OPTION=JSON, as in max_depth=2."
                ) from None
            # A word need not be quoted twice.
            said[option.strip()] = value
    return said


def _field(text: str) -> Any:
    from tarantella.domain.spec import Field

    if "=" not in text:
        return text
    wanted = Field.parse(text)
    return {"name": wanted.name, "css": wanted.css, **({"attr": wanted.attr} if wanted.attr else {})}
