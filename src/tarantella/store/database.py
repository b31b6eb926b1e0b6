"""One SQLite file: a single writer thread per process, readers beside it, and nobody starves."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from tarantella import crashpoints
from tarantella.domain.errors import StoreBroken, StoreBusy
from tarantella.store.dialect import SQLITE, Dialect
from tarantella.store.tx import Tx

T = TypeVar("T")

PATIENCE = 60.0
LOCK_POLL = 0.001
LONGEST_REST = 0.05
_LOCKED = ("database is locked", "database table is locked", "database schema is locked")


class Database:
    """Runs work in transactions. Work is a function of a transaction; what it returns is returned after the commit."""

    dialect: Dialect = SQLITE

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self.path = path
        self._patience = patience
        self._engine = _engine(path)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="store-reader")
        self._rested = 0.0  # the writer's: when it may take the lock again
        self._local = threading.local()
        self._open: list[Connection] = []
        self._opening = threading.Lock()

    async def write(self, work: Callable[[Tx], T], *, durable: bool = False, name: str = "write") -> T:
        """Run work in a write transaction and wait for its commit."""
        return await asyncio.wrap_future(self._submit_write(work, durable, name))

    def write_now(self, work: Callable[[Tx], T], *, durable: bool = False, name: str = "write") -> T:
        """The same for callers outside an event loop."""
        return self._submit_write(work, durable, name).result()

    async def read(self, work: Callable[[Tx], T]) -> T:
        """Run work in a short read transaction."""
        return await asyncio.wrap_future(self._readers.submit(self._read, work))

    def read_now(self, work: Callable[[Tx], T]) -> T:
        return self._readers.submit(self._read, work).result()

    async def checkpoint(self) -> None:
        """Copy the write-ahead log into the file. Only one process may do this, right after a commit of its own."""
        await asyncio.wrap_future(self._writer.submit(self._checkpoint))

    async def reclaim(self) -> None:
        """Give unused room back to the disk, if nobody else is using the database."""
        await asyncio.wrap_future(self._writer.submit(self._reclaim))

    def close(self) -> None:
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        for connection in self._open:
            connection.close()
        self._engine.dispose()

    def _submit_write(self, work: Callable[[Tx], T], durable: bool, name: str) -> Future[T]:
        return self._writer.submit(self._write, work, durable, name)

    def _write(self, work: Callable[[Tx], T], durable: bool, name: str) -> T:
        connection = self._connection()
        # Whoever else waits for the lock gets it now: SQLite itself would give it to us again and again.
        time.sleep(max(0.0, self._rested - time.monotonic()))
        try:
            self._choose_durability(connection, durable)
            self._begin(connection)
            began = time.monotonic()
            try:
                result = work(Tx(connection, self.dialect))
                crashpoints.hit(f"{name}.before_commit")
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                _rollback(connection)
                raise
            crashpoints.hit(f"{name}.after_commit")
        except DBAPIError as error:
            raise _translated(error, self.path) from error
        ended = time.monotonic()
        self._rested = ended + min(ended - began, LONGEST_REST)
        return result

    def _begin(self, connection: Connection) -> None:
        give_up = time.monotonic() + self._patience
        while True:
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                return
            except OperationalError as error:
                if not _is_locked(error) or time.monotonic() > give_up:
                    raise
                time.sleep(LOCK_POLL)

    def _choose_durability(self, connection: Connection, durable: bool) -> None:
        previous = getattr(self._local, "durable", None)
        if previous is None:
            # SQLite's own way of waiting for the lock sleeps longer and longer while others slip in.
            connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        if previous != durable:
            connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._local.durable = durable

    def _read(self, work: Callable[[Tx], T]) -> T:
        connection = self._connection()
        try:
            connection.exec_driver_sql("BEGIN")
            try:
                return work(Tx(connection, self.dialect))
            finally:
                _rollback(connection)
        except DBAPIError as error:
            raise _translated(error, self.path) from error

    def _checkpoint(self) -> None:
        self._connection().exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    def _reclaim(self) -> None:
        try:
            self._connection().exec_driver_sql("VACUUM")
            self._checkpoint()
        except OperationalError as error:
            # The room stays with the database and is used for the next run.
            if not _is_locked(error):
                raise _translated(error, self.path) from error

    def _connection(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = self._engine.connect()
            except DBAPIError as error:
                raise _translated(error, self.path) from error
            self._local.connection = connection
            with self._opening:
                self._open.append(connection)
        return connection


def _engine(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        # A file that vanished must not come back empty; the schema step alone creates it.
        connection = sqlite3.connect(
            f"file:{quote(os.fspath(path))}?mode=rw", uri=True, isolation_level=None, timeout=5, check_same_thread=False
        )
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    # Values can be secrets, and an error that shows them would take them into the log.
    return create_engine(
        "sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True
    )


def _rollback(connection: Connection) -> None:
    try:
        connection.exec_driver_sql("ROLLBACK")
    except OperationalError as error:
        if "no transaction is active" not in str(error):
            raise


def _is_locked(error: DBAPIError) -> bool:
    return any(text in str(error.orig) for text in _LOCKED)


def _translated(error: DBAPIError, path: Path) -> Exception:
    text = str(error.orig)
    if _is_locked(error):
        return StoreBusy(f"{path} has been locked for too long.", remedy="Another program holds it; try again.")
    if "full" in text:
        return StoreBroken(f"There is no room left for {path}.", remedy="Free some disk space, then resume the run.")
    if "readonly" in text or "unable to open" in text:
        return StoreBroken(f"{path} can't be opened for writing: {text}.", remedy="Check that you own its folder.")
    if "malformed" in text or "not a database" in text or "disk I/O" in text:
        return StoreBroken(
            f"{path} is damaged: {text}.", remedy="Restore it from a copy, or choose another --data-dir."
        )
    return error
