"""A SQLite file with one table, `records`: a column for each value, and the whole record as JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from tarantella.domain.errors import InvalidInput, StoreError
from tarantella.exporters.columns import BASIC, DATA, field_columns
from tarantella.exporters.contract import Output, Record
from tarantella.exporters.values import Cell, to_cell, to_json

_MOST_COLUMNS = 2_000


class DbExporter:
    extension = "db"
    needs_file = True

    def write(self, records: Iterable[Record], fields: Sequence[str], out: Output) -> int:
        # Fields have no type: numbers stay numbers, which can be sorted and summed, and texts stay texts.
        columns = {**BASIC, **dict.fromkeys(field_columns(fields).values(), ""), DATA: "TEXT"}
        if len(columns) > _MOST_COLUMNS:
            raise InvalidInput(
                f"{len(fields)} fields are more than a SQLite table has columns.",
                remedy="Export as jsonl instead.",
                field="format",
            )
        try:
            with closing(sqlite3.connect(out.name, isolation_level=None)) as database:
                return _fill(database, columns, _rows(records, fields))
        except sqlite3.Error as error:
            raise StoreError(
                f"SQLite could not write the export: {error}.",
                remedy="See whether the disk is full; nothing was replaced.",
            ) from error


def _fill(database: sqlite3.Connection, columns: Mapping[str, str], rows: Iterable[Sequence[Cell]]) -> int:
    # Nobody sees this file before it is complete, so it needs neither a journal nor to wait for the disk.
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN")
    database.execute(
        f"CREATE TABLE records ({', '.join(f'{_quoted(name)} {kind}'.rstrip() for name, kind in columns.items())})"
    )
    places = ", ".join("?" * len(columns))
    count = database.executemany(f"INSERT INTO records VALUES ({places})", rows).rowcount
    database.execute("COMMIT")
    return count


def _rows(records: Iterable[Record], fields: Sequence[str]) -> Iterator[list[Cell]]:
    for record in records:
        found = record.get("fields") or {}
        yield [
            *(to_cell(record.get(name)) for name in BASIC),
            *(to_cell(found.get(field)) for field in fields),
            to_json(record).decode(),
        ]


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
