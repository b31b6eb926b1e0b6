"""Options that more than one command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tarantella.cli.exits import FailOn

OUTPUT = "Output"
RUNNING = "Running"

PriorityName = Literal["critical", "high", "medium", "low"]
StrategyName = Literal["auto", "http", "browser", "api_replay"]
Format = Literal["json", "jsonl", "csv", "db", "markdown", "parquet"]

RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A run: its id, the beginning or the end of it, or `latest`.", show_default=False
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where the database and the exports live.", rich_help_panel=RUNNING),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        help="A PostgreSQL database instead of the file in --data-dir, as in postgresql://user@host/name.",
        rich_help_panel=RUNNING,
    ),
]
BrokerUrl = Annotated[
    str | None,
    typer.Option(
        "--broker-url",
        metavar="URL",
        help="The Redis through which workers of other machines are woken, as in redis://host:6379/1.",
        rich_help_panel=RUNNING,
    ),
]
ServerUrl = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Talk to this server, as in http://127.0.0.1:8000.",
        show_default="the one on --data-dir, if one runs",
        rich_help_panel=RUNNING,
    ),
]
Engines = Annotated[
    int | None,
    typer.Option(
        "--engines",
        metavar="N",
        min=1,
        max=64,
        help="Processes that drain the run together.",
        rich_help_panel=RUNNING,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the result as JSON on stdout, and nothing else.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no summary: only errors.", rich_help_panel=OUTPUT)
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        help="Log more on stderr; -vv logs everything.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        metavar="FILE",
        help="Append the whole log to this file, as JSON lines.",
        rich_help_panel=OUTPUT,
    ),
]
RecordFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="json|jsonl|csv|db|markdown|parquet",
        help="How the records are written; `markdown` is a folder, `parquet` needs the extra of that name. Without it, the "
        "ending of --output chooses.",
        rich_help_panel=OUTPUT,
        show_default="jsonl",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE|-",
        help="Where the records are written, as in records.csv, whose ending chooses the format; `-` is stdout.",
        show_default="DATA_DIR/exports/RUN.FORMAT",
        rich_help_panel=OUTPUT,
    ),
]
FailOnOption = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        metavar="failed|partial|never",
        help="Which ends of a run give an exit code other than 0: `partial` is 3, `failed` is 1.",
        rich_help_panel=OUTPUT,
    ),
]
