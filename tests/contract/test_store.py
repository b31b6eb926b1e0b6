"""The ground of every store: its schema, its transactions, its identifiers."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from tarantella.domain.errors import SchemaTooNew, StoreBroken
from tarantella.store import schema
from tarantella.store.database import Database
from tarantella.store.dialect import Place, dialect_of
from tarantella.store.ids import new_id
from tarantella.store.tables import metadata
from tarantella.store.tx import Tx
from tools.tables import FILES, statements


def differences(connection: Connection) -> list[object]:
    """What Alembic would still change to come to the tables in the code."""
    options = {"compare_type": True, "compare_server_default": True}
    found: list[object] = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    return found


def shape(connection: Connection) -> list[tuple[str, ...]]:
    """Tables, columns and indexes as the database itself describes them, in an order without history."""
    inspector = inspect(connection)
    return sorted(
        (table, *sorted(re.sub(r"<[^>]+>", "", repr(row)) + _conditions(row) for row in part))
        for table in metadata.tables
        for part in (
            inspector.get_columns(table),
            inspector.get_indexes(table),
            [inspector.get_pk_constraint(table)],
        )
    )


def _conditions(row: Any) -> str:
    return " ".join(str(value) for value in row.get("dialect_options", {}).values())


@contextmanager
def seen_by_alembic(place: Place) -> Iterator[Connection]:
    """A transaction of Alembic's; nothing of it stays unless it is committed."""
    dialect = dialect_of(place)
    with dialect.preparing(), dialect.migrating() as connection:
        yield connection


def migrate(connection: Connection, target: str) -> None:
    config = Config()
    config.set_main_option("script_location", "tarantella.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def test_a_new_database_has_the_tables_in_the_code(database: Database) -> None:
    with seen_by_alembic(database.place) as connection:
        assert differences(connection) == []
    assert database.read_now(lambda tx: tx.value("SELECT version_num FROM alembic_version")) == schema.HEAD


def test_the_migrations_lead_from_nothing_to_the_same_tables(place: Place, bare_place: Place) -> None:
    with seen_by_alembic(bare_place) as connection:
        migrate(connection, "head")
        assert differences(connection) == []
        migrated = shape(connection)
    with seen_by_alembic(place) as connection:
        assert shape(connection) == migrated


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_statements_that_make_the_tables_are_those_of_the_code(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == statements(FILES[path]), "Write them again: python -m tools.tables"


def test_a_database_of_the_first_version_is_brought_up_to_date_with_what_it_has(bare_place: Place) -> None:
    with seen_by_alembic(bare_place) as connection:
        migrate(connection, "0001")
        connection.exec_driver_sql(
            "INSERT INTO runs (id, status, wanted, spec, roots, rank, created_at, total) "
            "VALUES ('old', 'completed', 'run', '{}', '[]', 1, 1, 2)"
        )
        for number in (1, 2):
            connection.exec_driver_sql(
                "INSERT INTO pages (run_id, fingerprint, lane, url, depth, state, strategy, next_at) "
                f"VALUES ('old', '{number}', 'a.example', 'https://a.example/{number}', 1, 'done', 'http', 1)"
            )
            connection.exec_driver_sql(
                f"INSERT INTO records (run_id, page_id, ordinal, data) VALUES ('old', {number}, 0, '[{number}]')"
            )
        connection.exec_driver_sql("COMMIT")
    schema.prepare(bare_place)
    opened = Database(bare_place)
    assert opened.read_now(lambda tx: tx.value("SELECT stored FROM runs")) == 6
    assert opened.read_now(lambda tx: tx.value("SELECT version_num FROM alembic_version")) == schema.HEAD
    opened.close()
    with seen_by_alembic(bare_place) as connection:
        assert differences(connection) == []


def test_the_last_migration_is_the_one_that_the_code_expects() -> None:
    config = Config()
    config.set_main_option("script_location", "tarantella.store:migrations")
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [schema.HEAD]
    assert {revision.revision for revision in script.walk_revisions()} == schema.KNOWN


def test_preparing_a_database_that_is_up_to_date_changes_nothing(database: Database) -> None:
    database.write_now(lambda tx: tx.execute("INSERT INTO lanes (name) VALUES ('kept')"))
    schema.prepare(database.place)
    assert database.read_now(lambda tx: tx.value("SELECT count(*) FROM lanes")) == 1


def test_a_schema_of_a_newer_version_is_refused_and_left_alone(database: Database) -> None:
    database.write_now(lambda tx: tx.execute("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="9999") as caught:
        schema.prepare(database.place)
    assert "Upgrade" in str(caught.value)
    assert database.read_now(lambda tx: tx.value("SELECT version_num FROM alembic_version")) == "9999"


def test_what_is_no_database_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "tarantella.db"
    path.write_bytes(b"this is a letter, not a database\n" * 100)
    with pytest.raises(StoreBroken, match="data-dir"):
        schema.prepare(path)


def test_two_first_starts_at_once_make_one_database(bare_place: Place) -> None:
    errors: list[BaseException] = []

    def start() -> None:
        try:
            schema.prepare(bare_place)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    opened = Database(bare_place)
    assert opened.read_now(lambda tx: tx.value("SELECT count(*) FROM runs")) == 0
    opened.close()


def test_work_that_raises_leaves_no_trace(database: Database) -> None:
    def work(tx: Tx) -> None:
        tx.execute("INSERT INTO lanes (name) VALUES ('half')")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        database.write_now(work)
    assert database.read_now(lambda tx: tx.value("SELECT count(*) FROM lanes")) == 0
    database.write_now(lambda tx: tx.execute("INSERT INTO lanes (name) VALUES ('whole')"))
    assert database.read_now(lambda tx: tx.value("SELECT count(*) FROM lanes")) == 1


def test_a_read_sees_only_what_is_committed(database: Database) -> None:
    async def story() -> None:
        inside, seen = threading.Event(), threading.Event()

        def slow_write(tx: Tx) -> None:
            tx.execute("INSERT INTO lanes (name) VALUES ('late')")
            inside.set()
            assert seen.wait(5)

        writing = asyncio.create_task(database.write(slow_write))
        await asyncio.to_thread(inside.wait, 5)
        assert await database.read(lambda tx: tx.value("SELECT count(*) FROM lanes")) == 0
        seen.set()
        await writing
        assert await database.read(lambda tx: tx.value("SELECT count(*) FROM lanes")) == 1

    asyncio.run(story())


def test_many_rows_travel_as_one_value_and_come_back_in_order(database: Database) -> None:
    def work(tx: Tx) -> list[tuple[object, ...]]:
        rows = [(f"lane-{number:04}",) for number in range(1_234)]
        tx.insert("lanes", ["name"], rows, conflict="(name) DO NOTHING")
        tx.insert("lanes", ["name"], rows[:10], conflict="(name) DO NOTHING")
        return [tuple(row) for row in tx.array(["name"], "FROM lanes ORDER BY name")]

    assert database.write_now(work) == [(f"lane-{number:04}",) for number in range(1_234)]


def test_an_empty_result_is_an_empty_list(database: Database) -> None:
    assert database.read_now(lambda tx: tx.array(["name"], "FROM lanes")) == []


def test_ids_are_uuids_of_version_7_that_sort_by_the_time_they_were_made() -> None:
    made = []
    for _ in range(5):
        made.append(new_id())
        time.sleep(0.002)
    assert made == sorted(made)
    assert all(UUID(text).version == 7 and UUID(text).variant == "specified in RFC 4122" for text in made)
    milliseconds = UUID(made[-1]).int >> 80
    assert abs(milliseconds / 1000 - time.time()) < 5


def test_ids_made_in_the_same_moment_differ() -> None:
    assert len({new_id() for _ in range(10_000)}) == 10_000


def test_an_error_of_the_database_does_not_show_the_values_that_it_was_given(database: Database) -> None:
    def work(tx: Tx) -> None:
        for _ in range(2):
            tx.execute("INSERT INTO lanes (name) VALUES (:name)", name="s3cret")

    with pytest.raises(Exception, match="UNIQUE|unique") as caught:
        database.write_now(work)
    assert "s3cret" not in str(caught.value)
