"""The file of gaps, `inventory/gaps.json`: written by a scan or by others, read by the queue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from tarantella.domain.errors import InvalidInput
from tarantella.domain.gap import Gap, GapsRead, NotGaps, document_of, gaps_of
from tarantella.exporters.replace import replacing

USUAL = Path("inventory/gaps.json")
MOST_BYTES = 64 * 1024 * 1024
_REMEDY = "docs/gaps.md shows what such a file looks like; `tarantella gaps scan` writes one."


def read_gaps_file(path: Path, field: str = "task_queue") -> GapsRead:
    """What it says. Raises InvalidInput where it is missing, cut off, or no such file at all."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}.", remedy=_REMEDY, field=field) from None
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"{path} is larger than {MOST_BYTES // 1024 // 1024} MB.", remedy="Divide it.", field=field)
    try:
        # Some editors write a mark in front that JSON does not know.
        return gaps_of(orjson.loads(data.removeprefix(b"\xef\xbb\xbf")))
    except orjson.JSONDecodeError as error:
        told = f"{path}, line {error.lineno}: {error.msg}."
        raise InvalidInput(told, remedy="Is it whole? It may be written just now.", field=field) from None
    except NotGaps as error:
        raise InvalidInput(f"{path}: {error}", remedy=_REMEDY, field=field) from None


def write_gaps_file(path: Path, gaps: Sequence[Gap], generated_at: str) -> None:
    """All of it or nothing: whoever reads it meanwhile has the old one."""
    packed = orjson.dumps(document_of(gaps, generated_at), option=orjson.OPT_INDENT_2)
    if len(packed) >= MOST_BYTES:
        told = f"{path} would be larger than {MOST_BYTES // 1024 // 1024} MB, and nobody could read it."
        raise InvalidInput(told, remedy="Expect less at a time, as with `last: 30`.", field="output")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(packed + b"\n")
    except OSError as error:
        raise InvalidInput(
            f"{path} can't be written: {error.strerror}.", remedy="Choose another.", field="output"
        ) from None
