"""Long work is done on the thread that asks for it, but only where nobody has to be waited for."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tarantella.domain.errors import StoreBroken
from tarantella.store import database as databases
from tarantella.store import schema
from tarantella.store.database import Database
from tarantella.store.tx import Tx

SECONDS = 10


def add_lane(name: str, *, takes: float = 0.0) -> Callable[[Tx], int]:
    """Writes a lane, and says on which thread."""

    def work(tx: Tx) -> int:
        tx.insert("lanes", ["name"], [(name,)], conflict="(name) DO NOTHING")
        time.sleep(takes)
        return threading.get_ident()

    return work


def lanes(database: Database) -> int:
    return int(database.read_now(lambda tx: tx.value("SELECT count(*) FROM lanes")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tarantella.db"
    schema.prepare(path)
    return path


@pytest.fixture
def on_file(file: Path) -> Iterator[Database]:
    with closing(Database(file)) as opened:
        yield opened


def test_a_file_is_written_here_and_a_server_is_waited_for_elsewhere(database: Database, kind: str) -> None:
    async def story() -> tuple[int, int]:
        return await database.write(add_lane("a"), here=True), await database.write(add_lane("b"))

    here, elsewhere = asyncio.run(story())
    assert (here == threading.get_ident()) is (kind == "sqlite")
    assert elsewhere != threading.get_ident()
    assert lanes(database) == 2


def test_a_file_that_somebody_else_holds_is_waited_for_elsewhere(on_file: Database, file: Path) -> None:
    async def story() -> int:
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(on_file.write(add_lane("a"), here=True))
            for _ in range(20):
                await asyncio.sleep(0.005)  # nobody keeps the loop from it
            assert not waiting.done()
            other.execute("COMMIT")
        return await asyncio.wait_for(waiting, SECONDS)

    assert asyncio.run(story()) != threading.get_ident()
    assert lanes(on_file) == 1


def test_a_disk_that_was_slow_is_left_to_another_thread_for_a_while(
    on_file: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "SLOW_IS_REMEMBERED", 0.2)

    async def story() -> list[int]:
        slow = await on_file.write(add_lane("a", takes=2 * databases.LONGEST_HERE), here=True)
        next_one = await on_file.write(add_lane("b"), here=True)
        await asyncio.sleep(0.25)
        return [slow, next_one, await on_file.write(add_lane("c"), here=True)]

    here = threading.get_ident()
    assert [thread == here for thread in asyncio.run(story())] == [True, False, True]


def test_work_that_fails_here_leaves_nothing_behind(database: Database) -> None:
    def fails(tx: Tx) -> None:
        tx.insert("lanes", ["name"], [("a",)], conflict="(name) DO NOTHING")
        raise RuntimeError("on purpose")

    async def story() -> None:
        with pytest.raises(RuntimeError, match="on purpose"):
            await database.write(fails, here=True)
        await database.write(add_lane("b"), here=True)

    asyncio.run(story())
    assert lanes(database) == 1


def test_many_who_write_here_and_elsewhere_get_in_one_after_the_other(database: Database) -> None:
    async def story() -> None:
        await asyncio.gather(
            *(
                database.write(add_lane(f"{number}"), here=number % 2 == 0, durable=number % 5 == 0)
                for number in range(60)
            )
        )

    asyncio.run(story())
    assert lanes(database) == 60


def test_nobody_writes_while_others_are_to_be_let_in(on_file: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rest, moments = 0.02, []
    monkeypatch.setattr(on_file.dialect, "rest", lambda _held: rest)

    def note(_tx: Tx) -> None:
        moments.append(time.monotonic())

    async def story() -> None:
        await asyncio.gather(*(on_file.write(note, here=number % 2 == 0) for number in range(8)))

    asyncio.run(story())
    assert len(moments) == 8
    assert min(later - earlier for earlier, later in pairwise(moments)) >= rest


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_file_that_was_moved_away_is_missed_and_may_come_back(
    on_file: Database, file: Path, comes_back: bool
) -> None:
    on_file.write_now(add_lane("a"))
    away = file.with_name("elsewhere.db")
    file.rename(away)
    with pytest.raises(StoreBroken, match="deleted or moved away"):
        asyncio.run(on_file.write(add_lane("b"), here=comes_back))
    if comes_back:
        away.rename(file)
        on_file.write_now(add_lane("b"))
        assert lanes(on_file) == 2
