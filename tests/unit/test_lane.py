"""A lane in its owner's hands: whose turn it is, when its host may be asked, and what is remembered of it."""

from __future__ import annotations

from collections import Counter

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.failure import Failure
from tarantella.domain.run import Priority, Wanted
from tarantella.domain.spec import Spec
from tarantella.engine.clock import Clock
from tarantella.engine.lane import FOREVER, OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.store.lanes import Lane
from tests.unit.made import Time, filled, lane, pages, served


def test_rendering_is_measured_by_its_own_and_shares_the_slots_with_http() -> None:
    made = lane(Time())
    made.throttle = made.throttle.limited_to(8)
    made.succeeded(0.01)
    for _ in range(4):
        made.succeeded(2.0, rendered=True)
    assert made.throttle.slots == 6, "two seconds are quick for a browser"
    assert made.throttle.usual == 0.01
    for _ in range(20):
        made.succeeded(20.0, rendered=True)
    assert made.throttle.slots < 6


def picked(made: OwnedLane, runs: dict[str, ServedRun], times: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for _ in range(times):
        page = made.pages.pick(runs)
        if page is not None:
            found[page.run_id] += 1
    return found


# -- whose turn it is


def test_runs_of_the_same_priority_take_turns() -> None:
    one, two = served("one"), served("two")
    assert picked(filled(Time(), one, two), {"one": one, "two": two}, 20) == {"one": 10, "two": 10}


def test_a_more_urgent_run_gets_more_turns_and_the_other_still_some() -> None:
    high, low = (
        served("high", spec=Spec(priority=Priority.CRITICAL)),
        served("low", spec=Spec(priority=Priority.LOW)),
    )
    assert picked(filled(Time(), high, low), {"high": high, "low": low}, 90) == {"high": 80, "low": 10}


def test_a_run_without_slots_or_with_a_wanted_pause_is_passed_over() -> None:
    full, paused, free = served("full", slots=0), served("paused", wanted=Wanted.PAUSE), served("free")
    runs = {run.id: run for run in (full, paused, free)}
    assert picked(filled(Time(), full, paused, free), runs, 30) == {"free": 30}


def test_a_lane_lines_up_for_slots_of_the_runs_that_could_use_them() -> None:
    full, paused = served("full", slots=0), served("paused", wanted=Wanted.PAUSE)
    filled(Time(), full, paused).pages.line_up("a.example", {"full": full, "paused": paused})
    assert list(full.line) == ["a.example"]
    assert list(paused.line) == []


def test_a_page_that_was_put_back_is_the_next_one() -> None:
    one = served("one")
    made = filled(Time(), one)
    first = made.pages.pick({"one": one})
    assert first is not None
    made.pages.put_back(first)
    assert made.pages.pick({"one": one}) is first
    assert first.id in made.pages.held


def test_pages_of_a_run_that_no_longer_stands_here_are_let_go() -> None:
    one, two = served("one"), served("two")
    made = filled(Time(), one, two, count=3)
    made.pages.stands({"two"})
    assert made.pages.held == {1_000, 1_001, 1_002}
    assert made.pages.queued == 3


def test_a_page_that_is_in_hand_is_not_added_again() -> None:
    one = served("one")
    made = filled(Time(), one, count=3)
    made.pages.add("one", pages("one", 0, 4), 4)
    assert made.pages.queued == 4


def test_what_is_taken_and_not_yet_stored_is_unsettled() -> None:
    one = served("one")
    made = filled(Time(), one, count=3)
    assert made.pages.unsettled == 0
    page = made.pages.pick({"one": one})
    assert page is not None and made.pages.unsettled == 1
    made.settled([page.id])
    assert made.pages.unsettled == 0


# -- whether its host may be asked


def test_the_strictest_of_the_runs_that_stand_here_decides() -> None:
    one, two = (
        served("one", spec=Spec(per_host=8, delay=1.0)),
        served("two", spec=Spec(per_host=3, delay=0.0)),
    )
    made = filled(Time(), one, two)
    made.limits({"one": one, "two": two})
    assert (made.throttle.limit, made.delay) == (3, 1.0)


def test_who_was_not_asked_after_all_leaves_the_distance_to_who_was() -> None:
    time, one = Time(), served("one", spec=Spec(delay=5.0))
    made = lane(time)
    made.pages.stands({"one"})
    made.limits({"one": one})
    made.start()
    made.spared()
    made.end()
    assert made.wait_time() == 0
    made.start()
    made.end()
    time.seconds += 5
    made.start()
    made.spared()
    made.end()
    assert made.wait_time() == 0
    made.start()
    made.end()
    assert made.wait_time() == 5


def test_a_delay_and_a_crawl_delay_are_kept_whichever_is_longer() -> None:
    time, one = Time(), served("one", spec=Spec(delay=2.0))
    made = filled(time, one)
    made.limits({"one": one})
    made.start()
    assert made.wait_time() == 2.0
    assert made.set_crawl_delay("anybody", 5.0)
    assert made.wait_time() == 5.0
    assert made.set_crawl_delay("anybody", 1.0)
    assert made.delay == 2.0


def test_of_the_crawl_delays_of_a_host_for_several_the_longest_is_kept() -> None:
    made = lane(Time())
    assert not made.set_crawl_delay("us", 0.0)
    assert made.set_crawl_delay("them", 5.0)
    assert not made.set_crawl_delay("them", 5.0), "it is known"
    assert not made.set_crawl_delay("us", 0.0)
    assert made.delay == 5.0
    assert made.set_crawl_delay("them", 0.0)
    assert made.delay == 0.0


def test_only_as_many_requests_as_there_are_slots_are_started() -> None:
    made = lane(Time())
    assert made.wait_time() == 0
    made.start()
    assert made.wait_time() == FOREVER
    made.end()
    assert made.wait_time() == 0


def test_a_wait_that_was_stored_is_kept_by_the_next_owner_whatever_the_wall_clock_does() -> None:
    time = Time()
    made = OwnedLane(Lane("a.example", time.seconds + 60, Breaker(), 0), time.clock)
    assert made.wait_time() == 60
    time.seconds += 61
    assert made.wait_time() == 0


def test_a_longer_wait_extends_a_shorter_one_and_is_news_only_once() -> None:
    time = Time()
    made = lane(time)
    assert made.wait(10)
    assert not made.wait(30)
    assert not made.wait(5)
    assert made.wait_time() == 30
    time.seconds += 31
    assert made.wait(1)


def test_only_what_began_before_the_host_asked_for_a_pause_is_excused() -> None:
    time = Time()
    made = lane(time)
    assert not made.excuses(time.seconds - 1)
    made.wait(10)
    assert made.excuses(time.seconds - 1)
    assert not made.excuses(time.seconds)
    assert not made.excuses(time.seconds + 1)


def test_an_open_breaker_lets_one_probe_through_when_its_time_is_up() -> None:
    time = Time()
    made = lane(time, breaker=Breaker(BreakerState.OPEN, 5, time.seconds + 300))
    assert made.wait_time() == 300
    time.seconds += 300
    assert made.wait_time() == 0
    made.start()
    assert made.breaker.state is BreakerState.HALF_OPEN
    assert made.wait_time() == FOREVER
    made.end()
    made.failed(Failure.TIMEOUT, None)
    assert made.wait_time() == 300


def test_trouble_makes_a_host_slower_and_a_missing_page_does_not_make_it_ill() -> None:
    made = lane(Time())
    for _ in range(4):
        made.failed(Failure.BAD_RESPONSE, 500)
    made.answered()
    made.failed(Failure.BAD_RESPONSE, 500)
    assert (made.breaker.state, made.breaker.failures, made.throttle.slots) == (BreakerState.CLOSED, 1, 1)


# -- what is stored of it


def test_nothing_is_told_of_a_lane_that_taught_nothing() -> None:
    assert filled(Time(), served("one")).news(200) is None


def test_a_wait_is_told_once() -> None:
    time = Time()
    made = filled(time, served("one"))
    made.wait(10)
    news = made.news(200)
    assert news is not None
    assert (news.lane, news.not_before, news.clean) == ("a.example", time.seconds + 10, False)
    assert made.news(200) is None


def test_what_is_told_is_in_the_time_of_the_clock_as_it_is_now() -> None:
    time, put = Time(), 0.0
    made = OwnedLane(Lane("a.example", 0.0, Breaker(), 0), Clock(lambda: time.seconds + put, time.now))
    made.wait(10)
    for _ in range(5):
        made.failed(Failure.NETWORK, None)
    put = -3_600.0
    news = made.news(200)
    assert news is not None
    assert (news.not_before, news.breaker.open_until) == (time.seconds + put + 10, time.seconds + put + 300)


def test_a_lane_whose_owners_died_twice_is_tasted_until_a_batch_is_settled() -> None:
    assert not lane(Time(), deaths=1).tasting
    made = lane(Time(), deaths=2)
    assert made.tasting
    made.pages.stands({"one"})
    # Nothing in hand means nothing yet: the pages are only being read.
    assert made.news(3) is None
    made.pages.add("one", pages("one", 0, 5), 10)
    for number in range(3):
        assert made.tasting
        assert made.news(3) is None
        made.settled([number])
    news = made.news(3)
    assert news is not None and news.clean
    assert not made.tasting


def test_a_lane_that_was_drained_has_killed_nobody() -> None:
    made = lane(Time(), deaths=2)
    made.pages.stands({"one"})
    made.pages.add("one", pages("one", 0, 1), 10)
    made.pages.pick({"one": served("one")})
    made.settled([0])
    news = made.news(200)
    assert news is not None and news.clean
