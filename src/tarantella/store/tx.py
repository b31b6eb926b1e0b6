"""A transaction: short ways to ask, and many rows in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import orjson
from sqlalchemy import Connection, Row, TextClause, text

from tarantella.store.dialect import Dialect

INSERTED_AT_ONCE = 100


class Tx:
    """One open transaction on one connection."""

    __slots__ = ("connection", "dialect")

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self.connection = connection
        self.dialect = dialect

    def execute(self, sql: str, **values: Any) -> int:
        """Run a statement; how many rows it changed."""
        return self.connection.execute(_prepared(sql), values).rowcount

    def all(self, sql: str, **values: Any) -> Sequence[Row[Any]]:
        return self.connection.execute(_prepared(sql), values).all()

    def first(self, sql: str, **values: Any) -> Row[Any] | None:
        return self.connection.execute(_prepared(sql), values).first()

    def value(self, sql: str, **values: Any) -> Any:
        return self.connection.execute(_prepared(sql), values).scalar()

    def insert(self, table: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]], *, conflict: str) -> None:
        """Insert many rows with bound values, a few statements for all of them."""
        for start in range(0, len(rows), INSERTED_AT_ONCE):
            chunk = rows[start : start + INSERTED_AT_ONCE]
            sql = _insertion(self.dialect.mark, table, tuple(names), len(chunk), conflict)
            self.connection.exec_driver_sql(sql, tuple(chain.from_iterable(chunk)))

    def array(self, columns: Sequence[str], rest: str, **values: Any) -> list[Any]:
        """The rows of a query as one JSON value.

        Reading row by row takes and gives back the interpreter's lock for each, which the event loop pays for.
        """
        inner = f"SELECT {', '.join(f'{column} AS c{i}' for i, column in enumerate(columns))} {rest}"
        row = self.dialect.row_of.format(", ".join(f"c{i}" for i in range(len(columns))))
        found = self.value(f"SELECT {self.dialect.array_of.format(row)} FROM ({inner}) AS found", **values)
        return orjson.loads(found) if found else []


@lru_cache(maxsize=512)
def _prepared(sql: str) -> TextClause:
    return text(sql)


@lru_cache(maxsize=512)
def _insertion(mark: str, table: str, names: tuple[str, ...], count: int, conflict: str) -> str:
    row = f"({', '.join([mark] * len(names))})"
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * count)} ON CONFLICT {conflict}"


def pack(rows: Sequence[Any]) -> str:
    """Rows as the one parameter that Dialect.rows unrolls."""
    return orjson.dumps(rows).decode()
