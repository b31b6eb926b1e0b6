"""Writes the records of a run to a file or to stdout, in any format."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.services.app import App
from tarantella.services.runs import record_stream

FORMATS = ("jsonl", "json", "csv", "db")
STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Target:
    """Where records go and how they are written; without a path, to the exports folder."""

    format: str
    path: Path | None = None
    stdout: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where; no path means stdout."""

    format: str
    path: Path | None
    records: int


def target_of(
    app: App,
    format_: str | None,
    output: str | None,
    *,
    stdout_taken: bool = False,
    run_id: str | None = None,
    not_to: str | None = None,
) -> Target:
    """The target that was asked for, refused now rather than after the crawl if it can't be written."""
    if output == STDOUT:
        return _stdout(format_ or FORMATS[0], stdout_taken)
    if output is None:
        before = exports_of(app, run_id) if run_id is not None else []
        return Target(format_ or (before[0].suffix[1:] if before else FORMATS[0]))
    path = Path(output)
    suffix = path.suffix[1:].lower()
    _check_path(path, not_to)
    return Target(format_ or (suffix if suffix in FORMATS else FORMATS[0]), path)


def _stdout(format_: str, taken: bool) -> Target:
    if taken:
        raise InvalidInput(
            "--json and `--output -` both want stdout.",
            remedy="Write the records to a file, or leave --json out.",
            field="output",
        )
    if format_ == "db":
        raise InvalidInput(
            "A database can't be written to stdout.", remedy="Give a file with --output.", field="output"
        )
    return Target(format_, stdout=True)


def _check_path(path: Path, not_to: str | None) -> None:
    if path.is_dir() or not path.name:
        raise InvalidInput(f"{path} is a folder.", remedy="Give a file with --output.", field="output")
    if not path.absolute().parent.is_dir():
        raise InvalidInput(
            f"There is no folder {path.parent}.",
            remedy="Make it first, or choose another --output.",
            field="output",
        )
    if not os.access(path.absolute().parent, os.W_OK):
        raise InvalidInput(
            f"{path.parent} can't be written.", remedy="Choose another --output.", field="output"
        )
    if not_to is not None and path.exists() and Path(not_to).exists() and path.samefile(not_to):
        raise InvalidInput(
            f"{path} has the addresses to start from.", remedy="Choose another --output.", field="output"
        )


def exports_of(app: App, run_id: str) -> list[Path]:
    """The files in the exports folder that hold records of this run."""
    return [path for name in FORMATS if (path := default_path(app, run_id, name)).exists()]


def default_path(app: App, run_id: str, format_: str) -> Path:
    return app.settings.exports_dir / f"{run_id}.{format_}"


def export(app: App, run_id: str, target: Target) -> Exported:
    """Write the records that there are."""
    import orjson, sys

    path = None if target.stdout else target.path or default_path(app, run_id, target.format)
    if path:
        path.parent.mkdir(exist_ok=True, parents=True)
    n = 0
    f = path.open("wb") if path else sys.stdout.buffer
    for r in record_stream(app, run_id):
        f.write(orjson.dumps(r) + b"\n")
        n += 1
    f.flush()
    return Exported(target.format, path, n)
