"""Brings a database to the schema that this version knows.

Alembic and SQLAlchemy are loaded only for a database that an older version made: together they take a second.
"""

from __future__ import annotations

import re
from contextlib import closing

from tarantella import crashpoints
from tarantella.domain.errors import SchemaTooNew, StoreBroken
from tarantella.store.connection import Connection, DriverError
from tarantella.store.dialect import Dialect, Place, dialect_of
from tarantella.store.tx import Tx

HEAD = "0021"
KNOWN = frozenset(f"{number:04}" for number in range(1, int(HEAD) + 1))
PATIENCE = 10.0
_MAKES = re.compile(r"CREATE TABLE (\w+)")


def prepare(place: Place) -> None:
    """Create the database or bring it up to date; refuse one that a newer version wrote."""
    dialect = dialect_of(place)
    try:
        with dialect.preparing():
            if _known(dialect, version(dialect)) != HEAD:
                _upgrade(dialect)
    except DriverError as error:
        raise dialect.translated(error) from error


def check(tx: Tx) -> None:
    """Refuse to go on in a database that a newer version has changed meanwhile."""
    _known(tx.dialect, _version(tx.connection, tx.dialect))


def version(dialect: Dialect) -> str | None:
    """The schema that a database has; None where there is none yet."""
    if not dialect.exists():
        return None
    with closing(dialect.connect(patience=PATIENCE)) as connection:
        return _version(connection, dialect)


def _version(connection: Connection, dialect: Dialect) -> str | None:
    if not dialect.has_table(connection, "alembic_version"):
        return None
    found = connection.execute("SELECT version_num FROM alembic_version").scalar()
    return str(found) if found else None


def _known(dialect: Dialect, found: str | None) -> str | None:
    if found is not None and found not in KNOWN:
        raise SchemaTooNew(
            f"{dialect.told} has schema {found}; this Tarantella knows {HEAD} at most.",
            remedy="Upgrade Tarantella, or choose another database.",
        )
    return found


def _upgrade(dialect: Dialect) -> None:
    with dialect.changing() as connection:
        # Somebody else may have done it while we waited for our turn.
        found = _known(dialect, _version(connection, dialect))
        if found is None:
            _create(connection, dialect)
            crashpoints.hit("schema.before_commit")
            connection.execute("COMMIT")
            crashpoints.hit("schema.after_commit")
    if found not in (None, HEAD):
        _migrate(dialect)


def _create(connection: Connection, dialect: Dialect) -> None:
    """A new database gets the tables as they are now: the same as all migrations one after another, as a test makes sure."""
    for statement in dialect.statements:
        if (made := _MAKES.search(statement)) and dialect.has_table(connection, made[1]):
            raise StoreBroken(
                f"{dialect.told} has tables of another program ({made[1]}).",
                remedy="Give Tarantella a database of its own.",
            )
        connection.execute(statement)
    connection.execute(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.execute(f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')")


def _migrate(dialect: Dialect) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "tarantella.store:migrations")
    with dialect.migrating() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        crashpoints.hit("schema.before_commit")
        connection.exec_driver_sql("COMMIT")
        crashpoints.hit("schema.after_commit")
