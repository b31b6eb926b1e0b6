"""Writes the records of a run to a file or to stdout, in any format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.services.app import App

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
    app: App, format: str | None, output: str | None, *, stdout_taken: bool = False, run_id: str | None = None, not_to: str | None = None
) -> Target:
    """The target that was asked for, refused now rather than after the crawl if it can't be written."""
    raise NotImplementedError


def exports_of(app: App, run_id: str) -> list[Path]:
    """The files in the exports folder that hold records of this run."""
    return [path for name in FORMATS if (path := default_path(app, run_id, name)).exists()]


def default_path(app: App, run_id: str, format: str) -> Path:
    return app.settings.exports_dir / f"{run_id}.{format}"


def export(app: App, run_id: str, target: Target) -> Exported:
    raise NotImplementedError
