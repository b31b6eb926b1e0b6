"""SQLite: one file, one writer at a time, and nobody starves."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

import orjson

from tarantella.domain.errors import StoreBroken, StoreBusy, StoreDamaged
from tarantella.store.connection import Connection, DriverError, Values
from tarantella.store.dialect.contract import Dialect, Finding, Point
from tarantella.store.dialect.sqlite_log import LARGEST_FILE, SqliteLog

if TYPE_CHECKING:
    from sqlalchemy import Connection as SqlAlchemyConnection

# How many rows go into one statement. Few sizes, so that each statement is known: compiling one takes longer than running it.
SIZES = (512, *range(256, 15, -16), 8, 4, 2, 1)
# A statement that is known keeps a copy of the values that it had last: of large ones, 40 MB in all of the above.
SIZES_OF_LARGE = (64, 32, 16, 8, 4, 2, 1)
KNOWN_STATEMENTS = 256  # to a connection
WRITER_CACHE = 8_192  # KiB
READER_CACHE = 2_048
LOCK_POLL = 0.001
LONGEST_REST = 0.05
# Where nobody else has written of late, whoever comes is let in by this: it looks every millisecond.
SHORT_REST = 2 * LOCK_POLL
OTHERS_ARE_REMEMBERED = 5.0  # seconds
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_LOCKED = ("database is locked", "database table is locked", "database schema is locked")


class Sqlite(Dialect):
    """A file in the data directory."""

    name: ClassVar[str] = "sqlite"
    for_update: ClassVar[str] = ""
    for_update_of_free: ClassVar[str] = ""
    is_near: ClassVar[bool] = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told = str(path)
        self._version: int | None = None
        self._file: tuple[int, int] | None = None  # that was opened first, by what the system calls it
        self._others_until = 0.0  # by the clock that only goes forward
        self._log = SqliteLog(path.with_name(path.name + "-wal"))

    # -- spelling

    def rows(self, parameter: str, columns: Sequence[tuple[str, str]]) -> str:
        picked = ", ".join(f"CAST(item.value ->> {i} AS {kind}) AS {name}" for i, (name, kind) in enumerate(columns))
        return f"(SELECT {picked} FROM json_each(:{parameter}) AS item)"

    def values(self, parameter: str, kind: str = "TEXT") -> str:
        return f"(SELECT item.value AS value FROM json_each(:{parameter}) AS item)"

    def looked_up(self, table: str, on: str) -> str:
        return f"CROSS JOIN {table} ON {on}"

    # -- many rows at once

    def insert(
        self,
        connection: Connection,
        table: str,
        names: Sequence[str],
        rows: Sequence[tuple[Any, ...]],
        conflict: str,
        *,
        large: bool = False,
    ) -> None:
        _insert(connection, table, names, rows, conflict, SIZES_OF_LARGE if large else SIZES)

    def insert_new(
        self,
        connection: Connection,
        table: str,
        names: Sequence[str],
        rows: Sequence[tuple[Any, ...]],
        *,
        key: Sequence[str],
        returned: Sequence[str],
    ) -> Sequence[Sequence[Any]]:
        # Nobody else writes meanwhile, and each row gets the number that follows the highest.
        last = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").scalar()
        inserted = _insert(connection, table, names, rows, f"({', '.join(key)}) DO NOTHING", SIZES)
        if inserted == len(rows):
            # As nearly always: then all that would be read is known.
            columns = [map(itemgetter(names.index(name)), rows) for name in returned]
            return list(zip(range(last + 1, last + 1 + inserted), *columns, strict=True))
        return self.array(connection, ["id", *returned], f"FROM {table} WHERE id > :last ORDER BY id", {"last": last})

    def array(
        self, connection: Connection, columns: Sequence[str], rest: str, values: Values
    ) -> Sequence[Sequence[Any]]:
        # As one JSON value: reading row by row takes and gives back the interpreter's lock for each, which the event
        # loop pays for.
        found = connection.execute(_as_array(tuple(columns), rest), values).scalar()
        rows: list[list[Any]] = orjson.loads(found) if found else []
        return rows

    # -- transactions

    def connect(self, *, patience: float) -> Connection:
        try:
            # A file that vanished must not come back empty; the schema step alone creates it.
            raw = sqlite3.connect(
                f"file:{quote(os.fspath(self.path))}?mode=rw",
                uri=True,
                isolation_level=None,
                timeout=5,
                check_same_thread=False,
                cached_statements=KNOWN_STATEMENTS,
            )
            self._file = self._file or self._found()
            raw.execute("PRAGMA wal_autocheckpoint = 0")
            raw.execute(f"PRAGMA cache_size = -{READER_CACHE}")
            raw.execute("PRAGMA temp_store = MEMORY")
        except sqlite3.Error as error:
            raise DriverError(error) from error
        return Connection(raw, sqlite3)

    def begin(self, connection: Connection) -> None:
        if not connection.writes:
            # SQLite's own way of waiting for the lock sleeps longer and longer while others slip in.
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute(f"PRAGMA cache_size = -{WRITER_CACHE}")
            # A commit writes the log, and who needs it on the disk flushes that afterwards: meanwhile others can write.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {LARGEST_FILE}")
            connection.writes = True
        if self._found() != self._file:
            # What is written would go to a file without a name, and be gone with this process.
            raise DriverError(FileNotFoundError(f"{self.told} was deleted or moved away while it was in use"))
        # Changes when somebody else has committed since we last asked. Before the transaction: whatever fails here, none is open.
        version = connection.execute("PRAGMA data_version").scalar()
        if self._version not in (None, version):
            self._others_until = monotonic() + OTHERS_ARE_REMEMBERED
        self._version = version
        connection.execute("BEGIN IMMEDIATE")

    def _found(self) -> tuple[int, int] | None:
        """The file that has the name now."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def flush(self) -> None:
        self._log.flush()

    def begin_read(self, connection: Connection) -> None:
        connection.execute("BEGIN")

    def serialise(self, connection: Connection, point: Point) -> None:
        """A transaction that writes is alone from its beginning."""

    def rest(self, held: float) -> float:
        # Whoever else waits for the lock gets it now: SQLite itself would give it to us again and again.
        return min(held, LONGEST_REST if monotonic() < self._others_until else SHORT_REST)

    # -- when something goes wrong

    def pause(self, error: Exception) -> float | None:
        return LOCK_POLL if _is_locked(error) else None

    def is_undone(self, error: Exception) -> bool:
        return _is_locked(error)

    def is_lost(self, error: Exception) -> bool:
        return False

    def refuses_text(self, error: Exception) -> bool:
        return isinstance(error, UnicodeEncodeError)

    def translated(self, error: Exception) -> Exception:
        if not isinstance(error, DriverError):
            return error
        said = str(error.orig)
        if _is_locked(error):
            return StoreBusy(
                f"{self.told} has been locked for too long.", remedy="Another program holds it; try again."
            )
        if "full" in said:
            return StoreBroken(
                f"There is no room left for {self.told}.", remedy="Free some disk space, then resume the run."
            )
        if "readonly" in said or "unable to open" in said:
            return StoreBroken(
                f"{self.told} can't be opened for writing: {said}.", remedy="Check that you own its folder."
            )
        if isinstance(error.orig, FileNotFoundError):
            return StoreBroken(f"{said}.", remedy="Put it back, or stop: nothing more can be stored.")
        if "disk I/O" in said or isinstance(error.orig, OSError):
            # A quota, a limit or a broken disk; also a disk that is full where SQLite itself does not see it.
            return StoreBroken(
                f"{self.told} can't be read or written: {said}.",
                remedy="See whether its disk is full or failing, then resume the run.",
            )
        if _is_damage(error.orig):
            return self._damaged(said)
        return error

    def _damaged(self, said: str) -> StoreDamaged:
        remedy = "`tarantella doctor` tells how badly. Restore it from a copy and resume the run, or choose another --data-dir."
        return StoreDamaged(f"{self.told} is damaged: {said}.", remedy=remedy)

    # -- the schema

    def exists(self) -> bool:
        return self.path.exists()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (self.path.parent / "schema.lock").open("a") as lock:
                # Two first starts at the same moment: SQLite itself refuses the second while the first changes the journal.
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except (OSError, sqlite3.Error, DriverError) as error:
            if _is_damage(error.orig if isinstance(error, DriverError) else error):
                raise self._damaged(str(error)) from error
            raise StoreBroken(
                f"{self.told} can't be used: {error}.", remedy="Choose another folder with --data-dir."
            ) from error

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        with closing(Connection(self._open_or_make(), sqlite3)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[SqlAlchemyConnection]:
        from sqlalchemy import NullPool, create_engine

        made = {"creator": self._open_or_make, "poolclass": NullPool, "isolation_level": "AUTOCOMMIT"}
        with create_engine("sqlite://", **made).connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def _open_or_make(self) -> sqlite3.Connection:
        self.path.touch(mode=0o600, exist_ok=True)
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        connection.execute("PRAGMA journal_mode = WAL")
        return connection

    def has_table(self, connection: Connection, name: str) -> bool:
        found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = :name", {"name": name})
        return bool(found.scalar())

    # -- housekeeping

    def log_is_long(self) -> bool:
        return self._log.is_long()

    def checkpoint(self, connection: Connection) -> None:
        self._log.put_away(connection, alone=self._alone)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While nobody else writes."""
        with closing(self.connect(patience=0.0)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            yield

    def reclaim(self, connection: Connection) -> None:
        try:
            connection.execute("VACUUM")
            self.checkpoint(connection)
        except DriverError as error:
            # The room stays with the database and is used for the next run.
            if not _is_locked(error):
                raise

    def examine(self) -> Iterator[Finding]:
        if not self.path.exists():
            return
        if not os.access(self.path, os.R_OK | os.W_OK):
            yield Finding(
                "database",
                False,
                f"{self.told} can't be read and written",
                "Become the owner of it, or use another --data-dir.",
            )
            return
        try:
            with closing(
                sqlite3.connect(f"file:{quote(os.fspath(self.path))}?mode=rw", uri=True, timeout=5)
            ) as connection:
                verdict = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
        except sqlite3.Error as error:
            remedy = "Restore it from a copy, or use another --data-dir."
            yield Finding("database", False, f"{self.told}: {error}", remedy)
            return
        if verdict == ["ok"]:
            yield Finding("database", True, f"sound, {self.path.stat().st_size / 1e6:.1f} MB")
        else:
            remedy = "Restore it from a copy, or export what can be read."
            yield Finding("database", False, f"damaged: {'; '.join(verdict)}", remedy)


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def _is_locked(error: Exception) -> bool:
    return isinstance(error, DriverError) and any(said in str(error.orig) for said in _LOCKED)


def _insert(
    connection: Connection,
    table: str,
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    conflict: str,
    sizes: Sequence[int],
) -> int:
    """Insert rows; how many were inserted or changed."""
    changed = 0
    for chunk in _chunks(rows, sizes):
        sql = _insertion(table, tuple(names), len(chunk), conflict)
        changed += connection.execute(sql, tuple(chain.from_iterable(chunk))).rowcount
    return changed


@lru_cache(maxsize=512)
def _insertion(table: str, names: tuple[str, ...], count: int, conflict: str) -> str:
    row = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * count)} ON CONFLICT {conflict}"


def _chunks(rows: Sequence[tuple[Any, ...]], sizes: Sequence[int]) -> Iterator[Sequence[tuple[Any, ...]]]:
    start = 0
    for size in sizes:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size


@lru_cache(maxsize=512)
def _as_array(columns: tuple[str, ...], rest: str) -> str:
    inner = f"SELECT {', '.join(f'{column} AS c{i}' for i, column in enumerate(columns))} {rest}"
    row = ", ".join(f"c{i}" for i in range(len(columns)))
    return f"SELECT json_group_array(json_array({row})) FROM ({inner}) AS found"
