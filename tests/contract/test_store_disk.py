"""What is acknowledged is on the disk, and nobody else waits for the disk meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tarantella.domain.errors import StoreBroken
from tarantella.store.database import Database
from tarantella.store.dialect import sqlite
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
    flush = sqlite._flush

    def seen(descriptor: int) -> None:
        flushed.append((Path(f"/proc/self/fd/{descriptor}").resolve().name, lanes(database)))
        flush(descriptor)

    monkeypatch.setattr(sqlite, "_flush", seen)
    database.write_now(add_lane("plain"))
    assert flushed == []
    database.write_now(add_lane("durable"), durable=True)
    assert [lanes for _, lanes in flushed] == [2]
    if Path("/proc/self/fd").exists():
        assert flushed[0][0] == "tarantella.db-wal"


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_log_that_was_put_away_is_not_put_away_again_after_every_commit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LARGEST_LOG", 200_000)

    def rows() -> list[tuple[str]]:
        return [(new_id(),) for _ in range(500)]

    while not database.dialect.log_is_long():
        database.write_now(lambda tx: tx.insert("lanes", ["name"], rows(), conflict="(name) DO NOTHING"))
    asyncio.run(database.checkpoint())
    database.write_now(add_lane("the next"))
    assert not database.dialect.log_is_long()
