"""Workers own lanes and share slots; what a dead one held is free at once, and what it says is not heard."""

from __future__ import annotations

from random import Random

import pytest

from tarantella.domain.breaker import Breaker
from tarantella.domain.event import RUN_PAUSED
from tarantella.domain.outcome import LaneNews
from tarantella.domain.run import RunStatus, Wanted
from tarantella.domain.spec import Spec
from tarantella.store import duties, lanes, runs, slots, workers
from tests.contract.world import HOST, NOW, World, again, done, link

HOSTS = ("a.example", "b.example", "c.example", "d.example")


def spread(world: World, spec: Spec | None = None) -> str:
    """A run with one page on each of four hosts, the first of them waiting longest."""
    run = world.create("x", host=HOSTS[0], spec=spec)
    for host in HOSTS[1:]:
        world.now += 1
        world.write(runs.add_start_pages, run_id=run, links=[link("x", host)], strategy="http", now=world.now)
    return world.seal(run)


def names(found: list[lanes.Lane]) -> list[str]:
    return [lane.name for lane in found]


# -- lanes


def test_a_lane_has_one_owner_at_a_time(world: World) -> None:
    spread(world)
    one, two = world.worker(), world.worker()
    assert names(world.acquire(one, limit=3)) == ["a.example", "b.example", "c.example"]
    assert names(world.acquire(two)) == ["d.example"]
    assert world.acquire(one) == world.acquire(two) == []
    assert world.read(lanes.owners, names=["a.example", "d.example"]) == {one, two}


def test_what_waits_longest_is_taken_first(world: World) -> None:
    spread(world)
    worker = world.worker()
    assert [names(world.acquire(worker, limit=1)) for _ in range(4)] == [[host] for host in HOSTS]


def test_a_released_lane_can_be_taken_by_others_but_not_released_by_them(world: World) -> None:
    world.submit("")
    one, two = world.worker(), world.worker()
    world.acquire(one)
    world.write(lanes.release, worker_id=two, names=[HOST])
    assert world.acquire(two) == []
    world.write(lanes.release, worker_id=one, names=[HOST])
    assert names(world.acquire(two)) == [HOST]


def test_only_lanes_with_due_work_of_a_running_run_can_be_taken(world: World) -> None:
    world.max_running = 1
    run, worker = world.submit("", host="a.example"), world.worker()
    world.submit("", host="b.example")
    assert world.read(lanes.ready_count, only_run=None, now=world.now) == 1
    [page] = world.take(run)
    world.settle(worker, again(page, NOW + 10))
    assert world.acquire(worker) == []
    world.now += 10
    world.pause(run)
    assert names(world.acquire(worker)) == ["b.example"]


def test_a_worker_of_one_run_takes_only_lanes_in_which_that_run_stands(world: World) -> None:
    mine = world.submit("", host="a.example")
    world.submit("", host="b.example")
    assert world.read(lanes.ready_count, only_run=mine, now=world.now) == 1
    assert names(world.acquire(world.worker(mine), only_run=mine)) == ["a.example"]


# -- life and death


def test_a_beat_is_heard_only_from_the_living(world: World) -> None:
    worker = world.worker()
    assert world.write(workers.beat, worker_id=worker, hungry=False, now=NOW + 5)
    [row] = world.read(workers.alive)
    assert (row.id, row.beat, row.beat_at, row.hungry) == (worker, 1, NOW + 5, 0)
    world.declare_dead(worker)
    assert not world.write(workers.beat, worker_id=worker, hungry=False, now=NOW + 10)
    assert world.read(workers.alive) == []


def test_the_lanes_of_a_dead_worker_are_free_and_remember_that_it_died_there(world: World) -> None:
    world.submit("")
    for deaths in range(3):
        worker = world.worker()
        [lane] = world.acquire(worker)
        assert lane.unclean_deaths == deaths
        world.declare_dead(worker)


def test_a_clean_end_frees_the_lanes_and_counts_no_death(world: World) -> None:
    world.submit("")
    for _ in range(2):
        worker = world.worker()
        [lane] = world.acquire(worker)
        assert lane.unclean_deaths == 0
        world.retire(worker)


def test_a_batch_that_was_settled_forgets_the_deaths(world: World) -> None:
    world.submit("")
    first, second = world.worker(), world.worker()
    world.acquire(first)
    world.declare_dead(first)
    world.acquire(second)
    world.settle(second, news=[LaneNews(HOST, 0.0, Breaker(), clean=False)])
    assert world.read(lanes.owned, worker_id=second)[0].unclean_deaths == 1
    world.settle(second, news=[LaneNews(HOST, 0.0, Breaker(), clean=True)])
    assert world.read(lanes.owned, worker_id=second)[0].unclean_deaths == 0


def test_dying_twice_is_dying_once(world: World) -> None:
    keeper = world.worker()
    run = world.submit("", keeper=keeper)
    world.acquire(keeper)
    world.declare_dead(keeper)
    before = world.dump()
    world.declare_dead(keeper)
    world.retire(keeper)
    assert world.dump() == before
    assert world.status(run) is RunStatus.PAUSED


@pytest.mark.parametrize("clean", [True, False])
def test_the_run_of_a_command_that_is_gone_is_paused_as_interrupted(world: World, clean: bool) -> None:
    keeper = world.worker()
    run, other = world.submit("", keeper=keeper), world.submit("")
    world.claim(run, keeper)
    (world.retire if clean else world.declare_dead)(keeper)
    row = world.run(run)
    assert (row.status, row.wanted, row.reason) == (RunStatus.PAUSED, Wanted.PAUSE, workers.INTERRUPTED)
    assert (row.keeper, row.paused_at) == (None, NOW)
    assert world.messages(run).count(RUN_PAUSED) == 1
    assert world.read(slots.shares, run_ids=[run]) == {}
    assert world.status(other) is RunStatus.RUNNING
    assert world.resume(run) is RunStatus.RUNNING


def test_a_run_that_waited_for_a_slot_when_its_command_died_is_interrupted_too(world: World) -> None:
    world.max_running = 1
    world.submit("")
    keeper = world.worker()
    queued = world.submit("", keeper=keeper)
    world.declare_dead(keeper)
    assert (world.status(queued), world.run(queued).reason) == (RunStatus.PAUSED, workers.INTERRUPTED)


def test_a_run_that_was_paused_before_keeps_its_reason_and_says_it_once(world: World) -> None:
    keeper = world.worker()
    run = world.submit("", keeper=keeper)
    world.pause(run, "asked to")
    world.now += 50
    world.retire(keeper)
    row = world.run(run)
    assert (row.status, row.reason, row.paused_at, row.keeper) == (RunStatus.PAUSED, "asked to", NOW, None)
    assert world.messages(run).count(RUN_PAUSED) == 1


def test_a_run_that_is_being_cancelled_is_not_paused_by_a_death(world: World) -> None:
    keeper = world.worker()
    run = world.submit("", keeper=keeper)
    world.cancel(run)
    world.declare_dead(keeper)
    assert world.run(run).wanted is Wanted.CANCEL
    world.close(run)
    assert world.status(run) is RunStatus.CANCELLED


def test_the_slot_of_an_interrupted_run_goes_to_the_next(world: World) -> None:
    world.max_running = 1
    keeper = world.worker()
    world.submit("", keeper=keeper)
    following = world.submit("")
    world.declare_dead(keeper)
    assert world.status(following) is RunStatus.RUNNING


def test_long_dead_workers_are_forgotten_and_the_living_never(world: World) -> None:
    dead, living = world.worker(), world.worker()
    world.declare_dead(dead)
    assert world.write(workers.forget_old, before=NOW) == 0
    assert world.write(workers.forget_old, before=NOW + 1) == 1
    assert [row.id for row in world.read(workers.alive)] == [living]


def test_the_duties_are_done_by_one_worker_until_it_is_gone(world: World) -> None:
    one, two = world.worker(), world.worker()
    assert world.write(duties.take, worker_id=one)
    assert not world.write(duties.take, worker_id=two)
    assert world.write(duties.take, worker_id=one)
    world.retire(one)
    assert world.write(duties.take, worker_id=two)


def test_a_stand_that_is_wrong_is_repaired_in_slices(world: World) -> None:
    run = spread(world)
    world.write(lambda tx: tx.execute("UPDATE stands SET ready_at = 9e9"))
    place: tuple[str, str] | None = ("", "")
    seen = []
    while place is not None:
        seen.append(place)
        place = world.write(duties.repair_stands, after=place, limit=2)
    assert len(seen) == 3
    assert world.ready_at(run) == NOW


# -- slots


def test_a_worker_alone_gets_all_slots_of_a_run(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    assert world.claim(run, worker, concurrency=10) == 10
    assert world.read(slots.shares, run_ids=[run]) == {run: {worker: 10}}


def test_a_second_worker_gets_its_share_as_the_first_lets_go(world: World) -> None:
    run = world.submit("")
    one, two = sorted((world.worker(), world.worker()))
    assert world.claim(run, one, concurrency=10) == 10
    assert world.claim(run, two, concurrency=10) == 0
    assert world.claim(run, one, concurrency=10, busy=8) == 8
    assert world.claim(run, two, concurrency=10) == 2
    assert world.claim(run, one, concurrency=10, busy=3) == 5
    assert world.claim(run, two, concurrency=10) == 5
    world.write(slots.give_back, run_ids=[run], worker_id=one)
    assert world.claim(run, two, concurrency=10) == 10


def test_an_odd_slot_goes_to_one_of_them(world: World) -> None:
    run = world.submit("")
    three = sorted(world.worker() for _ in range(3))
    turns = [[world.claim(run, worker, concurrency=10) for worker in three] for _ in range(2)]
    assert sorted(turns[-1]) == [3, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_slots_are_never_more_than_the_run_allows_whoever_asks_in_whatever_order(world: World, seed: int) -> None:
    random, run = Random(seed), world.submit("")
    crowd = [world.worker() for _ in range(5)]
    concurrency = random.randint(1, 12)
    held = dict.fromkeys(crowd, 0)
    for _ in range(60):
        worker = random.choice(crowd)
        if random.random() < 0.2:
            world.write(slots.give_back, run_ids=[run], worker_id=worker)
            held[worker] = 0
        else:
            held[worker] = world.claim(run, worker, concurrency, busy=random.randint(0, held[worker]))
        assert sum(held.values()) <= concurrency
        assert world.read(slots.shares, run_ids=[run]).get(run, {}).get(worker, 0) == held[worker]


def test_a_worker_keeps_the_slots_that_it_is_using(world: World) -> None:
    run = world.submit("")
    one, two = sorted((world.worker(), world.worker()))
    world.claim(run, one, concurrency=4)
    world.claim(run, two, concurrency=4)
    assert world.claim(run, one, concurrency=4, busy=4) == 4
    assert world.claim(run, two, concurrency=4) == 0


def test_the_end_of_a_run_takes_its_slots_back(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.claim(run, worker)
    world.settle(worker, done(world.take(run)[0]))
    assert world.read(slots.shares, run_ids=[run]) == {}
