"""Puts a run's records where somebody wants them."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tarantella.domain.errors import InvalidInput, StoreBroken, StoreError, TarantellaError
from tarantella.exporters import EXPORTERS
from tarantella.exporters.contract import Exporter, Record
from tarantella.exporters.replace import replacing

STDOUT = "-"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written; no path where it went to standard output."""

    path: Path | None
    count: int
    bytes: int


def export(
    records: Iterable[Record], format_name: str, destination: str | Path, *, fields: Sequence[str] | None = None
) -> ExportResult:
    """Write records to a file, which replaces an older one only when it is complete, or with `-` to standard output.

    `fields` are the fields that the run asked for; not given, they are those of the first record. Standard output
    that nobody reads any more raises BrokenPipeError, as it does everywhere.
    """
    exporter = exporter_named(format_name)
    if str(destination) == STDOUT:
        _refuse_pipe(exporter, format_name, "standard output")
        return _stream(exporter, records, fields, sys.stdout.buffer)
    path = _checked(destination)
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe: replacing it would destroy it.
            _refuse_pipe(exporter, format_name, str(path))
            with path.open("wb", buffering=0) as raw:
                return _stream(exporter, records, fields, raw)
        with replacing(path) as out:
            count = _write(exporter, records, fields, out)
            size = out.seek(0, io.SEEK_END)
    except OSError as error:
        raise _explained(error, path) from error
    return ExportResult(path, count, size)


def exporter_named(format_name: str) -> Exporter:
    """Raises InvalidInput for a format that there isn't."""
    if format_name not in EXPORTERS:
        raise InvalidInput(
            f"There is no format {format_name!r}.", remedy=f"Choose one of {', '.join(EXPORTERS)}.", field="format"
        )
    return EXPORTERS[format_name]


def format_of(destination: str | Path) -> str | None:
    """The format that a file's name asks for."""
    ending = Path(destination).suffix.lower().removeprefix(".")
    return next((name for name, exporter in EXPORTERS.items() if exporter.extension == ending), None)


def _write(exporter: Exporter, records: Iterable[Record], fields: Sequence[str] | None, out: BinaryIO) -> int:
    if fields is None:
        records = iter(records)
        first = next(records, None)
        fields = list((first.get("fields") or {})) if first is not None else []
        records = chain([first], records) if first is not None else records
    return exporter.write(records, fields, out)


def _stream(exporter: Exporter, records: Iterable[Record], fields: Sequence[str] | None, out: io.RawIOBase | BinaryIO) -> ExportResult:
    counted = _Counted(out)
    buffered = io.BufferedWriter(counted, 1 << 16)
    count = _write(exporter, records, fields, buffered)
    buffered.flush()
    out.flush()
    return ExportResult(None, count, counted.bytes)
