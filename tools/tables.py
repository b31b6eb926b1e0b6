"""Writes the tables in the code as SQL that makes them: `python -m tools.tables`. A test fails when they differ."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

import tarantella.store.dialect
from tarantella.store.tables import metadata

FOLDER = Path(tarantella.store.dialect.__file__).parent
FILES: dict[Path, Dialect] = {
    FOLDER / "sqlite.sql": sqlite.dialect(),
    FOLDER / "postgresql.sql": postgresql.dialect(),  # type: ignore[no-untyped-call]
}


def statements(dialect: Dialect) -> str:
    """One statement after another, the tables in the order in which they can be made."""
    made = []
    for table in metadata.sorted_tables:
        made.append(CreateTable(table).compile(dialect=dialect))
        made += [
            CreateIndex(index).compile(dialect=dialect)
            for index in sorted(table.indexes, key=lambda index: str(index.name))
        ]
    lines = ("\n".join(line.rstrip() for line in str(each).strip().splitlines()) for each in made)
    return "-- Written by `python -m tools.tables`; a test fails when it differs from the code.\n\n" + "".join(
        f"{each};\n\n" for each in lines
    )


if __name__ == "__main__":
    for path, dialect in FILES.items():
        path.write_text(statements(dialect), encoding="utf-8")
