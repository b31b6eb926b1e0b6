"""`tarantella recordings`: what pages asked for their data, to be asked again without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose

EXAMPLES = """
Examples:
  tarantella recordings list
  tarantella recordings show 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10
  tarantella recordings import shop.har \\
      --job 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10
  tarantella recordings delete 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10

Browser runs of jobs make them by themselves. Credentials in them are never
shown.
"""
COLUMNS = {
    "recording": "id",
    "job": "job_id",
    "status": "status",
    "asks": "question.url",
    "fields": "fields",
    "pages": "paging.kind",
    "uses": "uses",
    "created": "created_at",
}

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="See what can be replayed without a browser, bring it along, and delete it.",
)
RecordingArgument = Annotated[
    str, typer.Argument(metavar="RECORDING", help="The id of a recording.", show_default=False)
]


@app.command("list", cls=Command)
def list_(
    job: Annotated[str | None, typer.Option("--job", metavar="JOB", help="Only those of this job.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="So many at most.")] = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the recordings, the newest first."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.many("/recordings", COLUMNS, limit, "There are none.", job_id=job)


@app.command(cls=Command)
def show(
    recording: RecordingArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show what a recording asks, where the fields are, and whether it works."""
    return Asking(as_json, verbose, server, data_dir, database_url).one("GET", _path(recording))


@app.command("import", cls=Command)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.har", help="Traffic that a browser saved.", show_default=False)],
    job: Annotated[str, typer.Option("--job", metavar="JOB", help="The id of the job that it is for.")],
    first_only: Annotated[
        bool, typer.Option("--first-only", help="Take the first part of a list instead of following it.")
    ] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Make a recording of a HAR file, which browsers save from the Network part of their developer tools."""
    from tarantella.services.har import read_har

    body = {"job_id": job, "har": read_har(file), "follow": not first_only}
    return Asking(as_json, verbose, server, data_dir, database_url).one("POST", "/recordings", body)


@app.command(cls=Command)
def delete(
    recording: RecordingArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Delete a recording."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("DELETE", _path(recording), otherwise="Deleted.")


def _path(recording: str) -> str:
    from tarantella.cli.connection import part

    return f"/recordings/{part(recording)}"
