"""Runs work in transactions: one connection per process that writes, readers beside it, and patience with the database."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from tarantella import crashpoints
from tarantella.domain.errors import StoreBusy, StoreDamaged
from tarantella.store.connection import Connection, DriverError
from tarantella.store.dialect import Dialect, Place, dialect_of
from tarantella.store.disk import Disk
from tarantella.store.intake import Intake
from tarantella.store.tx import Tx

T = TypeVar("T")

PATIENCE = 60.0
CLOSES_WITHIN = 5.0  # seconds for what is under way, where a server may never say anything again
# A disk that keeps us waiting for longer than this is waited for by another thread, until it has had time to recover.
LONGEST_HERE = 0.05
SLOW_IS_REMEMBERED = 10.0
LOOKS_HERE, LOOK_PAUSE = 10, 0.001


class _Occupied(Exception):
    """Somebody else has to be waited for, and nothing has changed."""


class _Desk:
    """Where a connection lies that whoever sits there may use."""

    connection: Connection | None = None


class _OwnDesk(_Desk, threading.local):
    """One for each thread."""


class Database:
    """Work is a function of a transaction; what it returns is returned after the commit.

    It may be called more than once: while the database is locked or away, and when another transaction was preferred.
    """

    dialect: Dialect
    damage: StoreDamaged | None = None  # that was met, by whomever

    def __init__(self, place: Place, *, patience: float = PATIENCE, limit: float | None = None) -> None:
        self.place = place
        self.dialect = dialect_of(place)
        self._patience = patience
        self._limit = limit  # seconds for a server that is there and says nothing; None where that is waited for
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="store-reader")
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="store-keeper")
        self._is_putting_away = False
        self._rested = 0.0  # when the next one may write
        self._here_from = 0.0  # when the disk is expected to be quick again
        self._writing = threading.Lock()  # whoever has it sits at the desk from which is written
        self._writes = _Desk()
        self._own = _OwnDesk()
        self._open: set[Connection] = set()
        self._opening = threading.Lock()
        self._closing = threading.Event()
        self._disk = Disk(self._flush)
        self.intake = Intake(self)

    async def write(
        self,
        work: Callable[[Tx], T],
        *,
        durable: bool = False,
        name: str = "write",
        here: bool = False,
        limited: bool = True,
        within: float | None = None,
    ) -> T:
        """Run work in a write transaction and wait for its commit.

        `here` is for work of many short statements: if nobody has to be waited for, it is done on this thread, which would
        otherwise take the interpreter from the writer's after each of them. `limited` work may be given up while it is
        under way, and be done all the same: after so long as this database may keep people waiting, or `within` so many seconds.
        """
        done = await self._written_here(work, name) if here and self.dialect.is_near else None
        if done:
            result = done[0]
        else:
            writing = asyncio.wrap_future(self._writer.submit(self._write_in_turn, work, name))
            result = await (self.in_time(writing, within) if limited else writing)
        if durable:
            await self.kept()
        return result

    def write_now(self, work: Callable[[Tx], T], *, durable: bool = False, name: str = "write") -> T:
        """The same for callers outside an event loop."""
        result = self._writer.submit(self._write_in_turn, work, name).result()
        if durable:
            self._disk.reached().result()
        return result

    async def kept(self) -> None:
        """Wait until everything that was committed so far would survive a power cut."""
        await asyncio.wrap_future(self._disk.reached())

    async def read(self, work: Callable[[Tx], T], *, within: float | None = None) -> T:
        """Run work in a short read transaction."""
        return await self.in_time(asyncio.wrap_future(self._readers.submit(self._read, work)), within)

    async def in_time(self, answer: Awaitable[T], within: float | None = None) -> T:
        """Wait for what the database has to say, as long as somebody may be kept waiting."""
        limit = self._limit if within is None else within
        if limit is None or self.dialect.is_near:
            return await answer
        try:
            # A server that is frozen keeps its connections: nothing but the time tells that it is not there.
            async with asyncio.timeout(limit):
                return await answer
        except TimeoutError:
            raise StoreBusy(
                f"{self.dialect.told} has said nothing for {limit:.0f} s.",
                remedy="See whether the server gets on; try again.",
            ) from None

    def read_now(self, work: Callable[[Tx], T]) -> T:
        return self._readers.submit(self._read, work).result()

    async def checkpoint(self) -> None:
        """Put the database's log away if it has grown, while others write. Only one process may do this at a time."""
        if self._is_putting_away or not self.dialect.log_is_long():
            return
        self._is_putting_away = True
        try:
            await asyncio.wrap_future(self._keeper.submit(self._keep_house, self.dialect.checkpoint))
        finally:
            self._is_putting_away = False

    async def reclaim(self) -> None:
        """Give unused room back to the disk, if nobody else is using the database."""
        await asyncio.wrap_future(self._writer.submit(self._reclaim))

    def close(self) -> None:
        self._closing.set()
        hang_up = threading.Timer(CLOSES_WITHIN, self._hang_up)
        hang_up.start()
        self._writer.shutdown(wait=True)
        self._keeper.shutdown(wait=True)
        self._disk.close()
        self._readers.shutdown(wait=True)
        hang_up.cancel()
        for connection in self._open:
            connection.close()

    def _hang_up(self) -> None:
        """Whoever still waits for the database hears that the connection is lost."""
        with self._opening:
            for connection in self._open:
                self.dialect.hang_up(connection)

    def _flush(self) -> None:
        try:
            self.dialect.flush()
        except OSError as error:
            raise self.dialect.translated(DriverError(error)) from error

    def _write_in_turn(self, work: Callable[[Tx], T], name: str) -> T:
        """On the writer's thread: for as long as it takes."""
        while True:
            time.sleep(max(0.0, self._rested - time.monotonic()))
            with self._writing:
                # Somebody else may have written while we slept.
                if self._rested <= time.monotonic():
                    return self._write(work, name)

    async def _written_here(self, work: Callable[[Tx], T], name: str) -> tuple[T] | None:
        """The same as below, a few times: others like us hold the database for a few milliseconds."""
        for _ in range(LOOKS_HERE):
            if (rest := self._rested - time.monotonic()) > 0:
                await asyncio.sleep(rest)
            done = self._write_here(work, name)
            if done is not None or time.monotonic() < self._here_from:
                return done
            await asyncio.sleep(LOOK_PAUSE)
        return None

    def _write_here(self, work: Callable[[Tx], T], name: str) -> tuple[T] | None:
        """What came of the work; None where somebody has to be waited for: it has changed nothing then."""
        began = time.monotonic()
        if began < max(self._rested, self._here_from) or not self._writing.acquire(blocking=False):
            return None
        try:
            return (self._write(work, name, patient=False),)
        except _Occupied:
            return None
        finally:
            self._writing.release()
            if (now := time.monotonic()) - began > LONGEST_HERE:
                self._here_from = now + SLOW_IS_REMEMBERED

    def _write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True) -> T:
        def end(connection: Connection) -> None:
            crashpoints.hit(f"{name}.before_commit")
            connection.execute("COMMIT")

        result, held = self._work(self._writes, self.dialect.begin, work, end, changes=True, patient=patient)
        crashpoints.hit(f"{name}.after_commit")
        self._rested = time.monotonic() + self.dialect.rest(held)
        return result

    def _read(self, work: Callable[[Tx], T]) -> T:
        return self._work(self._own, self.dialect.begin_read, work, _roll_back, changes=False)[0]

    def _work(
        self,
        desk: _Desk,
        begin: Callable[[Connection], None],
        work: Callable[[Tx], T],
        end: Callable[[Connection], None],
        *,
        changes: bool,
        patient: bool = True,
    ) -> tuple[T, float]:
        """Do the work in a transaction, again and again for as long as that may help; also how long it took."""
        give_up = time.monotonic() + self._patience
        while True:
            began, is_ending = 0.0, False
            try:
                connection = self._connection(desk)
                begin(connection)
                began = time.monotonic()
                result = work(Tx(connection, self.dialect))
                is_ending = True
                end(connection)
                return result, time.monotonic() - began
            except BaseException as error:
                self._abandon(desk, error, undo=bool(began))
                if not isinstance(error, DriverError):
                    raise
                pause = self.dialect.pause(error)
                # Only at the end it can be unknown what became of it, because the answer got lost: that is for the
                # caller to know, who may be able to send the same again.
                unknown = changes and is_ending and not self.dialect.is_undone(error)
                if pause is None or unknown or time.monotonic() > give_up or self._closing.is_set():
                    told = self.dialect.translated(error)
                    if isinstance(told, StoreDamaged):
                        self.damage = told
                    raise told from error
                if not patient:
                    raise _Occupied from error
                self._closing.wait(pause)

    def _abandon(self, desk: _Desk, error: BaseException, *, undo: bool) -> None:
        """Undo what was begun. A connection that is of no use any more is forgotten."""
        connection = desk.connection
        if connection is None:
            return
        if undo and not self._is_lost(error):
            try:
                _roll_back(connection)
            except DriverError as second:
                error = second
        if self._is_lost(error):
            desk.connection = None
            with self._opening:
                self._open.discard(connection)
            with suppress(DriverError):
                connection.close()

    def _is_lost(self, error: BaseException) -> bool:
        return isinstance(error, DriverError) and self.dialect.is_lost(error)

    def _reclaim(self) -> None:
        with self._writing:
            self._keep_house(self.dialect.reclaim, self._writes)

    def _keep_house(self, work: Callable[[Connection], None], desk: _Desk | None = None) -> None:
        try:
            work(self._connection(desk or self._own))
        except DriverError as error:
            raise self.dialect.translated(error) from error

    def _connection(self, desk: _Desk) -> Connection:
        connection = desk.connection
        if connection is None:
            connection = desk.connection = self.dialect.connect(patience=self._patience)
            with self._opening:
                self._open.add(connection)
        return connection


def _roll_back(connection: Connection) -> None:
    connection.execute("ROLLBACK")
