"""What will not be done any more is closed, and nothing that still has something to say."""

from __future__ import annotations

import asyncio

from tarantella.domain.breaker import CLOSED, STAYS_OPEN, Breaker, BreakerState
from tarantella.domain.event import DEADLINE_REACHED
from tarantella.domain.outcome import LaneNews
from tarantella.domain.page import Skip
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.engine.clock import Clock
from tarantella.engine.closer import Closer
from tarantella.engine.holdings import Holdings
from tarantella.engine.lane import OwnedLane
from tarantella.store.lanes import Lane
from tests.contract.world import HOST, NOW, World, again, done, failed, link

GIVEN_UP = NOW + 1  # when the last probe failed
HOPELESS = Breaker(BreakerState.OPEN, 5, GIVEN_UP + STAYS_OPEN, failed_probes=3)


class Desk:
    """A closer with one lane in its hands."""

    def __init__(self, world: World, breaker: Breaker = HOPELESS) -> None:
        self.clock = Clock(lambda: world.now, lambda: world.now)
        self.lane = OwnedLane(Lane(HOST, 0.0, CLOSED, 0), self.clock)
        self.lane.breaker = breaker
        holdings = Holdings(self.clock.wall, lanes={HOST: self.lane})
        self.worker = world.worker()
        self.closer = Closer(world.database, holdings, self.worker, max_running=5, clock=self.clock)

    def close_hopeless(self) -> set[str]:
        return asyncio.run(self.closer.close_hopeless(self.lane))


def test_the_pages_of_a_dead_host_are_closed_and_its_probes_forgotten(world: World) -> None:
    run, desk = world.submit("1", "2"), Desk(world)
    desk.lane.pages.stands({run})
    desk.lane.pages.add(run, world.take(run), 10)
    assert desk.close_hopeless() == {run}
    assert set(world.states(run).values()) == {"skipped(host_down)"}
    assert world.status(run) is RunStatus.FAILED
    assert (desk.lane.pages.queued, desk.lane.pages.held, desk.lane.breaker.failed_probes) == (0, set(), 0)


def test_a_host_that_is_not_given_up_keeps_its_pages(world: World) -> None:
    run, desk = world.submit("1"), Desk(world, Breaker(BreakerState.OPEN, 5, NOW + 300, failed_probes=2))
    desk.lane.pages.stands({run})
    assert desk.close_hopeless() == set()
    assert set(world.states(run).values()) == {"pending"}


def test_what_the_last_probe_has_to_say_is_stored_before_its_page_is_closed(world: World) -> None:
    run, desk = world.submit("1", "2"), Desk(world)
    desk.lane.pages.stands({run})
    pages = world.take(run)
    desk.lane.pages.add(run, pages[1:], 10)
    desk.lane.pages.held.add(pages[0].id)  # the probe: no longer in flight, not yet settled
    assert desk.close_hopeless() == set()
    assert set(world.states(run).values()) == {"pending"}
    desk.lane.settled([pages[0].id])
    assert desk.close_hopeless() == {run}


def test_what_came_after_the_last_probe_of_a_host_had_failed_waits_for_another(world: World) -> None:
    waited, desk = world.submit("1", "2", "3"), Desk(world)
    tried, _, finder = world.take(waited)
    world.settle(desk.worker, again(tried, GIVEN_UP + 30))
    world.now = GIVEN_UP + 0.5
    world.settle(desk.worker, done(finder, link("found")))
    other = world.submit("other")
    desk.lane.pages.stands({waited, other})
    assert desk.close_hopeless() == set()
    assert world.states(waited) == {
        "1": "skipped(host_down)",
        "2": "skipped(host_down)",
        "3": "done",
        "found": "pending",
    }
    assert world.states(other) == {"other": "pending"}
    # They are not given up with the next look either, but when as many probes have failed again.
    assert desk.close_hopeless() == set()
    assert desk.lane.breaker.state is BreakerState.OPEN


def test_what_was_taken_back_after_the_last_probe_had_failed_waits_for_another(world: World) -> None:
    run, desk = world.submit("1"), Desk(world)
    world.settle(desk.worker, failed(world.take(run)[0]))
    world.now = GIVEN_UP + 0.5
    world.retry_failed(run)
    desk.lane.pages.stands({run})
    assert desk.close_hopeless() == set()
    assert world.states(run) == {"1": "pending"}


def test_who_gets_the_lane_of_a_host_that_was_given_up_probes_it_again(world: World) -> None:
    given_up, desk = world.submit("1"), Desk(world)
    world.acquire(desk.worker)
    # The last probe fails, and its page was the only one: the command ends with it, and closes nothing any more.
    [page] = world.take(given_up)
    world.settle(desk.worker, failed(page, "network"), news=[LaneNews(HOST, 0.0, HOPELESS, False)])
    world.retire(desk.worker)
    later, desk = world.submit("2"), Desk(world)
    [taken] = world.acquire(desk.worker)
    desk.lane = OwnedLane(taken, desk.clock)
    desk.lane.pages.stands({later})
    assert desk.close_hopeless() == set()
    assert world.states(later) == {"2": "pending"}
    world.now = HOPELESS.open_until
    assert desk.lane.wait_time() == 0.0
    desk.lane.start()
    assert desk.lane.breaker.state is BreakerState.HALF_OPEN


def test_a_deadline_is_announced_once_however_many_workers_see_it(world: World) -> None:
    run = world.submit("1", "2", spec=Spec(deadline_seconds=1.0))
    world.now += 2
    for _ in range(2):
        asyncio.run(Desk(world).closer.close_run(run, Skip.DEADLINE))
    assert world.messages(run).count(DEADLINE_REACHED) == 1
    assert world.run(run).reason == "deadline"
    assert set(world.states(run).values()) == {"skipped(deadline)"}
