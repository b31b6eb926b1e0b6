"""PostgreSQL: many writers at once, in READ COMMITTED, on a server that may be away for a while.

Where SQLite lets one transaction write at a time, here two meet. These rules keep them apart:

- A settle locks in one order: own worker row, own pages, lanes, run rows; each kind sorted. Whoever waits for another holds
  nothing that the other could still want.
- A run's row is the lock of all that belongs to the run: its pages but for their owner's hold on them, its stands, records,
  counts, events and slots. It is locked first, and what it guards is read in the statement after, which sees what the one
  before did.
- How many runs may run is guarded by one lock of its own (`serialise`), taken last and never held while a row is waited for.
- What was undone in favour of another, or because the connection was lost before the commit, is simply done again. Only
  a commit whose answer never came is unknown; the settle is made to be sent again.
"""

from __future__ import annotations

import os
import random
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tarantella.domain.errors import InvalidInput, StoreBroken, StoreBusy
from tarantella.store.connection import Connection, DriverError, ValueRefused, Values
from tarantella.store.dialect.contract import Dialect, Finding, Point
from tarantella.store.text import without_nul

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection as SqlAlchemyConnection

OLDEST = 130_000
SCHEMES = ("postgresql+psycopg://", "postgresql://", "postgres://")
# What libpq is told unless the URL says otherwise. A peer that is gone is noticed within seconds, not after hours.
USUAL = {
    "application_name": "tarantella",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
# A worker that is frozen in the middle of a transaction must not hold its locks for longer than this.
LONGEST_IDLE_TRANSACTION = "10s"
# Every statement here has its index, and tables grow and shrink faster than statistics follow: how it is done must not
# depend on what a table was like a minute ago.
PLANNING = {
    "plan_cache_mode": "force_custom_plan",  # a plan made for a small table would be kept while it grows
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",  # unlike the others, a plain index scan clears away what it meets of deleted rows
    "jit": "off",  # it takes longer to compile than these statements take
}
_PLANNING = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in PLANNING.items())
RECONNECT_PAUSE = 0.1
DEADLOCK_PAUSE = 0.02
IDLE = "25P03"  # it was idle in a transaction for too long
STOPPED = "57014"  # a statement took longer than it may, or somebody stopped it
READ_ONLY = "25006"
_UNDONE = frozenset({"40001", "40P01", IDLE, STOPPED})  # serialisation failure, deadlock: another was preferred
_LAST_WORDS = ("FATAL", "PANIC")  # whatever the reason: the server ends this connection with them
_REACH = "See whether the server runs, and whether --database-url is right."
# What libpq says of a server that only can be read, where the URL wants one that can be written (target_session_attrs).
_WANTS_TO_WRITE = re.compile(r"session is read-only|hot standby")
_QUOTED = re.compile(r'".*"', re.DOTALL)
_NAMED = re.compile(r"(?<![:\w]):([a-z_]\w*)")
_TABLE = re.compile(r"CREATE TABLE (\w+)")
_COLUMN = re.compile(r"^\t(\w+) (BIGINT|INTEGER|DOUBLE PRECISION|BYTEA|TEXT|VARCHAR)", re.MULTILINE)


class Postgres(Dialect):
    """A database on a server."""

    name: ClassVar[str] = "postgresql"
    for_update: ClassVar[str] = "FOR UPDATE"
    for_update_of_free: ClassVar[str] = "FOR UPDATE SKIP LOCKED"
    is_near: ClassVar[bool] = False

    def __init__(self, url: str) -> None:
        self._given = _parsed(url)
        self.told = _told(self._given)

    # -- spelling

    def rows(self, parameter: str, columns: Sequence[tuple[str, str]]) -> str:
        picked = ", ".join(f"CAST(item.value ->> {i} AS {kind}) AS {name}" for i, (name, kind) in enumerate(columns))
        return f"(SELECT {picked} FROM jsonb_array_elements(CAST(:{parameter} AS jsonb)) AS item(value))"

    def values(self, parameter: str, kind: str = "TEXT") -> str:
        unrolled = f"jsonb_array_elements_text(CAST(:{parameter} AS jsonb)) AS item(value)"
        return f"(SELECT CAST(item.value AS {kind}) AS value FROM {unrolled})"

    def looked_up(self, table: str, on: str) -> str:
        # Without the OFFSET it would be taken for any other join.
        return f"CROSS JOIN LATERAL (SELECT * FROM {table} WHERE {on} OFFSET 0) AS {table}"

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
        if rows:
            sql = f"{self._insertion(table, names)} ON CONFLICT {conflict}"
            connection.execute_as_is(sql, self._columns(table, names, rows))

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
        sql = (
            f"WITH fresh AS ({self._insertion(table, names)} ON CONFLICT ({', '.join(key)}) DO NOTHING RETURNING *) "
            f"SELECT {', '.join(('id', *returned))} FROM fresh ORDER BY id"
        )
        return connection.execute_as_is(sql, self._columns(table, names, rows)).rows

    def _insertion(self, table: str, names: Sequence[str]) -> str:
        """Rows travel as one array for each column."""
        arrays = ", ".join(f"CAST(%b AS {self._kinds[table, name]}[])" for name in names)
        listed = ", ".join(names)
        return f"INSERT INTO {table} ({listed}) SELECT {listed} FROM unnest({arrays}) AS r ({listed})"

    def _columns(self, table: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        columns = zip(names, zip(*rows, strict=True), strict=True)
        return [_column(self._kinds[table, name], values) for name, values in columns]

    @cached_property
    def _kinds(self) -> dict[tuple[str, str], str]:
        """The types of all columns, as their tables are made."""
        tables = (_TABLE.search(statement) for statement in self.statements)
        return {
            (table[1], column[1]): column[2] for table in tables if table for column in _COLUMN.finditer(table.string)
        }

    def array(
        self, connection: Connection, columns: Sequence[str], rest: str, values: Values
    ) -> Sequence[Sequence[Any]]:
        return connection.execute(f"SELECT {', '.join(columns)} {rest}", values).rows

    # -- transactions

    def connect(self, *, patience: float) -> Connection:
        import psycopg

        try:
            raw = psycopg.connect(**{**self._usual, **self._given}, client_encoding="utf8", autocommit=True)
            raw.execute(
                "SELECT set_config('idle_in_transaction_session_timeout', %s, false), set_config('lock_timeout', %s, false), "
                f"{_PLANNING}, "
                # Workers outlive a crash of the server. What they were told is stored must be there when it comes back.
                "CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END",
                (LONGEST_IDLE_TRANSACTION, f"{max(1, round(patience * 1_000))}ms"),
            )
        except psycopg.Error as error:
            raise DriverError(error) from error
        return Connection(raw, psycopg, spelled=_spelled, refuses=_is_too_large)

    @property
    def _usual(self) -> dict[str, str]:
        """Of several servers, only one can be written: which, changes."""
        several = "," in str(self._given.get("host", ""))
        return {**USUAL, "target_session_attrs": "read-write"} if several else USUAL

    def begin(self, connection: Connection) -> None:
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")

    def flush(self) -> None:
        """Every commit does that here."""

    def begin_read(self, connection: Connection) -> None:
        # All statements of a read see the same moment, as they do in SQLite.
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def serialise(self, connection: Connection, point: Point) -> None:
        connection.execute(f"SELECT pg_advisory_xact_lock({point:d})")

    def hang_up(self, connection: Connection) -> None:
        from psycopg import OperationalError

        # The other thread has the connection; what can be done from here is to cut the line.
        with suppress(OSError, OperationalError), socket.socket(fileno=os.dup(connection.raw.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    # -- when something goes wrong

    def pause(self, error: Exception) -> float | None:
        if self.is_lost(error):
            return RECONNECT_PAUSE
        # Not at the same moment as the other again.
        return random.uniform(0, DEADLOCK_PAUSE) if self.is_undone(error) else None

    def is_undone(self, error: Exception) -> bool:
        return _code(error) in _UNDONE

    def is_lost(self, error: Exception) -> bool:
        if not isinstance(error, DriverError):
            return False
        code = _code(error)
        if code is None:
            # The driver itself: nobody answers, or no longer.
            from psycopg import InterfaceError, OperationalError

            return isinstance(error.orig, OperationalError | InterfaceError)
        # Who may only be read now, as after a failover, may be so for good: whoever can be written has to be looked for.
        return _severity(error) in _LAST_WORDS or code.startswith("08") or code == READ_ONLY

    def refuses_text(self, error: Exception) -> bool:
        if isinstance(error, UnicodeEncodeError):
            return True
        return isinstance(error, ValueRefused) and "NUL" in str(error.orig) and _code(error) is None

    def translated(self, error: Exception) -> Exception:
        if not isinstance(error, DriverError):
            return error
        code, said = _code(error), self._said(error)
        if code == READ_ONLY or (code is None and _WANTS_TO_WRITE.search(said)):
            return StoreBusy(
                f"{self.told} can only be read now: {said}.",
                remedy="See whether it is a standby, or was made read-only (default_transaction_read_only).",
            )
        if code == STOPPED:
            return StoreBusy(
                f"{self.told} stopped a statement of ours: {said}.",
                remedy="Let them take longer: ALTER ROLE … SET statement_timeout = 0.",
            )
        if self.is_lost(error):
            return StoreBusy(f"{self.told} does not answer: {said}.", remedy=_REACH)
        if self.is_undone(error) or code == "55P03":
            return StoreBusy(
                f"{self.told} has been locked for too long.", remedy="Another program holds it; try again."
            )
        if code == "53100":
            return StoreBroken(
                f"There is no room left for {self.told}.", remedy="Free some disk space, then resume the run."
            )
        if code == "42501":
            return StoreBroken(f"{self.told} can't be written: {said}.", remedy="Use the owner of the database.")
        if code in ("42P01", "42703"):
            return StoreBroken(
                f"{self.told} lacks part of its schema: {said}.",
                remedy="Restore it from a copy, or choose another --database-url.",
            )
        if not isinstance(error, ValueRefused):
            return StoreBroken(f"{self.told} has failed: {said}.", remedy="See the log of the server.")
        # What the server says shows values, and values can be secrets.
        error.args = error.orig.args = (said,)
        return error

    def _said(self, error: DriverError) -> str:
        """What is wrong, in one line, without the values that were stored and without the password."""
        diagnosis = getattr(error.orig, "diag", None)
        said = str((diagnosis and diagnosis.message_primary) or error.orig)
        if (_code(error) or "").startswith("22"):
            said = _QUOTED.sub('"***"', said)
        secret = self._given.get("password")
        said = said.replace(secret, "***") if secret else said
        return " ".join(said.split()).rstrip(".")

    # -- the schema

    def exists(self) -> bool:
        return True

    def preparing(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        with closing(self.connect(patience=60.0)) as connection:
            connection.execute("BEGIN")
            # Two first starts at the same moment: the second waits, and then finds it done.
            self.serialise(connection, Point.SCHEMA)
            for finding in _ground(connection):
                if not finding.sound:
                    raise StoreBroken(f"{self.told} can't be used: {finding.told}.", remedy=finding.remedy)
            yield connection

    def has_table(self, connection: Connection, name: str) -> bool:
        return connection.execute("SELECT to_regclass(:name)", {"name": name}).scalar() is not None

    @contextmanager
    def migrating(self) -> Iterator[SqlAlchemyConnection]:
        from sqlalchemy import NullPool, create_engine

        def connect() -> Any:
            return self.connect(patience=60.0).raw

        made = {"creator": connect, "poolclass": NullPool, "isolation_level": "AUTOCOMMIT"}
        with create_engine("postgresql+psycopg://", **made).connect() as connection:
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({Point.SCHEMA:d})")
            yield connection

    # -- housekeeping

    def checkpoint(self, connection: Connection) -> None:
        """The server does that by itself."""

    def reclaim(self, connection: Connection) -> None:
        """So it does with unused room: the next run gets it."""

    def examine(self) -> Iterator[Finding]:
        try:
            with closing(self.connect(patience=5.0)) as connection:
                yield from _ground(connection)
                size = connection.execute("SELECT pg_database_size(current_database())").scalar()
        except DriverError as error:
            yield Finding("database", False, f"{self.told}: {self._said(error)}", _REACH)
            return
        yield Finding("database", True, f"{self.told} answers, {size / 1e6:.1f} MB")


def _parsed(url: str) -> dict[str, Any]:
    """What the URL says, as libpq takes it. Errors don't repeat it: there may be a password in it."""
    scheme = next((scheme for scheme in SCHEMES if url.startswith(scheme)), None)
    if scheme is None:
        raise InvalidInput(
            "The database URL is not one of PostgreSQL.",
            remedy="Write it like postgresql://user@host/name; for SQLite give none, and choose a folder with --data-dir.",
            field="database_url",
        )
    try:
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise InvalidInput(
            "PostgreSQL needs the driver psycopg, which is not installed.",
            remedy=f"Install it with `{sys.executable} -m pip install 'psycopg[binary]'`.",
            field="database_url",
        ) from None
    from psycopg import ProgrammingError

    try:
        return dict(conninfo_to_dict("postgresql://" + url.removeprefix(scheme)))
    except ProgrammingError:
        raise InvalidInput(
            "The database URL can't be understood.",
            remedy="Write it like postgresql://user:password@host:5432/name, with %-escapes for special characters.",
            field="database_url",
        ) from None


def _told(given: dict[str, Any]) -> str:
    hosts, ports = str(given.get("host", "")).split(","), str(given.get("port") or "").split(",")
    if len(ports) < len(hosts):
        ports = ports * len(hosts)
    places = [f"{host}:{port}" if port else host for host, port in zip(hosts, ports, strict=False)]
    is_socket = hosts[0].startswith("/")
    user = f"{given['user']}@" if given.get("user") else ""
    socket = f"?host={given['host']}" if is_socket else ""
    return f"postgresql://{user}{'' if is_socket else ','.join(places)}/{given.get('dbname', '')}{socket}"


def _ground(connection: Connection) -> Iterator[Finding]:
    """Whether the server and the database can hold what we store."""
    [[version, told, encoding, read_only]] = connection.execute(
        "SELECT CAST(current_setting('server_version_num') AS integer), current_setting('server_version'), "
        "current_setting('server_encoding'), current_setting('transaction_read_only')"
    ).rows
    yield Finding("PostgreSQL", version >= OLDEST, told, f"Tarantella needs PostgreSQL {OLDEST // 10_000} or newer.")
    remedy = "Make one that can hold all characters: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
    yield Finding("encoding", encoding == "UTF8", f"its encoding is {encoding}", remedy)
    if read_only == "on":
        remedy = "Use the primary, not a standby; or see who has set default_transaction_read_only."
        yield Finding("database", False, "it can only be read", remedy)


def _code(error: Exception) -> str | None:
    """The database's own code for what went wrong; None when the driver speaks for itself."""
    code: str | None = getattr(getattr(error, "orig", None), "sqlstate", None)
    return code


def _severity(error: DriverError) -> str | None:
    """How bad it is, in the server's own words, whatever language it speaks."""
    return getattr(getattr(error.orig, "diag", None), "severity_nonlocalized", None)


def _is_too_large(error: Exception) -> bool:
    """A limit of the database, as for what an index can hold: the value is to blame, though it is called otherwise."""
    return (getattr(error, "sqlstate", None) or "").startswith("54")


@lru_cache(maxsize=512)
def _spelled(sql: str) -> str:
    """Named values as the driver wants them."""
    return _NAMED.sub(r"%(\1)s", sql.replace("%", "%%"))


def _column(kind: str, values: Sequence[Any]) -> list[Any]:
    """One column's values as an array, which the driver wants to be all of one type."""
    if kind == "DOUBLE PRECISION":
        return [None if value is None else float(value) for value in values]
    if kind in ("TEXT", "VARCHAR"):
        # In an array nobody looks for NUL before the server does, and then the whole transaction is lost.
        return [without_nul(value) if isinstance(value, str) and "\x00" in value else value for value in values]
    return list(values)
