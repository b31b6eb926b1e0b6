"""Sites: what people allow a host to be asked, what it has shown, and a breaker that somebody closes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.errors import InvalidInput, NotFound
from tarantella.domain.learning import REMEMBERED_SECONDS
from tarantella.domain.outcome import LaneNews
from tarantella.domain.site import FADES_BY_HALF, SitePolicy, Tally
from tarantella.store import admission, counters, lanes, sites
from tarantella.store.sites import Site
from tests.contract.world import HOST, NOW, World, again

OTHER = "b.example"


def tally(world: World, tallies: Mapping[str, Tally]) -> None:
    world.write(sites.tally, tallies=tallies, now=world.now)


def site(world: World, host: str = HOST) -> Site:
    return world.read(sites.get, host=host)


def allow(world: World, host: str = HOST, **policy: object) -> None:
    world.write(sites.set_policy, host=host, policy=SitePolicy(**policy), now=world.now)  # type: ignore[arg-type]


def test_a_host_that_nobody_has_heard_of_is_not_there(world: World) -> None:
    with pytest.raises(NotFound, match="no site 'never.example'"):
        site(world, "never.example")


def test_a_policy_is_kept_and_changed_as_a_whole(world: World) -> None:
    allow(world, per_host=2, delay=1.5, max_rate=0.25, obey_robots=True, paused=True)
    assert site(world).policy == SitePolicy(2, 1.5, 0.25, True, True)
    allow(world, per_host=3)
    assert site(world).policy == SitePolicy(per_host=3)


@pytest.mark.parametrize(("name", "value"), [("per_host", 0), ("delay", -0.1), ("delay", 3_601.0), ("max_rate", 0.0)])
def test_a_policy_out_of_bounds_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"{name} is {value}") as refused:
        SitePolicy(**{name: value})  # type: ignore[arg-type]
    assert refused.value.field == name


def test_what_is_tallied_adds_up(world: World) -> None:
    tally(world, {HOST: Tally(4, Counter({"timeout": 1}), 400, slots=2.0, slots_limit=8, delay=0.5)})
    world.now += 5
    tally(world, {HOST: Tally(2, Counter({"timeout": 1, "network": 1}), 100), OTHER: Tally(1, Counter(), 10)})
    seen = site(world)
    assert (seen.requests, seen.failures, dict(seen.codes)) == (6, 3, {"network": 1, "timeout": 2})
    assert (seen.slots, seen.slots_limit, seen.delay) == (2.0, 8, 0.5)
    assert (seen.last_ok_at, seen.last_failed_at, seen.seen_at) == (NOW, NOW + 5, NOW + 5)
    assert site(world, OTHER).requests == 1


def test_what_is_long_past_counts_less(world: World) -> None:
    tally(world, {HOST: Tally(100, Counter({"timeout": 100}), 100)})
    world.now += FADES_BY_HALF
    tally(world, {HOST: Tally(50, Counter(), 50)})
    seen = site(world)
    assert seen.recent_requests == pytest.approx(100)
    assert seen.recent_failures == pytest.approx(50)


def test_a_tally_leaves_the_policy_alone_and_a_policy_the_tally(world: World) -> None:
    allow(world, per_host=1)
    tally(world, {HOST: Tally(3, Counter(), 30)})
    allow(world, per_host=2)
    assert (site(world).policy.per_host, site(world).requests) == (2, 3)


def test_hosts_are_listed_in_order_and_in_slices(world: World) -> None:
    for number in range(5):
        world.submit("", host=f"h{number}.example")
    allow(world, "h9.example", paused=True)
    world.write(lambda tx: tx.execute("INSERT INTO lanes (name) VALUES ('!duties')"))
    found: list[str] = []
    while some := world.read(sites.listed, after=found[-1] if found else "", limit=2):
        found += [each.host for each in some]
    assert found == ["h0.example", "h1.example", "h2.example", "h3.example", "h4.example", "h9.example"]
    assert [each.host for each in world.read(sites.listed, paused=True)] == ["h9.example"]
    assert world.read(sites.listed, breaker_open=True) == []


def test_a_lane_of_a_paused_host_is_left_where_it_is(world: World) -> None:
    world.submit("")
    allow(world, paused=True)
    worker = world.worker()
    assert world.write(lanes.acquire, worker_id=worker, limit=10, only_run=None, now=NOW) == []
    assert world.read(lanes.ready_count, only_run=None, now=NOW) == 0
    allow(world, paused=False)
    [taken] = world.write(lanes.acquire, worker_id=worker, limit=10, only_run=None, now=NOW)
    assert taken.name == HOST


def test_a_run_at_a_paused_host_gives_its_slot_to_one_that_can_use_it(world: World) -> None:
    world.max_running = 1
    waiting = world.submit("")
    allow(world, paused=True)
    other = world.submit("", host=OTHER)
    world.write(admission.yield_slots, limit=1, now=NOW)
    assert (world.status(waiting), world.status(other)) == ("queued", "running")
    assert world.run(waiting).reason == admission.WAITS_FOR_ITS_PAGES


def test_an_owner_hears_of_the_policy_and_of_a_reset(world: World) -> None:
    world.submit("")
    assert rulings(world) == {}
    allow(world, per_host=2)
    world.write(sites.reset_breaker, host=HOST)
    assert rulings(world) == {HOST: sites.Ruling(SitePolicy(per_host=2), 1)}


# -- what a site teaches


def rulings(world: World) -> dict[str, sites.Ruling]:
    return world.read(sites.rulings, names=[HOST, OTHER], learned_since=world.now - REMEMBERED_SECONDS)


def saw(world: World, *sights: tuple[str, str | None], times: int = 1) -> None:
    """Tell of pages that were had or refused."""
    [page] = world.take(world.submit("a"))
    told = Tally()
    for sight in sights * times:
        told.saw(sight, page)
    tally(world, {HOST: told})


def learned(world: World) -> str | None:
    found = site(world).learned
    return found.strategy if found is not None else None


def test_a_site_that_refuses_http_and_gives_to_a_browser_is_remembered_for_it(world: World) -> None:
    saw(world, ("http", "blocked"), times=5)
    assert learned(world) is None, "nothing is known that works"
    assert rulings(world) == {}
    saw(world, ("browser", None))
    assert learned(world) == "browser"
    assert rulings(world) == {HOST: sites.Ruling(learned="browser")}
    evidence = site(world).evidence
    assert (dict(evidence["http"].refused), evidence["http"].ok, evidence["browser"].ok) == ({"blocked": 5}, 0, 1)
    assert evidence["http"].url.endswith("/a")
    assert evidence["http"].run_id


def test_a_site_that_gives_over_http_costs_its_owner_nothing(world: World) -> None:
    saw(world, ("http", None), times=3)
    assert learned(world) == "http"
    assert rulings(world) == {}


def test_what_was_learned_is_forgotten_in_time_and_what_is_pinned_is_not(world: World) -> None:
    saw(world, ("http", "needs_render"), times=5)
    saw(world, ("browser", None))
    allow(world, strategy="http")
    world.now += REMEMBERED_SECONDS + 1
    assert rulings(world) == {HOST: sites.Ruling(SitePolicy(strategy="http"))}
    allow(world)
    assert rulings(world) == {HOST: sites.Ruling()}
    saw(world, ("http", None))
    assert site(world).evidence["http"].refused == {}, "what is older than it is worth makes room for the new"
    assert learned(world) == "http"


def test_a_strategy_that_can_not_be_pinned_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="strategy is 'api_replay'"):
        allow(world, strategy="api_replay")


def test_a_breaker_that_was_reset_is_closed_for_whoever_comes_next(world: World) -> None:
    run = world.submit("")
    worker = world.worker()
    world.acquire(worker)
    [page] = world.take(run)
    broken = Breaker(BreakerState.OPEN, 5, NOW + 300, 2)
    world.settle(worker, again(page, NOW + 1), news=[LaneNews(HOST, 0.0, broken, False)])
    assert site(world).breaker == broken
    world.write(sites.reset_breaker, host=HOST)
    assert site(world).breaker == Breaker()


def test_counts_of_all_workers_are_added_and_never_lost(world: World) -> None:
    world.write(counters.add, counted={"a_total": 2, 'b_total{code="x"}': 1, "c_total": 0})
    world.write(counters.add, counted={"a_total": 3})
    assert world.read(counters.totals) == {"a_total": 5, 'b_total{code="x"}': 1}
