"""A few runs at a time, the oldest and most urgent first, and nobody waits for ever."""

from __future__ import annotations

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.event import RUN_STARTED
from tarantella.domain.outcome import LaneNews
from tarantella.domain.page import Skip
from tarantella.domain.run import Priority, RunStatus
from tarantella.domain.spec import Spec
from tarantella.store import admission, closing
from tests.contract.world import HOST, NOW, World, again, done


def running(world: World, *ids: str) -> list[int]:
    """Which of these runs are running, by their place in the list."""
    return [number for number, run in enumerate(ids) if world.status(run) is RunStatus.RUNNING]


def finish(world: World, run: str, worker: str) -> None:
    world.settle(worker, *(done(page) for page in world.take(run)))
    assert world.run(run).is_over


def yield_slots(world: World) -> list[str]:
    return world.write(admission.yield_slots, limit=world.max_running, now=world.now)


def test_five_runs_run_at_a_time_and_the_others_say_why_they_wait(world: World) -> None:
    ids = [world.submit("") for _ in range(7)]
    assert running(world, *ids) == [0, 1, 2, 3, 4]
    waiting = world.run(ids[5])
    assert (waiting.status, waiting.started_at) == (RunStatus.QUEUED, None)
    assert waiting.reason == "waits for one of the 5 runs before it to end"
    assert RUN_STARTED not in world.messages(ids[5])


def test_the_end_of_a_run_starts_the_next_in_the_same_transaction(world: World) -> None:
    ids, worker = [world.submit("") for _ in range(7)], world.worker()
    [page] = world.take(ids[2])
    assert world.settle(worker, done(page)).admitted == [ids[5]]
    assert running(world, *ids) == [0, 1, 3, 4, 5]
    assert world.run(ids[5]).reason is None
    assert world.messages(ids[5])[-1] == RUN_STARTED


def test_a_paused_run_gives_its_slot_back_and_queues_again_when_resumed(world: World) -> None:
    ids = [world.submit("") for _ in range(6)]
    world.pause(ids[0])
    assert running(world, *ids) == [1, 2, 3, 4, 5]
    assert world.resume(ids[0]) is RunStatus.QUEUED
    assert world.messages(ids[0]).count(RUN_STARTED) == 1
    world.cancel(ids[1])
    world.close(ids[1])
    assert running(world, *ids) == [0, 2, 3, 4, 5]
    assert world.messages(ids[0]).count(RUN_STARTED) == 1


def test_a_queued_run_that_is_paused_is_not_started(world: World) -> None:
    world.max_running = 1
    first, second, third = (world.submit("") for _ in range(3))
    assert world.pause(second) is RunStatus.PAUSED
    finish(world, first, world.worker())
    assert running(world, first, second, third) == [2]


def test_the_more_urgent_comes_first_and_of_equals_the_older(world: World) -> None:
    world.max_running = 1
    busy, worker = world.submit(""), world.worker()
    order = [Priority.LOW, Priority.MEDIUM, Priority.CRITICAL, Priority.HIGH, Priority.CRITICAL]
    ids = []
    for priority in order:
        world.now += 1
        ids.append(world.submit("", spec=Spec(priority=priority)))
    started = []
    finish(world, busy, worker)
    while now := running(world, *ids):
        started += now
        finish(world, ids[now[0]], worker)
    assert started == [2, 4, 3, 1, 0]


def test_a_low_run_is_not_overtaken_for_ever(world: World) -> None:
    world.max_running = 1
    busy, worker = world.submit(""), world.worker()
    low = world.submit("", spec=Spec(priority=Priority.LOW))
    world.now += 1_801
    urgent = world.submit("", spec=Spec(priority=Priority.CRITICAL))
    finish(world, busy, worker)
    assert running(world, low, urgent) == [0]


def test_a_run_whose_pages_all_wait_gives_its_slot_to_one_that_could_work(world: World) -> None:
    world.max_running = 1
    waiting, worker = world.submit("1", "2"), world.worker()
    world.settle(worker, *(again(page, NOW + 31) for page in world.take(waiting)))
    assert yield_slots(world) == []
    assert world.status(waiting) is RunStatus.RUNNING
    other = world.submit("x")
    assert yield_slots(world) == [other]
    row = world.run(waiting)
    assert (row.status, row.reason) == (RunStatus.QUEUED, admission.WAITS_FOR_ITS_PAGES)
    finish(world, other, worker)
    assert world.status(waiting) is RunStatus.QUEUED
    world.now += 31
    assert world.write(admission.admit, limit=1, now=world.now) == [waiting]
    assert world.run(waiting).reason is None
    assert world.messages(waiting).count(RUN_STARTED) == 1


def test_a_run_with_a_page_that_is_due_soon_keeps_its_slot(world: World) -> None:
    world.max_running = 1
    run, worker = world.submit("1", "2"), world.worker()
    one, two = world.take(run)
    world.settle(worker, again(one, NOW + 500), again(two, NOW + 29))
    world.submit("x")
    assert yield_slots(world) == []
    assert world.status(run) is RunStatus.RUNNING


def test_a_run_whose_host_asked_for_a_long_pause_waits_outside(world: World) -> None:
    world.max_running = 1
    run, worker = world.submit("1", "2"), world.worker()
    world.acquire(worker)
    world.settle(worker, news=[LaneNews(HOST, NOW + 100, Breaker(), clean=False)])
    other = world.submit("x", host="b.example")
    assert yield_slots(world) == [other]
    world.settle(worker, *(done(page) for page in world.take(other, "b.example")))
    assert world.status(run) is RunStatus.QUEUED
    world.now += 100
    assert world.write(admission.admit, limit=1, now=world.now) == [run]


def test_a_run_whose_host_is_left_alone_by_its_breaker_waits_outside(world: World) -> None:
    world.max_running = 1
    run, worker = world.submit("1", "2"), world.worker()
    world.acquire(worker)
    breaker = Breaker(BreakerState.OPEN, 5, NOW + 300)
    world.settle(worker, news=[LaneNews(HOST, 0.0, breaker, clean=False)])
    other = world.submit("x", host="b.example")
    assert yield_slots(world) == [other]
    world.settle(worker, *(done(page) for page in world.take(other, "b.example")))
    assert world.write(admission.admit, limit=1, now=NOW + 299) == []
    assert world.write(admission.admit, limit=1, now=NOW + 300) == [run]


def test_a_run_that_waits_outside_comes_in_to_be_closed_when_its_time_is_up(world: World) -> None:
    world.max_running = 1
    run, worker = world.submit("1", spec=Spec(deadline_seconds=600.0)), world.worker()
    world.settle(worker, *(again(page, NOW + 3_600) for page in world.take(run)))
    other = world.submit("x")
    assert yield_slots(world) == [other]
    finish(world, other, worker)
    world.now += 599
    assert world.write(admission.admit, limit=1, now=world.now) == []
    world.now += 1
    assert world.write(admission.admit, limit=1, now=world.now) == [run]
    assert world.read(closing.overdue, now=world.now) == [(run, Skip.DEADLINE)]
    world.submit("y")
    assert yield_slots(world) == [], "it is about to end"


def test_a_higher_limit_is_used_by_the_next_admission(world: World) -> None:
    ids = [world.submit("") for _ in range(8)]
    assert world.write(admission.admit, limit=7, now=world.now) == ids[5:7]
    assert world.write(admission.admit, limit=3, now=world.now) == []
    assert running(world, *ids) == [0, 1, 2, 3, 4, 5, 6]


def test_a_run_that_is_to_pause_keeps_the_reason_for_it_until_it_does(world: World) -> None:
    world.max_running = 1
    run, worker = world.submit("1", "2"), world.worker()
    world.claim(run, worker)
    world.settle(worker, *(again(page, NOW + 31) for page in world.take(run)))
    assert world.pause(run, "somebody said so") is RunStatus.RUNNING, "one of its slots is held"
    world.submit("x")
    yield_slots(world)
    assert (world.status(run), world.run(run).reason) == (RunStatus.RUNNING, "somebody said so")
