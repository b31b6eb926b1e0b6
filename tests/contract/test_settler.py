"""Results reach the store: all that can be stored, once each, whatever the store does meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import pytest

from tarantella.domain.errors import StoreBusy, WorkerDead
from tarantella.domain.event import MAX_PAGES_REACHED
from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.page import Page, PageState
from tarantella.domain.refused import Refused
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.engine import settler as settling
from tarantella.engine import slices
from tarantella.engine.clock import Clock
from tarantella.engine.settler import GATHER_SECONDS, LONGEST_GATHER, Settler, gather_seconds
from tarantella.store import pages, records
from tarantella.store.database import Database
from tarantella.store.page_rows import LARGE_RECORD
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tests.contract.world import NOW, World, done, failed, link, tried
from tests.logs import captured_log

T = TypeVar("T")
UNSTORABLE: Any = object()


class Desk:
    """A settler at work, and what it reported."""

    def __init__(self, world: World, database: Database | None = None) -> None:
        self.worker = world.worker()
        self.reported: list[tuple[Sequence[Outcome], Settled]] = []
        self.news: list[LaneNews] = []
        self.settler = Settler(
            database or world.database,
            self.worker,
            max_running=5,
            clock=Clock(wall=lambda: NOW),
            news=lambda: self.news,
            settled=lambda batch, result: self.reported.append((batch, result)),
        )

    async def settle(self, *outcomes: Outcome) -> None:
        """Put these and wait until they are stored."""
        running = asyncio.create_task(self.settler.run())
        for outcome in outcomes:
            self.settler.put(outcome)
        try:
            drained = asyncio.create_task(self.settler.drained())
            await asyncio.wait({drained, running}, return_when=asyncio.FIRST_COMPLETED, timeout=10)
            drained.cancel()
            if running.done():
                running.result()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


class UnsureDatabase(Database):
    """Says that it is busy a number of times, before it has done anything or after it has done it all."""

    def __init__(self, real: Database, *, before: int = 0, after: int = 0) -> None:
        self.real = real
        self.before = before
        self.after = after

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
        if self.before:
            self.before -= 1
            raise StoreBusy("locked")
        result = await self.real.write(work, durable=durable, name=name)
        if self.after:
            self.after -= 1
            raise StoreBusy("was that a commit?")
        return result


def story(told: Awaitable[Any]) -> None:
    async def run() -> None:
        await told

    asyncio.run(run())


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "RETRY_SECONDS", 0.01)


def start(world: World, number: int) -> tuple[str, list[Page]]:
    run = world.submit(*(f"{n}" for n in range(number)), "last")
    return run, world.take(run)[:number]


def test_what_is_put_is_stored_in_few_transactions(world: World) -> None:
    run, found = start(world, 200)
    desk = Desk(world)
    story(desk.settle(*(done(page) for page in found)))
    assert world.run(run).counts.done == 200
    assert len(desk.reported) <= 2
    assert not desk.settler.holds(run)


def test_large_records_are_all_stored(world: World) -> None:
    run, found = start(world, 200)
    texts = [f'"{page.id} {"x" * (10 * LARGE_RECORD if page.id % 3 else 1)}"' for page in found]
    outcomes = [done(page)._replace(records=(text,)) for page, text in zip(found, texts, strict=True)]
    story(Desk(world).settle(*outcomes))
    assert [text for _, text in world.read(records.as_stored, run_id=run, last=0)] == texts


def test_a_page_that_can_not_be_stored_ends_as_such_and_the_others_are_stored(world: World) -> None:
    run, found = start(world, 20)
    outcomes = [done(page) for page in found]
    outcomes[7] = failed(found[7], UNSTORABLE)
    outcomes[13] = done(found[13])._replace(status=2**70)
    outcomes[17] = done(found[17])._replace(attempt=tried()._replace(bytes=2**70))
    desk = Desk(world)
    story(desk.settle(*outcomes))
    row = world.run(run)
    assert (row.counts.done, row.counts.failed, row.counts.pending) == (17, 3, 1)
    broken = world.read(pages.listed, run_id=run, state=PageState.FAILED)
    assert {page["id"] for page in broken} == {found[7].id, found[13].id, found[17].id}
    assert {(page["reason"], page["detail"]) for page in broken} == {("unknown", "unstorable")}


def test_the_log_of_a_page_that_can_not_be_stored_shows_no_secret(world: World) -> None:
    run = world.submit("page?token=s3cret", "last")
    page = world.take_one(run, "page?token=s3cret")
    with captured_log() as logs:
        story(Desk(world).settle(failed(page, UNSTORABLE)))
    assert [entry["action"] for entry in logs] == ["unstorable"]
    assert "s3cret" not in str(logs)
    assert "page?token=***" in str(logs)


def test_links_of_a_page_that_can_not_be_stored_are_reported_as_lost(world: World) -> None:
    _, [page] = start(world, 1)
    desk = Desk(world)
    story(desk.settle(done(page, link("fine"), link("fine2")._replace(url=UNSTORABLE))))
    assert [result.lost for _, result in desk.reported] == [1]


def test_a_run_of_one_page_that_can_not_be_stored_ends_failed(world: World) -> None:
    run = world.submit("only")
    [page] = world.take(run)
    story(Desk(world).settle(failed(page, UNSTORABLE)))
    assert world.status(run) is RunStatus.FAILED
    assert (world.run(run).failure_code, world.run(run).error_message) == ("unknown", "unstorable")


@pytest.mark.parametrize(("before", "after"), [(3, 0), (0, 1), (2, 2)])
def test_a_commit_that_is_unknown_is_sent_again_and_counts_once(world: World, before: int, after: int) -> None:
    run, found = start(world, 5)
    desk = Desk(world, UnsureDatabase(world.database, before=before, after=after))
    story(desk.settle(*(done(page, link(f"of-{page.id}")) for page in found)))
    row = world.run(run)
    assert (row.counts.done, row.counts.total, row.records) == (5, 11, 5)
    assert desk.settler.trouble is None


def test_while_the_store_is_busy_the_settler_says_so(world: World) -> None:
    _, [page] = start(world, 1)
    desk = Desk(world, UnsureDatabase(world.database, before=1_000_000))

    async def told() -> None:
        running = asyncio.create_task(desk.settler.run())
        desk.settler.put(done(page))
        for _ in range(500):
            if desk.settler.trouble:
                break
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(told())
    assert desk.settler.trouble == "locked"


def test_a_settler_whose_worker_was_declared_dead_ends_with_that(world: World) -> None:
    run, [page] = start(world, 1)
    desk = Desk(world)
    world.declare_dead(desk.worker)
    with pytest.raises(WorkerDead):
        story(desk.settle(done(page)))
    assert world.run(run).counts.done == 0


def test_results_that_wait_are_bounded_in_bytes(world: World) -> None:
    _, [page] = start(world, 1)
    desk = Desk(world)
    assert not desk.settler.is_full
    heavy = Outcome(page, PageState.DONE, records=(f'"{"x" * settling.MAX_WAITING_BYTES}"',))
    desk.settler.put(heavy)
    assert desk.settler.is_full
    story(desk.settle())
    assert not desk.settler.is_full


def test_whoever_is_told_that_something_is_stored_finds_room_for_more(world: World) -> None:
    _, found = start(world, 3)
    desk = Desk(world)
    room: list[bool] = []
    desk.settler._settled = lambda _batch, _result: room.append(not desk.settler.is_full)
    heavy = f'"{"x" * (settling.MAX_WAITING_BYTES // 3 + 1)}"'
    story(desk.settle(*(Outcome(page, PageState.DONE, records=(heavy,)) for page in found)))
    assert room == [True]


def test_what_fills_half_of_the_room_does_not_wait_for_more(world: World) -> None:
    _, [page] = start(world, 1)

    async def gather() -> None:
        settler = Desk(world).settler
        gathering = asyncio.create_task(settler._gather(30.0))
        await asyncio.sleep(2 * GATHER_SECONDS)
        settler.put(Outcome(page, PageState.DONE, records=(f'"{"x" * settling.ENOUGH_BYTES}"',)))
        await asyncio.wait_for(gathering, 10)

    asyncio.run(gather())


def test_a_slice_that_can_not_be_stored_leaves_the_room_as_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LINKS_AT_ONCE", 2)
    _, [first, second] = start(world, 2)
    broken = done(first, *(link(f"{n}")._replace(url=UNSTORABLE) for n in range(5)))
    desk = Desk(world)
    story(desk.settle(broken, done(second)))
    assert desk.settler._weight == 0
    assert desk.settler.is_idle


def many_links(page: Page, number: int) -> Outcome:
    return done(page, *(link(f"found-{n}") for n in range(number)))


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 0), (0, 3), (1, 2)])
def test_very_many_links_are_stored_in_slices_of_which_the_last_ends_the_page(
    world: World, monkeypatch: pytest.MonkeyPatch, before: int, after: int
) -> None:
    monkeypatch.setattr(slices, "LINKS_AT_ONCE", 10)
    run, [before_it, page, after_it] = start(world, 3)
    desk = Desk(world, UnsureDatabase(world.database, before=before, after=after))
    story(desk.settle(done(before_it), many_links(page, 35), done(after_it)))
    row = world.run(run)
    assert (row.counts.done, row.counts.total, row.counts.pending) == (3, 4 + 35, 36)
    assert [len(batch[0].links) for batch, _ in desk.reported] == [0, 10, 10, 10, 5, 0]
    assert [batch[0].partial for batch, _ in desk.reported] == [False, True, True, True, False, False]
    assert row.records == 3
    [attempt] = world.read(pages.attempts, page_id=page.id)
    assert attempt["n"] == 4
    world.check()


def test_slices_of_a_page_that_is_somebody_elses_by_now_change_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LINKS_AT_ONCE", 10)
    _, [page] = start(world, 1)
    world.settle(world.worker(), failed(page))
    before = {table: rows for table, rows in world.dump().items() if table != "workers"}
    desk = Desk(world)
    story(desk.settle(many_links(page, 35)))
    assert [result.lost for _, result in desk.reported] == [1, 1, 1, 1]
    assert {table: rows for table, rows in world.dump().items() if table != "workers"} == before


def test_when_a_run_is_full_the_other_slices_are_counted_and_not_stored(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LINKS_AT_ONCE", 10)
    run = world.submit("start", spec=Spec(max_pages=5))
    [page] = world.take(run)
    desk = Desk(world)
    desk.settler._run_is_full = lambda run_id: world.run(run_id).is_full
    story(desk.settle(many_links(page, 35)._replace(refused={"max_pages": Refused(1, ("x",))})))
    row = world.run(run)
    assert (row.counts.total, row.surplus) == (11, 6)
    assert row.refused["max_pages"]["count"] == 26
    assert world.messages(run).count(MAX_PAGES_REACHED) == 1
    world.check()


def test_the_faster_pages_come_the_larger_the_batches_and_never_is_waited_long() -> None:
    assert gather_seconds(pages=1, seconds=0.01) == GATHER_SECONDS
    assert gather_seconds(pages=3, seconds=5.0) == GATHER_SECONDS
    assert gather_seconds(pages=100, seconds=0.01) == pytest.approx(0.06)
    assert gather_seconds(pages=60, seconds=0.1) == LONGEST_GATHER
    assert gather_seconds(pages=1_000, seconds=0.0) < GATHER_SECONDS


@pytest.mark.parametrize(("found", "is_all"), [(0, False), (3, False), (0, True)])
def test_who_has_nothing_to_start_does_not_wait_for_a_batch_to_fill_if_pages_were_found_or_nothing_will_come(
    world: World, found: int, is_all: bool
) -> None:
    async def gather() -> bool:
        settler = Desk(world).settler
        gathering = asyncio.create_task(settler._gather(30.0))
        await asyncio.sleep(0)
        settler.put(many_links(start(world, 1)[1][0], found))
        settler.hurry(is_all=is_all)
        ended, _ = await asyncio.wait({gathering}, timeout=10 if found or is_all else 5 * GATHER_SECONDS)
        gathering.cancel()
        return bool(ended)

    assert asyncio.run(gather()) is (found > 0 or is_all)


def test_only_what_has_to_be_durable_waits_for_the_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[bool] = []
    real = world.database.write

    async def write(work: Callable[[Tx], T], *, durable: bool = False, name: str = "write", here: bool = False) -> T:
        waited.append(durable)
        return await real(work, name=name)

    monkeypatch.setattr(world.database, "write", write)
    run = world.submit("a", "b", "c")
    desk = Desk(world)
    world.acquire(desk.worker)
    first, second, third = world.take(run, limit=3)

    async def tell() -> None:
        running = asyncio.create_task(desk.settler.run())
        for page, durable in ((first, False), (second, True), (third, False)):
            desk.settler.put(done(page), durable=durable)
            await desk.settler.drained()
        running.cancel()

    asyncio.run(tell())
    assert waited == [False, True, False]
