"""A table as in RFC 4180, in UTF-8, that no spreadsheet will run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any

from tarantella.exporters.columns import BASIC, DATA, field_columns
from tarantella.exporters.contract import Output, Record
from tarantella.exporters.values import to_cell

# What spreadsheets take for a formula; some skip blanks before it, some know the wide forms of the signs.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


class CsvExporter:
    """A text that begins like a formula gets an apostrophe before it; nested values are JSON."""

    extension = "csv"
    needs_file = False

    def write(self, records: Iterable[Record], fields: Sequence[str], out: Output) -> int:
        writer = csv.writer(_Utf8(out), lineterminator="\r\n")
        writer.writerow([*BASIC, DATA, *map(_cell, field_columns(fields).values())])
        count = 0
        for record in records:
            found = record.get("fields") or {}
            row = [_cell(record.get(name)) for name in BASIC]
            row.append(_cell(record.get(DATA)))
            row += [_cell(found.get(field)) for field in fields]
            writer.writerow(row)
            count += 1
        return count


class _Utf8:
    """Lets the csv module, which writes text, write to a file of bytes."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def write(self, text: str) -> int:
        return self._out.write(text.encode())


def _cell(value: Any) -> str | int | float | None:
    if value is True or value is False:
        return "true" if value else "false"
    cell = to_cell(value)
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
