"""The whole as people see it: runs that exist for them, and hosts rather than parts of hosts."""

from __future__ import annotations

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.outcome import LaneNews
from tarantella.domain.run import RunStatus
from tarantella.store import admission, overview, runs, system
from tarantella.store.overview import BrokenHost
from tests.contract.world import HOST, NOW, World, again, link

PARTS = (HOST, f"{HOST}#1", f"{HOST}#2")


def test_half_of_a_run_is_counted_nowhere(world: World) -> None:
    world.submit("x")
    world.create("half", "submitted")
    deleted = world.submit("half", "deleted")
    world.cancel(deleted)
    world.close(deleted)
    world.write(runs.delete_some, run_id=deleted, limit=1)
    seen = world.read(system.census, now=NOW)
    assert seen.runs == world.read(overview.runs_by_status) == {"running": 1}
    assert seen.pending_pages == 1
    assert world.read(system.waiting_runs, limit=10) == []
    while not world.write(runs.delete_some, run_id=deleted):
        pass


def test_the_queue_is_as_old_as_the_oldest_run_in_it_that_has_not_begun(world: World) -> None:
    world.max_running = 1
    begun, worker = world.submit("1"), world.worker()
    world.settle(worker, *(again(page, NOW + 500) for page in world.take(begun)))
    world.now += 60
    assert world.submit("x") and world.submit("y")
    world.write(admission.yield_slots, limit=1, now=world.now)
    assert world.run(begun).status is RunStatus.QUEUED
    assert world.read(system.census, now=world.now).oldest_queued_at == NOW + 60


def test_a_host_in_parts_is_told_of_once_and_as_its_worst_part_is(world: World) -> None:
    run, worker = world.create("x"), world.worker()
    found = [link(f"{n}")._replace(lane=lane) for n, lane in enumerate([*PARTS, "b.example", "c.example"])]
    world.write(runs.add_start_pages, run_id=run, links=found, strategy="http", now=NOW)
    world.seal(run)
    world.now += 1  # pages that were found together are due a tiny bit apart
    world.acquire(worker)
    news = [
        LaneNews(PARTS[0], 0.0, Breaker(failures=2), True),
        LaneNews(PARTS[1], 0.0, Breaker(BreakerState.OPEN, 5, NOW + 300, 1), True),
        LaneNews(PARTS[2], 0.0, Breaker(BreakerState.HALF_OPEN, 7, NOW + 900, 1), True),
        LaneNews("b.example", 0.0, Breaker(failures=1), True),
    ]
    world.settle(worker, news=news)
    assert world.read(overview.broken_hosts) == [BrokenHost(HOST, 7, NOW + 300), BrokenHost("b.example", 1, 0.0)]
