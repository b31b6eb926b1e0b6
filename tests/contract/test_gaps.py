"""Gaps: what a file brings, who may fill what, and what a death costs; on every database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import pytest

from tarantella.domain.gap import Gap
from tarantella.domain.run import Priority
from tarantella.domain.scraper import Retry
from tarantella.domain.script_end import Ended, ScriptFailure
from tarantella.domain.struct import replace
from tarantella.store import gaps, workers
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.gaps import GapStatus, Left, StoredGap, TakenIn, Which
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx
from tarantella.store.workers import WorkerInfo

T = TypeVar("T")
QUEUE = "/queues/gaps.json"


class Queue:
    """A queue, and a clock that somebody sets."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.now = 1_000.0

    def write(self, change: Callable[..., T], **values: Any) -> T:
        return asyncio.run(self._database.write(partial(change, **values)))

    def read(self, look: Callable[..., T], **values: Any) -> T:
        return asyncio.run(self._database.read(partial(look, **values)))

    def take_in(self, some: Sequence[Gap], scanned_at: str | None = "1", unread: Sequence[str] = ()) -> TakenIn:
        return self.write(gaps.take_in, queue=QUEUE, gaps=some, unread=set(unread), scanned_at=scanned_at, now=self.now)

    def all(self, **which: Any) -> list[StoredGap]:
        return self.read(gaps.listed, which=Which(queue=QUEUE, **which), limit=1_000)

    def states(self) -> dict[str, str]:
        return {each.name: str(each.status) for each in self.all()}

    def next_due(self, busy: Sequence[str] = (), priority: Priority | None = None) -> StoredGap | None:
        return self.read(gaps.next_due, queue=QUEUE, priority=priority, busy=set(busy), now=self.now)

    def begin(self, gap: StoredGap, owner: str | None = None) -> bool:
        return self.write(gaps.begin, gap=gap, owner=owner or new_id(), host="here", now=self.now)

    def take(self) -> StoredGap:
        gap = self.next_due()
        assert gap is not None and self.begin(gap)
        return gap

    def settle(self, gap: StoredGap, failure: ScriptFailure | None = None, retry: Retry | None = None) -> Any:
        ended = Ended(failure, "so it is" if failure else None, 3, 0, 2.5, "said", "cried")
        return self.write(gaps.settle, gap=gap, ended=ended, retry=retry or Retry(), now=self.now)

    def worker(self) -> str:
        me = WorkerInfo(new_id(), None, "here", 1, "0", None, [])
        self.write(workers.register, worker=me, now=self.now)
        return me.id


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database)


def gap(name: str, priority: Priority = Priority.MEDIUM, scraper: str = "x", **params: Any) -> Gap:
    return Gap(name, priority, "league", scraper, params or {"season": name})


def test_a_file_that_is_taken_in_twice_brings_nothing_new(queue: Queue) -> None:
    assert queue.take_in([gap("a"), gap("b")]).new == 2
    assert queue.take_in([gap("a"), gap("b")]) == TakenIn()
    assert queue.states() == {"a": "pending", "b": "pending"}


def test_what_a_file_says_again_is_not_even_written(queue: Queue) -> None:
    queue.take_in([gap("a"), gap("b")])
    queue.now += 10
    queue.take_in([gap("a"), replace(gap("b"), reason="it is late", estimated_minutes=1.5)])
    assert {each.name: (each.updated_at, each.reason, each.estimated_minutes) for each in queue.all()} == {
        "a": (1_000.0, None, None),
        "b": (1_010.0, "it is late", 1.5),
    }


def test_two_that_say_the_same_are_one(queue: Queue) -> None:
    taken = queue.take_in([gap("a", season="1"), gap("b", season="1"), gap("c", season="2")])
    assert (taken.new, taken.doubled) == (2, ("b",))


def test_the_most_urgent_is_next_and_among_equals_the_first_in_the_file(queue: Queue) -> None:
    order = [("d", Priority.LOW), ("b", Priority.CRITICAL), ("e", Priority.LOW), ("c", Priority.HIGH)]
    queue.take_in([gap(name, priority) for name, priority in order])
    assert [queue.take().name for _ in order] == ["b", "c", "d", "e"]
    assert queue.next_due() is None


def test_what_waits_for_nothing_is_due_whatever_the_clock_says(queue: Queue) -> None:
    queue.take_in([gap("a")])
    queue.now -= 900
    begun = queue.take()
    queue.now += 900
    queue.write(gaps.release, gap=begun, now=queue.now)
    queue.now -= 900
    queue.settle(queue.take(), ScriptFailure.EXIT)
    queue.now += 900
    queue.write(gaps.retry, which=Which(queue=QUEUE), now=queue.now)
    queue.now -= 900
    assert queue.next_due() is not None


def test_only_some_can_be_asked_for(queue: Queue) -> None:
    queue.take_in([gap("a", Priority.CRITICAL, "x"), gap("b", Priority.LOW, "y"), gap("c", Priority.LOW, "x")])
    assert (found := queue.next_due(priority=Priority.LOW)) and found.name == "b"
    assert (found := queue.next_due(busy=["x"])) and found.name == "b"
    assert [each.name for each in queue.all(scraper="x")] == ["a", "c"]


def test_a_gap_is_begun_by_one(queue: Queue) -> None:
    queue.take_in([gap("a")])
    found = queue.next_due()
    assert found is not None
    assert [queue.begin(found), queue.begin(found)] == [True, False]
    assert queue.read(gaps.running) == {"x": 1}


def test_those_who_count_at_the_same_moment_find_no_more_room_than_there_is(queue: Queue, place: Place) -> None:
    queue.take_in([gap(str(number)) for number in range(4)])

    def begin(tx: Tx, gap: StoredGap) -> bool:
        begun = gaps.begin(tx, gap, owner=new_id(), host="here", now=queue.now, limit=2)
        time.sleep(0.1)  # whoever looks only now does not see it yet
        return begun

    some = queue.all()

    async def all_at_once(others: Sequence[Database]) -> list[bool]:
        asked = (other.write(partial(begin, gap=gap)) for other, gap in zip(others, some, strict=True))
        return await asyncio.gather(*asked)

    others = [Database(place) for _ in range(4)]
    try:
        assert sum(asyncio.run(all_at_once(others))) == 2
    finally:
        for other in others:
            other.close()


def test_what_came_of_it_is_stored_once(queue: Queue) -> None:
    queue.take_in([gap("a")])
    taken = queue.take()
    assert queue.settle(taken) == "completed"
    assert queue.settle(taken, ScriptFailure.EXIT) is None
    [stored] = queue.all()
    assert (stored.status, stored.records, stored.seconds, stored.tries) == ("completed", 3, 2.5, 1)
    assert queue.read(gaps.said, gap_id=stored.id) == ("said", "cried")


def test_a_failure_that_can_pass_is_tried_again_later_and_then_given_up(queue: Queue) -> None:
    queue.take_in([gap("a")])
    retry = Retry(3, 10.0, 300.0)
    assert queue.settle(queue.take(), ScriptFailure.NETWORK, retry) == "pending"
    assert queue.next_due() is None
    queue.now += 10
    assert queue.settle(queue.take(), ScriptFailure.NETWORK, retry) == "pending"
    queue.now += 19.9
    assert queue.next_due() is None
    queue.now += 0.1
    assert queue.settle(queue.take(), ScriptFailure.NETWORK, retry) == "failed"
    [stored] = queue.all()
    assert (stored.tries, stored.failure) == (3, "network")


def test_a_failure_that_stays_is_not_tried_again(queue: Queue) -> None:
    queue.take_in([gap("a")])
    assert queue.settle(queue.take(), ScriptFailure.CONFIG, Retry(9)) == "failed"


def test_a_gap_is_resolved_by_a_scan_and_by_nothing_else(queue: Queue) -> None:
    queue.take_in([gap("a"), gap("b"), gap("c")])
    assert queue.settle(queue.take()) == "completed"
    assert queue.settle(queue.take(), ScriptFailure.EXIT) == "failed"
    # The same scan once more says nothing of what was done since.
    assert queue.take_in([gap("a"), gap("b"), gap("c")]) == TakenIn()
    assert queue.states() == {"a": "completed", "b": "failed", "c": "pending"}
    queue.now += 1
    taken = queue.take_in([gap("b"), gap("c")], scanned_at="2")
    assert (taken.again, taken.gone) == (1, 1)
    assert queue.states() == {"a": "resolved", "b": "pending", "c": "pending"}
    said = {each.name: queue.read(gaps.said, gap_id=each.id) for each in queue.all()}
    assert (said["a"], said["b"]) == (("", ""), ("said", "cried"))


def test_what_is_still_missing_after_a_later_scan_is_done_again(queue: Queue) -> None:
    queue.take_in([gap("a")])
    queue.settle(queue.take())
    queue.take_in([gap("renamed", season="a")], scanned_at="2")
    [stored] = queue.all()
    assert (stored.name, stored.status, stored.retry_count) == ("renamed", "pending", 0)


def test_what_is_missing_again_is_a_gap_again(queue: Queue) -> None:
    queue.take_in([gap("a")])
    queue.take_in([], scanned_at="2")
    assert queue.states() == {"a": "resolved"}
    assert queue.take_in([gap("a")], scanned_at="3").again == 1
    assert queue.states() == {"a": "pending"}


def test_an_entry_that_can_not_be_read_any_more_is_not_resolved(queue: Queue) -> None:
    queue.take_in([gap("a"), gap("b")])
    assert queue.take_in([gap("a")], scanned_at="2", unread=["b"]).gone == 0
    assert queue.states() == {"a": "pending", "b": "pending"}


def test_what_is_being_filled_stays_so_whatever_a_file_says(queue: Queue) -> None:
    queue.take_in([gap("a"), gap("b")])
    taken = queue.take()
    queue.take_in([gap("b")], scanned_at="2")
    assert queue.states() == {"a": "running", "b": "pending"}
    assert queue.settle(taken) == "completed"


def test_what_the_dead_had_begun_is_free_and_what_kills_three_is_given_up(queue: Queue) -> None:
    queue.take_in([gap("a")])
    for number in range(1, 4):
        worker = queue.worker()
        found = queue.next_due()
        assert found is not None and queue.begin(found, worker)
        assert queue.read(gaps.orphans, queue=QUEUE) == []
        queue.write(workers.declare_dead, worker_id=worker, max_running=5, now=queue.now)
        [orphan] = queue.read(gaps.orphans, queue=QUEUE)
        queue.write(gaps.take_back, gap=orphan, now=queue.now)
        assert queue.states() == {"a": "pending" if number < 3 else "failed"}
        # Whoever was thought dead changes nothing any more.
        assert queue.settle(found) is None
    assert queue.all()[0].failure == "crash"


def test_what_is_put_back_costs_nothing(queue: Queue) -> None:
    queue.take_in([gap("a")])
    taken = queue.take()
    queue.write(gaps.release, gap=taken, now=queue.now)
    [stored] = queue.all()
    assert (stored.status, stored.retry_count, stored.deaths) == ("pending", 0, 0)


def test_what_was_given_up_is_taken_back_by_filter(queue: Queue) -> None:
    queue.take_in([gap("a", scraper="x"), gap("b", scraper="y"), gap("c", scraper="z")])
    for failure in (ScriptFailure.TIMEOUT, ScriptFailure.EXIT, None):
        queue.settle(queue.take(), failure)
    timeouts = Which(QUEUE, failure=ScriptFailure.TIMEOUT)
    assert queue.write(gaps.retry, which=timeouts, now=queue.now) == 1
    assert queue.states() == {"a": "pending", "b": "failed", "c": "completed"}
    assert queue.write(gaps.retry, which=Which(QUEUE), now=queue.now) == 1
    assert queue.write(gaps.retry, which=Which(QUEUE, status=GapStatus.COMPLETED), now=queue.now) == 1
    assert set(queue.states().values()) == {"pending"}


def test_a_gap_is_found_by_its_name(queue: Queue) -> None:
    queue.take_in([gap("a"), gap("b")])
    assert [each.name for each in queue.all(name="b")] == ["b"]


@pytest.mark.parametrize("text", ["%%%%%%%%", "________", "12345678\\", "\\\\\\\\\\", "\0\0\0\0\0\0\0\0"])
def test_nothing_that_somebody_types_finds_what_it_does_not_name(queue: Queue, text: str) -> None:
    queue.take_in([gap("a")])
    assert queue.all(name=text) == []


def test_what_is_left_adds_up(queue: Queue) -> None:
    some = [Gap(name, Priority.LOW, "s", "x", {"season": name}, minutes) for name, minutes in (("a", 2.0), ("b", None))]
    queue.take_in(some)
    assert queue.read(gaps.left, queue=QUEUE, priority=None) == Left(2, 120.0, 0, 0.0)
    assert queue.read(gaps.left, queue=QUEUE, priority=Priority.HIGH) == Left(0, 0.0, 0, None)
    queue.take()
    assert queue.read(gaps.left, queue=QUEUE, priority=None) == Left(1, 0.0, 1, 0.0)


def test_a_list_goes_on_behind_any_of_its_gaps(queue: Queue) -> None:
    queue.take_in([gap(name, Priority.LOW if name in "ab" else Priority.HIGH) for name in "abcde"])
    found: list[StoredGap] = []
    while page := queue.read(gaps.listed, which=Which(QUEUE), limit=2, after=_place(found)):
        found += page
    assert [each.name for each in found] == ["c", "d", "e", "a", "b"]


def _place(found: Sequence[StoredGap]) -> tuple[int, int, str] | None:
    return (int(found[-1].priority), found[-1].position, found[-1].id) if found else None
