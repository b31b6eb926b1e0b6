"""Failed pages are taken back a few at a time, and nobody can tell from what comes of it."""

from __future__ import annotations

import asyncio

import pytest

from tarantella.domain.errors import Conflict
from tarantella.domain.event import RUN_REQUEUED
from tarantella.domain.page import Skip
from tarantella.domain.run import RunStatus
from tarantella.engine.clock import Clock
from tarantella.engine.duties import Duties
from tarantella.store import retrying
from tests.contract.world import World, done, failed, link, skipped


@pytest.fixture(autouse=True)
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "AT_ONCE", 2)


def ended(world: World, *, failures: int = 5, left: int = 2) -> str:
    """A run that is over: so many pages failed, so many were left, one is done and one need not be asked for."""
    run, worker = world.submit(*(f"{number}" for number in range(failures + left + 2))), world.worker()
    pages = world.take(run)
    world.settle(
        worker,
        *(failed(page) for page in pages[:failures]),
        *(skipped(page, Skip.HOST_DOWN) for page in pages[failures : failures + left]),
        done(pages[-2]),
        skipped(pages[-1], Skip.ROBOTS),
    )
    assert world.status(run) is RunStatus.PARTIAL
    return run


def go_on(world: World, run: str) -> bool:
    return world.write(retrying.go_on, run_id=run, now=world.now)


def told(world: World, run: str) -> list[int]:
    """What its history says of retries: how many pages each is about."""
    listed = world.read(lambda tx: tx.all("SELECT message, meta FROM run_events WHERE run_id = :run", run=run))
    return [int(row.meta.rpartition(":")[2].rstrip("}")) for row in listed if row.message == RUN_REQUEUED]


def test_a_retry_takes_back_a_few_pages_in_each_transaction_and_tells_of_all_of_them_once(world: World) -> None:
    run = ended(world)
    assert world.retry_failed(run) == 7
    pending = [world.run(run).counts.pending]
    while go_on(world, run):
        pending.append(world.run(run).counts.pending)
        world.check()
    assert pending == [2, 4, 6]
    counts = world.run(run).counts
    assert (counts.pending, counts.failed, counts.skipped, counts.incomplete) == (7, 0, 1, 0)
    assert told(world, run) == [7]
    assert go_on(world, run) is False


def test_a_run_that_is_quicker_than_its_retry_does_not_end_before_all_was_tried_again(world: World) -> None:
    run, worker, tried = ended(world), world.worker(), 0
    world.retry_failed(run)
    while pages := world.take(run):
        assert world.status(run) is RunStatus.RUNNING
        tried += len(pages)
        world.settle(worker, *(failed(page) for page in pages))
        world.check()
    assert tried == 7
    assert world.status(run) is RunStatus.PARTIAL
    assert world.read(retrying.unfinished) == []


def test_what_fails_again_or_is_found_meanwhile_is_not_taken_back_a_second_time(world: World) -> None:
    run, worker = ended(world), world.worker()
    world.retry_failed(run)
    first, second = world.take(run)
    world.settle(worker, failed(first), done(second, link("new")))
    world.settle(worker, failed(world.take_one(run, "new")))
    while go_on(world, run):
        pass
    assert world.run(run).counts.pending == 5
    assert world.states(run)["new"] == "failed(not_found)"


def test_a_cancel_in_the_middle_of_a_retry_leaves_the_rest_as_it_was(world: World) -> None:
    run = ended(world)
    world.retry_failed(run)
    world.cancel(run)
    assert go_on(world, run) is False
    while world.close(run).pages:
        pass
    assert world.status(run) is RunStatus.CANCELLED
    assert world.run(run).counts.failed == 5
    assert world.read(retrying.unfinished) == []
    assert world.retry_failed(run) == 7
    assert told(world, run) == [7, 7]


def test_a_pause_in_the_middle_of_a_retry_loses_nothing_of_it(world: World) -> None:
    run = ended(world)
    world.retry_failed(run)
    assert world.pause(run) is RunStatus.PAUSED
    while go_on(world, run):
        pass
    assert world.status(run) is RunStatus.PAUSED
    assert world.resume(run) is RunStatus.RUNNING
    assert len(world.take(run)) == 7


def test_a_second_retry_in_the_middle_of_the_first_is_refused(world: World) -> None:
    run = ended(world)
    world.retry_failed(run)
    before = world.dump()
    with pytest.raises(Conflict, match="still running"):
        world.retry_failed(run)
    assert world.dump() == before


def test_whoever_does_the_duties_goes_on_with_a_retry_whose_command_is_gone(world: World) -> None:
    run = ended(world)
    world.retry_failed(run)
    duties = Duties(world.database, world.worker(), max_running=5, clock=Clock())
    asyncio.run(duties.run_once())
    assert world.run(run).counts.pending == 7
    assert world.read(retrying.unfinished) == []
