"""What is acknowledged is on the disk, and nobody else waits for the disk meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from tarantella.domain.errors import StoreBroken
from tarantella.store.connection import Connection, DriverError
from tarantella.store.database import Database
from tarantella.store.dialect import sqlite, sqlite_log
from tarantella.store.disk import Disk
from tarantella.store.ids import new_id
from tarantella.store.intake import Intake
from tarantella.store.tx import Tx

SECONDS = 10


class Gate:
    """A flush that is under way until it is let go."""

    def __init__(self, flush: Callable[[], None] = lambda: None) -> None:
        self._flush = flush
        self.begun, self.let_go = threading.Semaphore(0), threading.Semaphore(0)
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        self.begun.release()
        assert self.let_go.acquire(timeout=SECONDS)
        self._flush()


def add_lane(name: str) -> Callable[[Tx], None]:
    return lambda tx: tx.insert("lanes", ["name"], [(name,)], conflict="(name) DO NOTHING")


def lanes(database: Database) -> int:
    return int(database.read_now(lambda tx: tx.value("SELECT count(*) FROM lanes")))


def test_one_flush_is_for_all_who_asked_before_it_began() -> None:
    gate = Gate()
    disk = Disk(gate)
    first = disk.reached()
    assert gate.begun.acquire(timeout=SECONDS)
    late = [disk.reached() for _ in range(50)]
    gate.let_go.release()
    first.result(SECONDS)
    assert not any(each.done() for each in late), "they came after it had begun"
    gate.let_go.release()
    for each in late:
        each.result(SECONDS)
    disk.close()
    assert gate.count == 2


def test_a_flush_that_fails_fails_for_those_who_waited_for_it_and_for_nobody_else() -> None:
    broken = [OSError("no")]

    def flush() -> None:
        if broken:
            raise broken.pop()

    disk = Disk(flush)
    with pytest.raises(OSError, match="no"):
        disk.reached().result(SECONDS)
    disk.reached().result(SECONDS)
    disk.close()


def test_a_durable_write_waits_for_the_disk_and_others_write_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(database.dialect.flush)
    monkeypatch.setattr(database.dialect, "flush", gate)

    async def story() -> None:
        durable = asyncio.create_task(database.write(add_lane("durable"), durable=True))
        assert await asyncio.to_thread(gate.begun.acquire, timeout=SECONDS)
        await database.write(add_lane("plain"))
        assert not durable.done()
        gate.let_go.release()
        await durable

    asyncio.run(story())
    assert (lanes(database), gate.count) == (2, 1)


def test_submits_that_come_while_the_disk_is_waited_for_are_written_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(database.dialect.flush)
    monkeypatch.setattr(database.dialect, "flush", gate)
    intake = Intake(database)

    def submit(name: str) -> asyncio.Task[str]:
        def work(tx: Tx, _batch: object) -> str:
            add_lane(name)(tx)
            return name

        return asyncio.create_task(intake.write(work, finish=lambda _tx, _batch: None))

    async def story() -> None:
        first = submit("first")
        assert await asyncio.to_thread(gate.begun.acquire, timeout=SECONDS)
        others = [submit(f"other {number}") for number in range(3)]
        await database.write(add_lane("a settle"))
        assert not first.done()
        gate.let_go.release()
        assert await first == "first"
        assert await asyncio.to_thread(gate.begun.acquire, timeout=SECONDS)
        assert not any(other.done() for other in others)
        gate.let_go.release()
        assert [await other for other in others] == ["other 0", "other 1", "other 2"]

    asyncio.run(story())
    assert (lanes(database), gate.count) == (5, 2)


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_write_that_does_not_reach_the_disk_is_not_acknowledged(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(database.dialect, "flush", broken)
    with pytest.raises(StoreBroken, match="Input/output error"):
        database.write_now(add_lane("lost"), durable=True)


@pytest.mark.parametrize("kind", ["sqlite"])
def test_the_log_is_flushed_after_the_commit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[tuple[str, int]] = []
    flush = sqlite_log._flush

    def seen(descriptor: int) -> None:
        flushed.append((Path(f"/proc/self/fd/{descriptor}").resolve().name, lanes(database)))
        flush(descriptor)

    monkeypatch.setattr(sqlite_log, "_flush", seen)
    database.write_now(add_lane("plain"))
    assert flushed == []
    database.write_now(add_lane("durable"), durable=True)
    assert [lanes for _, lanes in flushed] == [2]
    if Path("/proc/self/fd").exists():
        assert flushed[0][0] == "tarantella.db-wal"


def test_whoever_comes_while_the_database_is_waited_for_need_not_wait_for_it_again(database: Database) -> None:
    held, let_go = threading.Event(), threading.Event()
    groups: list[int] = []

    def hold(_tx: Tx) -> None:
        held.set()
        assert let_go.wait(SECONDS)

    def finish(_tx: Tx, batch: object) -> None:
        groups.append(len(cast("list[object]", batch)))

    def work(_tx: Tx, batch: object) -> None:
        cast("list[object]", batch).append(None)

    async def story() -> None:
        holding = asyncio.create_task(database.write(hold))
        assert await asyncio.to_thread(held.wait, SECONDS)
        submits = []
        for _ in range(3):  # one after the other, all of them while somebody else writes
            submits.append(asyncio.create_task(database.intake.write(work, finish=finish)))
            await asyncio.sleep(0.01)
        let_go.set()
        await asyncio.gather(holding, *submits)

    asyncio.run(story())
    assert groups == [3]


def test_submits_are_answered_when_the_database_does_not_even_begin(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_connection: object) -> None:
        raise StoreBroken("The disk is gone.", remedy="")

    async def submit(number: int) -> int:
        return await database.intake.write(lambda *_: number, finish=lambda *_: None)

    async def submits() -> list[object]:
        return await asyncio.gather(*(submit(number) for number in range(3)), return_exceptions=True)

    with monkeypatch.context() as patched:
        patched.setattr(database.dialect, "begin", broken)
        assert [str(answer) for answer in asyncio.run(submits())] == ["The disk is gone."] * 3
    assert asyncio.run(submits()) == [0, 1, 2]


# -- SQLite's log


def grow_the_log(database: Database, lanes: int) -> None:
    rows = [(new_id(),) for _ in range(lanes)]
    database.write_now(lambda tx: tx.insert("lanes", ["name"], rows, conflict="(name) DO NOTHING"))


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_log_that_was_put_away_is_not_put_away_again_after_every_commit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "LONG", 200_000)
    while not database.dialect.log_is_long():
        grow_the_log(database, 500)
    asyncio.run(database.checkpoint())
    database.write_now(add_lane("the next"))
    assert not database.dialect.log_is_long()
    while not database.dialect.log_is_long():
        grow_the_log(database, 500)


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_log_that_somebody_still_reads_is_put_away_only_when_there_is_more_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "LONG", 200_000)
    grow_the_log(database, 500)
    with closing(database.dialect.connect(patience=1.0)) as reader:
        database.dialect.begin_read(reader)
        reader.execute("SELECT count(*) FROM lanes")
        while not database.dialect.log_is_long():
            grow_the_log(database, 500)
        asyncio.run(database.checkpoint())
        database.write_now(add_lane("the next"))
        assert not database.dialect.log_is_long(), "it could not be begun anew, and has hardly grown"


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_log_into_which_somebody_always_writes_is_begun_anew(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "LONG", 200_000)
    monkeypatch.setattr(sqlite_log, "TOO_LONG", 600_000)
    checkpoint = sqlite_log._checkpoint
    writes = threading.Semaphore(0)  # how often somebody commits while the log is put away

    def overtaken(connection: Connection) -> int:
        if not writes.acquire(blocking=False):
            return checkpoint(connection)
        with closing(database.dialect.connect(patience=1.0)) as other:
            database.dialect.begin_read(other)
            other.execute("SELECT count(*) FROM lanes")
            frames = checkpoint(connection)
            # Somebody commits before SQLite can see that all of the log is put away.
            connection.execute("INSERT INTO lanes (name) VALUES (:name)", {"name": new_id()})
        return frames

    monkeypatch.setattr(sqlite_log, "_checkpoint", overtaken)
    longest = 0
    for _ in range(60):
        grow_the_log(database, 500)
        writes = threading.Semaphore(1)
        asyncio.run(database.checkpoint())
        longest = max(longest, Path(f"{database.dialect.told}-wal").stat().st_size)
    assert 600_000 < longest < 1_500_000


# -- who else writes


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_writer_rests_as_long_as_it_wrote_while_others_write_and_hardly_while_nobody_does(database: Database) -> None:
    database.write_now(add_lane("one"))
    database.write_now(add_lane("two"))
    assert database.dialect.rest(0.02) == sqlite.SHORT_REST
    with closing(database.dialect.connect(patience=1.0)) as other:
        other.execute("INSERT INTO lanes (name) VALUES ('of another')")
    assert database.dialect.rest(0.02) == sqlite.SHORT_REST, "nobody could know yet"
    database.write_now(add_lane("three"))
    assert database.dialect.rest(0.02) == 0.02
    assert database.dialect.rest(1.0) == sqlite.LONGEST_REST


@pytest.mark.parametrize("kind", ["sqlite"])
def test_putting_the_log_away_is_not_somebody_else(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_log, "LONG", 200_000)
    while not database.dialect.log_is_long():
        grow_the_log(database, 500)
    asyncio.run(database.checkpoint())
    database.write_now(add_lane("one"))
    database.write_now(add_lane("two"))
    assert database.dialect.rest(0.02) == sqlite.SHORT_REST


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_look_for_others_that_fails_leaves_no_transaction_open(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, failures = Connection.execute, [sqlite3.OperationalError("database is locked")]

    def shaky(self: Connection, sql: str, *values: Any) -> Any:
        if sql == "PRAGMA data_version" and failures:
            raise DriverError(failures.pop())
        return execute(self, sql, *values)

    monkeypatch.setattr(Connection, "execute", shaky)
    database.write_now(add_lane("one"))
    assert (lanes(database), failures) == (1, [])
