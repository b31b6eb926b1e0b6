"""Writes the records of a run to a file or to stdout, in any format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen
from tarantella.exporters import EXPORTERS, FOLDERS
from tarantella.exporters.as_parquet import check_library
from tarantella.exporters.export import STDOUT, check_ending, exporter_named, extension_of, format_of
from tarantella.exporters.export import export as write
from tarantella.services.app import App
from tarantella.services.runs import field_names, record_stream
from tarantella.services.target import USUAL_FORMAT, Target, remembered
from tarantella.store.runs import Run

__all__ = ["Exported", "Target", "export", "exports_of", "target_again", "target_of", "usual_path"]

OWN_FILES = ("tarantella.db", "server.", "schema.")  # in the data directory
LONGEST_NAME = 240  # while it is written, a file has a longer one


class Exported(Frozen):
    """What was written, and where; no path means stdout."""

    format: str
    path: Path | None
    records: int


def target_of(
    app: App,
    format_name: str | None,
    output: str | None,
    *,
    stdout_taken: bool = False,
    run_id: str | None = None,
    not_to: str | None = None,
) -> Target:
    """The target that was asked for, refused now rather than after the crawl if it can't be written."""
    if (format_name or format_of(output or "")) == "parquet":
        check_library()
    if output is None:
        before = exports_of(app, run_id) if run_id is not None else []
        return Target(format_name or (format_of(before[0]) if before else None) or USUAL_FORMAT)
    if output == STDOUT:
        _check_stdout(format_name or USUAL_FORMAT, taken=stdout_taken)
        return Target(format_name or USUAL_FORMAT, STDOUT)
    path = Path(output)
    chosen = format_name or format_of(path) or USUAL_FORMAT
    _check_path(path, not_to, app.settings.data_dir, is_folder=chosen in FOLDERS)
    if format_name is None:
        check_ending(path)
    return Target(chosen, path)


def target_again(app: App, run_id: str, note: Callable[[str], object]) -> Target:
    """The target that was asked for when the run began; where it can't be written any more, the exports folder."""
    before = remembered(app, run_id)
    if before is None or before.destination is None:
        return target_of(app, before.format if before is not None else None, None, run_id=run_id)
    try:
        return target_of(app, before.format, str(before.destination))
    except InvalidInput as error:
        if error.field != "output":
            raise
        note(f"{error.message} The records go to {usual_path(app, run_id, before.format)} instead.")
        return Target(before.format)


def _check_stdout(format_name: str, *, taken: bool) -> None:
    if taken:
        remedy = "Write the records to a file, or leave --json out."
        raise InvalidInput("--json and `--output -` both want stdout.", remedy=remedy, field="output")
    if format_name in FOLDERS or exporter_named(format_name).needs_file:
        remedy = "Give a file with --output."
        raise InvalidInput(f"The format {format_name} can't go to stdout.", remedy=remedy, field="output")


def _check_path(path: Path, not_to: str | None, data_dir: Path, *, is_folder: bool = False) -> None:
    folder = path.absolute().parent
    wrong = None
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        wrong = f"A name of {len(path.name)} characters is longer than file systems take."
    elif (path.is_dir() and not is_folder) or not path.name:
        wrong = f"{path} is a folder."
    elif not folder.is_dir():
        wrong = f"There is no folder {folder}."
    elif not os.access(folder, os.W_OK):
        wrong = f"{folder} can't be written."
    elif not_to is not None and path.exists() and Path(not_to).exists() and path.samefile(not_to):
        wrong = f"{path} has the addresses to start from."
    elif path.name.startswith(OWN_FILES) and data_dir.is_dir() and folder.samefile(data_dir):
        wrong = f"{path} is Tarantella's own, and has all runs in it or who works on them."
    if wrong is not None:
        raise InvalidInput(wrong, remedy="Choose another file with --output.", field="output")


def exports_of(app: App, run_id: str) -> list[Path]:
    """The files in the exports folder that hold records of this run."""
    return [path for name in (*EXPORTERS, *FOLDERS) if (path := usual_path(app, run_id, name)).exists()]


def usual_path(app: App, run_id: str, format_name: str) -> Path:
    return app.settings.exports_dir / f"{run_id}.{extension_of(format_name)}"


def export(app: App, run: Run, target: Target) -> Exported:
    """Write the records that there are."""
    destination = target.destination
    if destination is None:
        destination = usual_path(app, run.id, target.format)
        destination.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    result = write(record_stream(app, run.id), target.format, destination, fields=field_names(run.spec))
    return Exported(target.format, result.path, result.count)
