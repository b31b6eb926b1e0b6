"""Rows have names, and errors have kinds, whatever the driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from tarantella.store.connection import Connection, DriverError, ValueRefused


@pytest.fixture
def connection() -> Iterator[Connection]:
    opened = Connection(sqlite3.connect(":memory:", isolation_level=None), sqlite3)
    opened.execute("CREATE TABLE lanes (name TEXT PRIMARY KEY, owner TEXT)")
    opened.execute("INSERT INTO lanes VALUES (:name, :owner), ('b', NULL)", {"name": "a", "owner": "me"})
    yield opened
    opened.close()


def test_a_row_has_its_columns_by_name_and_in_order(connection: Connection) -> None:
    row = connection.execute("SELECT name, owner AS by_whom FROM lanes ORDER BY name").first()
    assert row is not None
    assert (row.name, row.by_whom, row[0], tuple(row), len(row)) == ("a", "me", "a", ("a", "me"), 2)
    assert row._mapping == {"name": "a", "by_whom": "me"}
    assert row == ("a", "me") == row
    assert row in {("a", "me")}
    assert row != ["a", "me"]
    with pytest.raises(AttributeError, match="no column 'owner' among name, by_whom"):
        _ = row.owner


def test_a_result_is_all_rows_the_first_one_or_one_value(connection: Connection) -> None:
    assert [row.name for row in connection.execute("SELECT name FROM lanes ORDER BY name").all()] == ["a", "b"]
    assert connection.execute("SELECT count(*) FROM lanes").scalar() == 2
    nothing = connection.execute("SELECT name FROM lanes WHERE name = ?", ("c",))
    assert (nothing.all(), nothing.first(), nothing.scalar()) == ([], None, None)
    assert connection.execute("UPDATE lanes SET owner = 'you'").rowcount == 2


@pytest.mark.parametrize(
    ("sql", "values", "kind"),
    [
        ("INSERT INTO lanes VALUES (?, NULL)", ("a",), ValueRefused),
        ("INSERT INTO lanes VALUES (?, NULL)", (object(),), ValueRefused),
        ("INSERT INTO nowhere VALUES (1)", (), DriverError),
        ("SELECT json('{')", (), DriverError),  # found out only when the row is fetched
    ],
)
def test_what_is_wrong_with_a_value_is_told_from_what_is_wrong_otherwise(
    connection: Connection, sql: str, values: tuple[object, ...], kind: type[DriverError]
) -> None:
    with pytest.raises(DriverError) as caught:
        connection.execute(sql, values)
    assert type(caught.value) is kind
    assert isinstance(caught.value.orig, sqlite3.Error)
