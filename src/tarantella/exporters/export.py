"""Puts a run's records where somebody wants them."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tarantella.domain.errors import InvalidInput, StoreBroken, StoreError, TarantellaError
from tarantella.domain.struct import Frozen
from tarantella.exporters import EXPORTERS, FOLDERS
from tarantella.exporters.contract import Exporter, Output, Record
from tarantella.exporters.replace import replacing
from tarantella.exporters.replace_folder import replacing_folder

STDOUT = "-"
# How people end the names of such files, too.
OTHER_ENDINGS: Mapping[str, str] = {
    "ndjson": "jsonl",
    "jsonlines": "jsonl",
    "sqlite": "db",
    "sqlite3": "db",
    "md": "markdown",
    "pq": "parquet",
}


class ExportResult(Frozen):
    """What was written; no path where it went to stdout."""

    path: Path | None
    count: int
    bytes: int


def export(
    records: Iterable[Record],
    format_name: str,
    destination: str | Path,
    *,
    fields: Sequence[str] | None = None,
) -> ExportResult:
    """Write records to a file, which replaces an older one only when it is complete, or with `-` to stdout.

    `fields` are the fields that the run asked for; if not given, those of the first record. When nobody reads
    stdout any more, that is a BrokenPipeError, as everywhere.
    """
    if format_name in FOLDERS:
        return _export_folder(records, format_name, destination)
    exporter = exporter_named(format_name)
    if str(destination) == STDOUT:
        _refuse_pipe(exporter, format_name, "stdout")
        return _stream(exporter, records, fields, sys.stdout.buffer)
    path = _checked(destination)
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe: replacing it would destroy it.
            _refuse_pipe(exporter, format_name, str(path))
            with path.open("wb") as device:
                return _stream(exporter, records, fields, device)
        with replacing(path) as out:
            count = _write(exporter, records, fields, out)
            out.flush()
            size = Path(out.name).stat().st_size
    except OSError as error:
        raise _explained(error, path) from error
    return ExportResult(path, count, size)


def _export_folder(records: Iterable[Record], format_name: str, destination: str | Path) -> ExportResult:
    if str(destination) == STDOUT:
        raise InvalidInput(
            f"The format {format_name} is a folder, so it can't go to stdout.",
            remedy="Give the name of a folder.",
            field="out",
        )
    path = Path(destination).absolute()
    try:
        with replacing_folder(path) as folder:
            count = FOLDERS[format_name].write(records, folder)
            size = sum(file.stat().st_size for file in folder.iterdir())
    except OSError as error:
        raise _explained(error, path) from error
    return ExportResult(path, count, size)


def exporter_named(format_name: str) -> Exporter:
    """Raises InvalidInput for a format that there isn't."""
    if format_name not in EXPORTERS:
        raise InvalidInput(
            f"There is no format {format_name!r}.",
            remedy=f"Choose one of {', '.join((*EXPORTERS, *FOLDERS))}.",
            field="format",
        )
    return EXPORTERS[format_name]


def extension_of(format_name: str) -> str:
    """How the name of a file or a folder of this format ends."""
    return FOLDERS[format_name].extension if format_name in FOLDERS else exporter_named(format_name).extension


def format_of(destination: str | Path) -> str | None:
    """The format that a file's name asks for."""
    ending = Path(destination).suffix.lower().removeprefix(".")
    known = {extension_of(name): name for name in (*EXPORTERS, *FOLDERS)}
    return known.get(ending) or OTHER_ENDINGS.get(ending)


def check_ending(destination: str | Path) -> None:
    """Raises InvalidInput for a name that asks for a format which nobody writes; one without an ending asks for none."""
    path = Path(destination)
    if path.suffix and format_of(path) is None:
        formats = (*EXPORTERS, *FOLDERS)
        raise InvalidInput(
            f"There is no format for {path.suffix!r}: there are {', '.join(formats[:-1])} and {formats[-1]}.",
            remedy="Give the file another ending, or name the format that is meant.",
            field="output",
        )


def _write(exporter: Exporter, records: Iterable[Record], fields: Sequence[str] | None, out: Output) -> int:
    if fields is None:
        records = iter(records)
        first = next(records, None)
        fields = list(first.get("fields") or {}) if first is not None else []
        records = chain([first], records) if first is not None else records
    return exporter.write(records, fields, out)


def _stream(exporter: Exporter, records: Iterable[Record], fields: Sequence[str] | None, out: BinaryIO) -> ExportResult:
    counted = _Counted(out)
    count = _write(exporter, records, fields, counted)
    out.flush()
    return ExportResult(None, count, counted.bytes)


class _Counted:
    """Counts what is written, where nobody can look it up afterwards."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.name = str(out.name)
        self.bytes = 0

    def write(self, data: bytes, /) -> int:
        self.bytes += len(data)
        return self._out.write(data)


def _checked(destination: str | Path) -> Path:
    """The file itself, where the name is a link to it."""
    try:
        path = Path(destination).resolve()
        is_folder = path.is_dir()
    except OSError as error:
        raise _explained(error, Path(destination)) from error
    except (RuntimeError, ValueError) as error:
        raise InvalidInput(f"{str(destination)!r} is not the name of a file: {error}.", field="out") from None
    if is_folder:
        raise InvalidInput(f"{path} is a folder.", remedy="Give the name of a file in it.", field="out")
    return path


def _refuse_pipe(exporter: Exporter, format_name: str, place: str) -> None:
    if exporter.needs_file:
        raise InvalidInput(
            f"The format {format_name} is not written from front to back, so it can't go to {place}.",
            remedy=f"Give the name of a file, such as records.{exporter.extension}.",
            field="out",
        )


_WORDS: Mapping[int, tuple[type[TarantellaError], str, str]] = {
    errno.ENOENT: (InvalidInput, "its folder does not exist", "Create it, or choose another place."),
    errno.ENOTDIR: (InvalidInput, "something on the way to it is not a folder", "Choose another place."),
    errno.EACCES: (InvalidInput, "that is not permitted", "Choose a folder that you may write in."),
    errno.EPERM: (InvalidInput, "that is not permitted", "Choose a folder that you may write in."),
    errno.EROFS: (InvalidInput, "the file system is read-only", "Choose another place."),
    errno.ENAMETOOLONG: (InvalidInput, "the name is too long", "Choose a shorter one."),
    errno.EFBIG: (
        StoreBroken,
        "it would be larger than files may be",
        "Raise the limit; nothing was replaced.",
    ),
    errno.ENOSPC: (
        StoreBroken,
        "the disk is full",
        "Free some space and export again; nothing was replaced.",
    ),
    errno.EDQUOT: (
        StoreBroken,
        "your share of the disk is full",
        "Free some space and export again; nothing was replaced.",
    ),
}


def _explained(error: OSError, path: Path) -> TarantellaError:
    unforeseen = (StoreError, error.strerror or str(error), "Nothing was replaced.")
    kind, reason, remedy = _WORDS.get(error.errno or 0, unforeseen)
    return kind(f"{path} can't be written: {reason}.", remedy=remedy, field="out")
