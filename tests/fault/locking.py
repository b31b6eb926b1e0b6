"""A store that somebody else holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

from tests.fault.places import database_url


@contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    """Somebody else holds the database, as a backup or a curious person with a shell would."""
    if (url := database_url(data_dir)) is not None:
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE pages, runs IN EXCLUSIVE MODE")
            yield
            connection.rollback()
        return
    with closing(sqlite3.connect(data_dir / "tarantella.db", isolation_level=None, timeout=30)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")
