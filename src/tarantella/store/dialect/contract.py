"""What a database has to be able to do, beside the SQL that all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from tarantella.domain.struct import Frozen
from tarantella.store.connection import Connection, Values

if TYPE_CHECKING:
    from sqlalchemy import Connection as SqlAlchemyConnection

Place: TypeAlias = Path | str  # a SQLite file, or the URL of a PostgreSQL database


class Point(IntEnum):
    """What only one transaction at a time may pass; the numbers are locks that other programs would hardly use."""

    SCHEMA = 7_461_726_101
    ADMISSION = 7_461_726_102
    CLOCK = 7_461_726_103
    SCRAPERS = 7_461_726_104


class Finding(Frozen):
    """Something that was looked at, for the doctor."""

    name: str
    sound: bool
    told: str
    remedy: str | None = None


class Dialect(ABC):
    """One database. Every method that takes a connection may be called by any thread that has one."""

    name: ClassVar[str]
    # Locks the rows that a SELECT found until the transaction ends; where only one can write, that is nothing to say.
    for_update: ClassVar[str]
    # The same, but rows that somebody else has locked are left out instead of waited for.
    for_update_of_free: ClassVar[str]
    # Whether statements wait for nobody once the transaction has begun: no server, no other transaction.
    is_near: ClassVar[bool]
    told: str  # the place, as people may see it

    # -- spelling

    @abstractmethod
    def rows(self, parameter: str, columns: Sequence[tuple[str, str]]) -> str:
        """A bound JSON array of arrays as a sub-query with these (name, type) columns."""

    @abstractmethod
    def values(self, parameter: str, kind: str = "TEXT") -> str:
        """A bound JSON array of values of this type as a sub-query with the column `value`."""

    @abstractmethod
    def looked_up(self, table: str, on: str) -> str:
        """A join that looks this table up for each row of those before it, never the other way round."""

    # -- many rows at once

    @abstractmethod
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
        """Insert rows with bound values, a few statements for all of them; more where the values are large."""

    @abstractmethod
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
        """Insert the rows whose key is not there yet; of those, in their order, the number and these columns, which were given."""

    @abstractmethod
    def array(
        self, connection: Connection, columns: Sequence[str], rest: str, values: Values
    ) -> Sequence[Sequence[Any]]:
        """The rows of a query, in the way that costs least."""

    # -- transactions

    @abstractmethod
    def connect(self, *, patience: float) -> Connection:
        """A new connection, on which a lock is waited for no longer than this."""

    @abstractmethod
    def begin(self, connection: Connection) -> None:
        """Begin a transaction that writes."""

    @abstractmethod
    def begin_read(self, connection: Connection) -> None:
        """Begin a transaction that sees one moment of the database."""

    @abstractmethod
    def serialise(self, connection: Connection, point: Point) -> None:
        """From here to the end of its transaction, let nobody else pass the same point."""

    @abstractmethod
    def flush(self) -> None:
        """Put what is committed on the disk, where a commit does not do that itself. Raises OSError."""

    def rest(self, held: float) -> float:
        """How long to leave the database to others after a transaction that took so long."""
        return 0.0

    def hang_up(self, connection: Connection) -> None:
        """End the wait of the thread that uses this connection, if it waits for somebody who may never answer."""
        return

    # -- when something goes wrong

    @abstractmethod
    def pause(self, error: Exception) -> float | None:
        """After how many seconds the same work may succeed; None when it will not."""

    @abstractmethod
    def is_undone(self, error: Exception) -> bool:
        """Whether a commit that failed so has certainly changed nothing."""

    @abstractmethod
    def is_lost(self, error: Exception) -> bool:
        """Whether the connection is of no use any more."""

    @abstractmethod
    def refuses_text(self, error: Exception) -> bool:
        """Whether the driver refused a text before the database saw it: the transaction is as it was."""

    @abstractmethod
    def translated(self, error: Exception) -> Exception:
        """What it means for people; the error itself where that is for the caller to say."""

    # -- the schema

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is a database at all."""

    @abstractmethod
    def has_table(self, connection: Connection, name: str) -> bool: ...

    @abstractmethod
    def preparing(self) -> AbstractContextManager[None]:
        """Around everything that looks at the schema or changes it."""

    @abstractmethod
    def changing(self) -> AbstractContextManager[Connection]:
        """A transaction in which the schema can be changed, alone."""

    @abstractmethod
    def migrating(self) -> AbstractContextManager[SqlAlchemyConnection]:
        """The same for Alembic, which wants a connection of SQLAlchemy's."""

    @cached_property
    def statements(self) -> list[str]:
        """What makes the tables of the code, one statement after another."""
        path = Path(__file__).with_name(f"{self.name}.sql")
        return [each for each in path.read_text(encoding="utf-8").split(";\n\n") if each.strip()]

    # -- housekeeping

    def log_is_long(self) -> bool:
        """Whether it is time for `checkpoint`."""
        return False

    @abstractmethod
    def checkpoint(self, connection: Connection) -> None:
        """Put the log away. Only one process may do this at a time, and only if it is long."""

    @abstractmethod
    def reclaim(self, connection: Connection) -> None:
        """Give unused room back to the disk, if nobody else is using the database."""

    @abstractmethod
    def examine(self) -> Iterator[Finding]:
        """Look whether the database is sound, without changing anything; nothing when there is none yet."""
