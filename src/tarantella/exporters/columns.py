"""The columns of an export that has columns: always the same, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tarantella.domain.jsonable import valid_text

# With the type that SQLite gives them.
BASIC: Mapping[str, str] = {
    "url": "TEXT",
    "final_url": "TEXT",
    "title": "TEXT",
    "description": "TEXT",
    "language": "TEXT",
    "text": "TEXT",
    "word_count": "INTEGER",
    "author": "TEXT",
    "published": "TEXT",
    "links": "INTEGER",
    "depth": "INTEGER",
    "status": "INTEGER",
    "content_type": "TEXT",
    "fetched_at": "TEXT",
    "elapsed_ms": "REAL",
    "bytes": "INTEGER",
    "from_cache": "INTEGER",
}
DATA = "data"


def field_columns(fields: Sequence[str]) -> dict[str, str]:
    """The column for each field: its own name, with `field_` before it where that name is taken."""
    taken = {name.casefold() for name in (*BASIC, DATA)}
    columns: dict[str, str] = {}
    for field in fields:
        column = valid_text(field).replace("\0", "")
        # SQLite takes "Title" and "title" for the same column.
        while not column or column.casefold() in taken:
            column = f"field_{column}"
        taken.add(column.casefold())
        columns[field] = column
    return columns
