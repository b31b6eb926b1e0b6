"""Brings a database to the schema that this version knows. Alembic is loaded only when there is something to do."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tarantella import crashpoints
from tarantella.domain.errors import SchemaTooNew, StoreBroken

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEAD = "0002"
KNOWN = frozenset({"0001", HEAD})


def prepare(path: Path) -> None:
    """Create the database or bring it up to date; refuse one that a newer version wrote."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (path.parent / "schema.lock").open("a") as lock:
            # Two first starts at the same moment: SQLite itself refuses the second while the first changes the journal.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists() or _version(path) != HEAD:
                _upgrade(path)
    except (OSError, sqlite3.Error) as error:
        raise StoreBroken(f"{path} can't be used: {error}.", remedy="Choose another folder with --data-dir.") from error


def _version(path: Path) -> str | None:
    with closing(sqlite3.connect(path, timeout=10)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if found else None
    version = str(row[0]) if row else None
    if version is not None and version not in KNOWN:
        raise SchemaTooNew(
            f"{path} has schema {version}; this Tarantella knows {HEAD} at most.",
            remedy="Upgrade Tarantella, or choose another --data-dir.",
        )
    return version


def _upgrade(path: Path) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        connection.execute("PRAGMA journal_mode = WAL")
        return connection

    path.touch(mode=0o600, exist_ok=True)
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar():
            _migrate(connection)
        else:
            _create(connection)
        crashpoints.hit("schema.before_commit")
        connection.exec_driver_sql("COMMIT")
        crashpoints.hit("schema.after_commit")


def _create(connection: Connection) -> None:
    """A new database gets the tables as they are now: the same as all migrations one after another, as a test makes sure."""
    from tarantella.store.tables import metadata

    metadata.create_all(connection)
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.exec_driver_sql("INSERT INTO alembic_version (version_num) VALUES (?)", (HEAD,))


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "tarantella.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
