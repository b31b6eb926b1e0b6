"""The clock is set: nothing that was to happen later happens at once, or waits for an hour."""

from __future__ import annotations

import pytest

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.outcome import LaneNews
from tarantella.domain.page import Skip
from tarantella.domain.spec import Spec
from tarantella.store import closing, lanes, times, workers
from tests.contract.world import HOST, World, again

HOUR = 3_600.0
HERE = "here"
BEAT = 5.0


def beat(world: World, worker: str, elapsed: float = BEAT) -> float:
    """Follow the clock and beat, as workers do; by how much the clock was found to have been set."""
    jump = world.write(times.follow_clock, host=HERE, now=world.now, worker_id=worker, elapsed=elapsed)
    world.write(workers.beat, worker_id=worker, hungry=False, now=world.now)
    return jump


def clock_is_set(world: World, jump: float) -> None:
    """Five seconds pass, and somebody sets the clock."""
    world.now += BEAT + jump


def deadline(world: World, run: str) -> float | None:
    at = world.run(run).deadline_at
    return None if at is None else round(at - world.now, 3)


def test_a_clock_that_is_put_back_makes_nobody_wait(world: World) -> None:
    run, worker = world.submit("a", "b", spec=Spec(deadline_seconds=600.0)), world.worker()
    world.acquire(worker)
    waits = again(world.take_one(run, "a"), world.now + 60.0)
    news = LaneNews(HOST, world.now + 30.0, Breaker(BreakerState.OPEN, 5, world.now + 300.0), clean=False)
    world.settle(worker, waits, news=[news])
    clock_is_set(world, -HOUR)
    assert not world.take(run)
    assert beat(world, worker) == -HOUR
    world.check()
    assert [page.url for page in world.take(run)] == ["https://a.example/b"]
    due = world.pages(run)["https://a.example/a"]["next_at"]
    assert round(due - world.now, 3) == 60.0 - BEAT
    [lane] = world.read(lanes.owned, worker_id=worker)
    assert round(lane.not_before - world.now, 3) == 30.0 - BEAT
    assert round(lane.breaker.open_until - world.now, 3) == 300.0 - BEAT
    assert deadline(world, run) == 600.0 - BEAT


def test_a_clock_that_is_put_forward_ends_no_run(world: World) -> None:
    run, worker = world.submit("a", spec=Spec(deadline_seconds=600.0)), world.worker()
    clock_is_set(world, HOUR)
    assert world.read(closing.overdue, now=world.now) == [(run, Skip.DEADLINE)]
    assert beat(world, worker) == HOUR
    assert world.read(closing.overdue, now=world.now) == []
    assert deadline(world, run) == 600.0 - BEAT


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_of_several_workers_one_moves_the_times(world: World, jump: float) -> None:
    run = world.submit("a", spec=Spec(deadline_seconds=600.0))
    crew = [world.worker() for _ in range(3)]
    clock_is_set(world, jump)
    assert [beat(world, worker) for worker in crew] == [jump, 0.0, 0.0]
    world.now += BEAT
    assert [beat(world, worker) for worker in crew] == [0.0, 0.0, 0.0]
    assert deadline(world, run) == 600.0 - 2 * BEAT


def test_whoever_comes_after_the_clock_was_put_back_sees_it_by_the_beats_of_others(world: World) -> None:
    run, gone = world.submit("a"), world.worker()
    world.declare_dead(gone)
    clock_is_set(world, -HOUR)
    assert not world.take(run)
    jump = world.write(times.follow_clock, host=HERE, now=world.now)
    assert jump == BEAT - HOUR
    world.now += BEAT
    assert len(world.take(run)) == 1
    assert world.write(times.follow_clock, host=HERE, now=world.now) == 0.0


def test_whoever_comes_later_does_not_take_a_pause_for_a_clock_that_was_put_forward(world: World) -> None:
    run, worker = world.submit("a", spec=Spec(deadline_seconds=600.0)), world.worker()
    world.now += HOUR
    assert world.write(times.follow_clock, host=HERE, now=world.now) == 0.0
    # Nor does a worker whose beats could not be written for so long.
    assert beat(world, worker, elapsed=HOUR) == 0.0
    assert deadline(world, run) == 600.0 - HOUR


def test_another_machines_clock_is_not_ours(world: World) -> None:
    worker = world.worker()
    clock_is_set(world, -HOUR)
    assert world.write(times.follow_clock, host="elsewhere", now=world.now) == 0.0
    assert beat(world, worker) == -HOUR


@pytest.mark.parametrize("jump", [9.0, -9.0])
def test_a_clock_that_is_set_by_a_few_seconds_moves_nothing(world: World, jump: float) -> None:
    worker = world.worker()
    clock_is_set(world, jump)
    assert beat(world, worker) == 0.0


def test_who_was_declared_dead_moves_nothing_for_nobody_would_know_that_it_did(world: World) -> None:
    run, dead, alive = world.submit("a", spec=Spec(deadline_seconds=600.0)), world.worker(), world.worker()
    world.declare_dead(dead)
    clock_is_set(world, HOUR)
    assert [beat(world, dead), beat(world, alive)] == [0.0, HOUR]
    assert deadline(world, run) == 600.0 - BEAT
