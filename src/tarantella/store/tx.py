"""A transaction: short ways to ask, and many rows in one statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson

from tarantella.store.connection import Connection, Result, Row
from tarantella.store.dialect import Dialect
from tarantella.store.dialect.contract import Point
from tarantella.store.text import storable, without_escaped_nul

T = TypeVar("T")


class Tx:
    """One open transaction on one connection."""

    __slots__ = ("connection", "dialect")

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self.connection = connection
        self.dialect = dialect

    def execute(self, sql: str, **values: Any) -> int:
        """Run a statement; how many rows it changed."""
        return self._run(sql, values).rowcount

    def all(self, sql: str, **values: Any) -> Sequence[Row]:
        return self._run(sql, values).all()

    def first(self, sql: str, **values: Any) -> Row | None:
        return self._run(sql, values).first()

    def rows(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        """The rows of a query as they come from the driver: where they are many and need no names."""
        return self._run(sql, values).rows

    def value(self, sql: str, **values: Any) -> Any:
        return self._run(sql, values).scalar()

    def insert(
        self,
        table: str,
        names: Sequence[str],
        rows: Sequence[tuple[Any, ...]],
        *,
        conflict: str,
        large: bool = False,
    ) -> None:
        """Insert many rows with bound values; `large` where these are kilobytes each."""
        insert = self.dialect.insert
        self._insert(rows, lambda given: insert(self.connection, table, names, given, conflict, large=large))

    def insert_new(
        self,
        table: str,
        names: Sequence[str],
        rows: Sequence[tuple[Any, ...]],
        *,
        key: Sequence[str],
        returned: Sequence[str],
    ) -> Sequence[Sequence[Any]]:
        """Insert those of these rows whose key is new, and give the numbers and some columns of them."""

        def insert(given: Sequence[tuple[Any, ...]]) -> Sequence[Sequence[Any]]:
            return self.dialect.insert_new(self.connection, table, names, given, key=key, returned=returned)

        return self._insert(rows, insert)

    def array(self, columns: Sequence[str], rest: str, **values: Any) -> Sequence[Sequence[Any]]:
        """The rows of a query that may be many."""
        return self.dialect.array(self.connection, columns, rest, values)

    def serialise(self, point: Point) -> None:
        """From here to the end of this transaction, let nobody else pass the same point."""
        self.dialect.serialise(self.connection, point)

    def _run(self, sql: str, values: dict[str, Any]) -> Result:
        try:
            return self.connection.execute(sql, values)
        except Exception as error:
            if not self.dialect.refuses_text(error):
                raise
        return self.connection.execute(sql, {name: storable(value) for name, value in values.items()})

    def _insert(self, rows: Sequence[tuple[Any, ...]], insert: Callable[[Sequence[tuple[Any, ...]]], T]) -> T:
        try:
            return insert(rows)
        except Exception as error:
            if not self.dialect.refuses_text(error):
                raise
        return insert([tuple(storable(value) for value in row) for row in rows])


def pack(rows: Sequence[Any]) -> str:
    """Rows as the one parameter that Dialect.rows unrolls."""
    try:
        packed = orjson.dumps(rows)
    except orjson.JSONEncodeError:
        packed = orjson.dumps(storable(rows))
    return without_escaped_nul(packed.decode())
