"""A connection to a database: statements with named values, rows with named columns, errors that have kinds.

It is what the store would use of SQLAlchemy, of which the whole takes longer to load than a page takes to fetch.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

Values = Mapping[str, Any] | Sequence[Any]


class DriverError(Exception):
    """The database or its driver said no; what exactly is in `orig`."""

    def __init__(self, orig: Exception) -> None:
        super().__init__(str(orig))
        self.orig = orig


class ValueRefused(DriverError):
    """A value can't be stored: trying the same again would not help."""


class Row:
    """One row, its columns by name or in their order."""

    __slots__ = ("_columns", "_values")

    def __init__(self, columns: Mapping[str, int], values: Sequence[Any]) -> None:
        self._columns = columns
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[self._columns[name]]
        except KeyError:
            raise AttributeError(f"There is no column {name!r} among {', '.join(self._columns)}.") from None

    def __getitem__(self, number: int) -> Any:
        return self._values[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Row | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Row({self._mapping})"

    @property
    def _mapping(self) -> dict[str, Any]:
        return dict(zip(self._columns, self._values, strict=True))


class Result:
    """What came of a statement."""

    __slots__ = ("_columns", "rowcount", "rows")

    def __init__(self, rowcount: int, columns: Mapping[str, int], rows: Sequence[Sequence[Any]]) -> None:
        self.rowcount = rowcount
        self.rows = rows
        self._columns = columns

    def all(self) -> list[Row]:
        return [Row(self._columns, values) for values in self.rows]

    def first(self) -> Row | None:
        return Row(self._columns, self.rows[0]) if self.rows else None

    def scalar(self) -> Any:
        return self.rows[0][0] if self.rows else None


class Connection:
    """A connection of a driver that keeps to Python's database interface, in autocommit mode."""

    def __init__(
        self,
        raw: Any,
        driver: Any,
        *,
        spelled: Callable[[str], str] | None = None,
        refuses: Callable[[Exception], bool] | None = None,
    ) -> None:
        self.raw = raw
        self.writes = False  # it has been made ready for that
        self._error = driver.Error
        self._refusals = (driver.DataError, driver.IntegrityError, driver.InterfaceError, driver.ProgrammingError)
        self._spelled = spelled
        self._refuses = refuses

    def execute(self, sql: str, values: Values = ()) -> Result:
        """Run a statement that has its values as `:name`."""
        return self.execute_as_is(sql if self._spelled is None else self._spelled(sql), values)

    def execute_as_is(self, sql: str, values: Values = ()) -> Result:
        """Run a statement that is spelled as the driver wants it."""
        try:
            cursor = self.raw.execute(sql, values)
            if cursor.description is None:
                return Result(cursor.rowcount, {}, ())
            columns = {column[0]: number for number, column in enumerate(cursor.description)}
            return Result(cursor.rowcount, columns, cursor.fetchall())
        except self._error as error:
            refused = isinstance(error, self._refusals) or (self._refuses is not None and self._refuses(error))
            raise (ValueRefused if refused else DriverError)(error) from error

    def close(self) -> None:
        self.raw.close()

    def hang_up(self) -> None:
        """End what is waited for on it, from any thread, where its other end is a server: that fails as if the server had gone."""
        with suppress(self._error, OSError), socket.socket(fileno=os.dup(self.raw.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)
