"""A fleet in the database: who can do what, which message woke whom, and what keeps a run."""

from __future__ import annotations

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.outcome import LaneNews
from tarantella.domain.site import SitePolicy
from tarantella.domain.spec import Spec
from tarantella.domain.vitals import Vitals
from tarantella.store import lanes, runs, sites, wakes, workers
from tarantella.store.standing import standings
from tarantella.store.wakes import Wake
from tests.contract.world import HOST, NOW, World, done, link

BOTH, PLAIN = ["browser", "http"], ["http"]


def acquired(world: World, worker_id: str, has: list[str] | None) -> list[str]:
    found = world.write(lanes.acquire, worker_id=worker_id, limit=10, only_run=None, now=world.now, has=has)
    return [lane.name for lane in found]


def why(world: World, run_id: str, has: list[str]) -> str | None:
    found = world.read(standings, run_ids=[run_id], has=has, now=world.now)
    return found[run_id].why_it_waits(world.now)


# -- what keeps a run


def test_a_host_that_is_left_alone_keeps_a_run_also_while_somebody_owns_it(world: World) -> None:
    run, worker = world.submit("x"), world.worker()
    acquired(world, worker, BOTH)
    assert why(world, run, BOTH) is None
    broken = Breaker(BreakerState.OPEN, 5, NOW + 300, 2)
    world.settle(worker, news=[LaneNews(HOST, NOW, broken, clean=False)])
    assert why(world, run, BOTH) == (
        "of its hosts, 1 has failed too often and its breaker is open; the next is due in 300 s"
    )
    here = world.read(standings, run_ids=[run], has=BOTH, now=world.now, lane=HOST)[run]
    assert here.why_a_page_waits(world.now) == (
        "its host has failed too often and its breaker is open; the next is due in 300 s"
    )
    assert world.read(standings, run_ids=[run], has=BOTH, now=world.now, lane="elsewhere") == {}


# -- needs


def test_a_lane_that_needs_a_browser_goes_to_workers_that_have_one(world: World) -> None:
    world.submit("x", spec=Spec(strategy="browser"))
    plain, able = world.worker(), world.worker()
    # Nobody knows what a lane needs before somebody has looked into it.
    assert acquired(world, plain, PLAIN) == [HOST]
    world.write(lanes.release, worker_id=plain, names=[HOST], lacked={HOST: "browser"})
    assert acquired(world, plain, PLAIN) == []
    assert world.read(lanes.ready_count, only_run=None, now=world.now, has=PLAIN) == 0
    assert world.read(lanes.ready_count, only_run=None, now=world.now, has=BOTH) == 1
    assert acquired(world, able, BOTH) == [HOST]


def test_where_nobody_else_could_do_it_needs_do_not_matter(world: World) -> None:
    world.submit("x", spec=Spec(strategy="browser"))
    one = world.worker()
    acquired(world, one, None)
    world.write(lanes.release, worker_id=one, names=[HOST], lacked={HOST: "browser"})
    assert acquired(world, one, None) == [HOST]


def test_a_need_is_gone_when_no_page_that_waits_has_it(world: World) -> None:
    browsed, plain = world.submit("x", spec=Spec(strategy="browser")), world.submit("y")
    one, two = world.worker(), world.worker()
    acquired(world, one, PLAIN)
    world.write(lanes.release, worker_id=one, names=[HOST], lacked={HOST: "browser"})
    acquired(world, two, BOTH)
    world.write(lanes.release, worker_id=two, names=[HOST])
    assert acquired(world, one, PLAIN) == []
    acquired(world, two, BOTH)
    world.settle(two, done(world.take_one(browsed, "x")))
    world.write(lanes.release, worker_id=two, names=[HOST])
    assert acquired(world, one, PLAIN) == [HOST]
    assert world.take(plain)


# -- wakes


def test_what_a_message_woke_is_found_by_its_id_and_by_the_run(world: World) -> None:
    run, other, worker = world.submit("x"), world.submit("y"), world.worker()
    woken = [Wake("m1", run, NOW), Wake("m1", other, NOW), Wake("m2", run, NOW + 1)]
    world.write(wakes.note, worker_id=worker, wakes=woken)
    world.write(wakes.note, worker_id=worker, wakes=woken[:1])
    assert [found.task_id for found in world.read(wakes.listed, run_id=run)] == ["m2", "m1"]
    assert {found.run_id for found in world.read(wakes.listed, task_id="m1")} == {run, other}
    [known] = world.read(wakes.listed, task_id="m2")
    assert (known.worker_id, known.host, known.pid) == (worker, "here", 1)


def test_wakes_go_with_their_run_and_with_time(world: World) -> None:
    run, other, worker = world.submit("x"), world.submit("y"), world.worker()
    world.write(wakes.note, worker_id=worker, wakes=[Wake("m1", run, NOW), Wake("m2", other, NOW + 10)])
    world.cancel(run)
    world.close(run)
    while not world.write(runs.delete_some, run_id=run):
        pass
    assert [found.task_id for found in world.read(wakes.listed)] == ["m2"]
    assert world.write(wakes.forget_old, before=NOW + 11) == 1
    assert world.read(wakes.listed) == []


# -- who is there


def test_a_worker_tells_of_itself_with_every_beat(world: World) -> None:
    worker = world.worker()
    vitals = Vitals(1, 2, 3, 4.0, lanes=5, rate=6.5, memory=7_000, progress_at=NOW)
    world.write(workers.beat, worker_id=worker, hungry=False, now=NOW, vitals=vitals)
    [row] = world.read(workers.alive)
    assert (row.lanes, row.rate, row.memory, row.progress_at) == (5, 6.5, 7_000, NOW)


def test_owners_of_the_lanes_of_a_run_are_found(world: World) -> None:
    run, worker = world.submit("x"), world.worker()
    assert world.read(lanes.owners_for, run_ids=[run]) == set()
    world.acquire(worker)
    assert world.read(lanes.owners_for, run_ids=[run, "nobody's"]) == {worker}


# -- what keeps a run


def test_a_run_that_is_worked_on_or_could_be_is_kept_by_nothing(world: World) -> None:
    run = world.submit("x")
    assert why(world, run, PLAIN) is None
    world.acquire(world.worker())
    assert why(world, run, PLAIN) is None


def test_what_keeps_all_hosts_of_a_run_is_told(world: World) -> None:
    run = world.create("x")
    world.write(runs.add_start_pages, run_id=run, links=[link("x", "b.example")], strategy="http", now=NOW)
    world.seal(run)
    worker = world.worker()
    world.acquire(worker)
    broken = Breaker(BreakerState.OPEN, 5, NOW + 300)
    world.settle(worker, news=[LaneNews(HOST, 0.0, broken, False), LaneNews("b.example", NOW + 60, Breaker(), False)])
    world.write(lanes.release, worker_id=worker, names=[HOST, "b.example"])
    told = why(world, run, PLAIN)
    assert told is not None
    assert "1 has failed too often and its breaker is open" in told
    assert "1 must be left alone for a while" in told and "the next is due in 60 s" in told
    world.write(sites.set_policy, host=HOST, policy=SitePolicy(paused=True), now=NOW)
    assert "1 is paused by its policy" in str(why(world, run, PLAIN))


def test_a_run_that_waits_for_a_browser_says_so(world: World) -> None:
    run, worker = world.submit("x", spec=Spec(strategy="browser")), world.worker()
    acquired(world, worker, PLAIN)
    world.write(lanes.release, worker_id=worker, names=[HOST], lacked={HOST: "browser"})
    assert why(world, run, PLAIN) == "of its hosts, 1 needs a browser, which no worker has"
    assert why(world, run, BOTH) is None
