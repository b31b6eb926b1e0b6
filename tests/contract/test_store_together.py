"""Many at once: whoever meets whom, one of them goes first, and what holds for one alone still holds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

import pytest

from tarantella.domain.errors import Conflict, WorkerDead
from tarantella.domain.event import RUN_REQUEUED
from tarantella.domain.outcome import Link
from tarantella.domain.page import Page, Skip
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.store import lanes, records, runs, settle, slots, times, workers
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.tx import Tx
from tests.contract.world import NOW, World, again, done, failed, link

T = TypeVar("T")
A, B = "a.example", "b.example"
PATIENCE = 20.0


class Crowd:
    """Several processes, each with connections of its own; here they are threads."""

    def __init__(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place = place
        self._worlds: list[World] = []
        self.undone: list[str] = []
        self._pool = ThreadPoolExecutor(8)
        self._monkeypatch = monkeypatch

    def member(self, max_running: int = 5) -> World:
        world = World(Database(self._place, patience=PATIENCE), max_running=max_running)
        pause = world.database.dialect.pause

        def noted(error: Exception) -> float | None:
            if getattr(getattr(error, "orig", None), "sqlstate", None) is not None:
                self.undone.append(type(error).__name__ + str(error))
            return pause(error)

        self._monkeypatch.setattr(world.database.dialect, "pause", noted)
        self._worlds.append(world)
        return world

    def together(self, *works: Callable[[], T]) -> list[T]:
        """Begin all of these at the same moment and wait for all of them."""
        start = threading.Barrier(len(works))

        def begin(work: Callable[[], T]) -> T:
            start.wait(PATIENCE)
            return work()

        return [future.result(PATIENCE * 2) for future in [self._pool.submit(begin, work) for work in works]]

    def close(self) -> None:
        self._pool.shutdown()
        for world in self._worlds:
            world.database.close()


@pytest.fixture
def crowd(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crowd]:
    """Nobody waits for each other for ever: that is not found out and undone, it doesn't happen."""
    made = Crowd(place, monkeypatch)
    yield made
    made.close()
    assert made.undone == []


def test_never_more_runs_are_admitted_than_may_run_whoever_submits_ends_or_pauses(world: World, crowd: Crowd) -> None:
    members = [crowd.member(max_running=3) for _ in range(4)]
    most: list[int] = []

    def live(member: World) -> None:
        worker = member.worker()
        for turn in range(6):
            run = member.submit(f"{worker}/{turn}")
            most.append(member.read(lambda tx: tx.value("SELECT count(*) FROM runs WHERE status = 'running'")))
            if turn % 3 == 0:
                member.pause(run)
                member.resume(run)
            if member.status(run) is RunStatus.RUNNING and turn % 2:
                member.settle(worker, *(done(page) for page in member.take(run)))

    crowd.together(*(partial(live, member) for member in members))
    assert max(most) <= 3
    world.max_running = 3
    assert len(world.read(runs.listed, status=RunStatus.RUNNING)) == 3
    assert world.read(runs.listed, status=RunStatus.QUEUED)


def test_a_lane_is_taken_by_one_of_many(world: World, crowd: Crowd) -> None:
    hosts = [f"h{number}.example" for number in range(20)]
    run = world.create("x", host=hosts[0])
    links = [link("x", host) for host in hosts[1:]]
    world.write(runs.add_start_pages, run_id=run, links=links, strategy="http", now=NOW)
    world.seal(run)
    members = [crowd.member() for _ in range(4)]

    def grab(member: World) -> list[str]:
        worker = member.worker()
        member.now += 1
        return [lane.name for _ in range(12) for lane in member.acquire(worker, limit=2)]

    taken = Counter(name for names in crowd.together(*(partial(grab, member) for member in members)) for name in names)
    assert taken == Counter(hosts)


def test_slots_are_never_more_than_the_run_allows(world: World, crowd: Crowd) -> None:
    run = world.submit("")
    members = [crowd.member() for _ in range(4)]

    def claim(member: World) -> None:
        worker = member.worker()

        def work(tx: Tx, busy: int) -> None:
            runs.lock(tx, [run])
            slots.claim(tx, worker, {run: (5, busy)})

        for turn in range(10):
            member.write(work, busy=turn % 3)
            shares = member.read(slots.shares, run_ids=[run])[run]
            assert sum(shares.values()) <= 5

    crowd.together(*(partial(claim, member) for member in members))


def test_a_pause_is_not_actual_while_somebody_claims_a_slot(world: World, crowd: Crowd) -> None:
    pauser, claimer = crowd.member(), crowd.member()
    worker = claimer.worker()

    def claim(run: str) -> None:
        def work(tx: Tx) -> None:
            [found] = runs.lock(tx, [run])
            if found.wanted == "run":
                slots.claim(tx, worker, {run: (5, 0)})

        claimer.write(work)

    for _ in range(15):
        run = world.submit("")
        crowd.together(partial(pauser.pause, run), partial(claim, run))
        held = world.read(slots.shares, run_ids=[run])
        assert (world.status(run) is RunStatus.PAUSED) is (held == {})
        world.cancel(run)
        world.close(run)


def test_pages_that_link_to_each_other_are_settled_by_two_without_waiting_for_ever(world: World, crowd: Crowd) -> None:
    run = world.create("0", host=A)
    world.write(runs.add_start_pages, run_id=run, links=[link("0", B)], strategy="http", now=NOW)
    world.seal(run)
    one, two = crowd.member(), crowd.member()

    def crawl(member: World, host: str) -> int:
        worker, settled = member.worker(), 0
        member.now = NOW + 100
        for _ in range(25):
            pages = member.take(run, host, limit=4)
            outcomes = [done(page, *_all_linked(page)) for page in pages]
            settled += member.settle(worker, *outcomes).pages
        return settled

    settled = sum(crowd.together(partial(crawl, one, A), partial(crawl, two, B)))
    row = world.run(run)
    assert row.counts.done == row.records == settled
    assert row.counts.total > 60


def _all_linked(page: Page) -> Iterator[Link]:
    """Every page links to those around it on both hosts, which somebody else is settling at this moment."""
    number = int(page.url.rpartition("/")[2])
    for near in range(max(0, number - 6), number + 4):
        for host in (A, B):
            yield link(f"{near}", host)


def test_what_two_find_at_the_same_time_is_one_page(world: World, crowd: Crowd) -> None:
    run = world.create("start", host=A)
    world.write(runs.add_start_pages, run_id=run, links=[link("start", B)], strategy="http", now=NOW)
    world.seal(run)
    members = [(crowd.member(), host) for host in (A, B)]
    for turn in range(10):
        pages = [world.take(run, host)[0] for host in (A, B)]
        found = [link(f"{turn}-{number}", host) for number in range(30) for host in (A, B)]

        def settle_one(member: World, page: Page, links: Sequence[Link]) -> int:
            return member.settle(member.worker(), done(page, *links)).pages

        crowd.together(
            *(
                partial(settle_one, member, page, links)
                for (member, _), page, links in zip(members, pages, (found, found[::-1]), strict=True)
            )
        )
        world.check()
    assert world.run(run).counts.total == 2 + 10 * 60


def test_a_page_that_is_found_while_its_host_runs_dry_is_not_forgotten(world: World, crowd: Crowd) -> None:
    finder, owner = crowd.member(), crowd.member()
    ours, theirs = finder.worker(), owner.worker()
    for turn in range(15):
        run = world.create("page", "other", host=A)
        world.write(runs.add_start_pages, run_id=run, links=[link("last", B)], strategy="http", now=NOW)
        world.seal(run)
        [last] = world.take(run, B)
        page = world.take_one(run, "page", A)
        postponed = again(last, NOW + 50) if turn % 2 else done(last)
        crowd.together(
            partial(finder.settle, ours, done(page, link("new", B))), partial(owner.settle, theirs, postponed)
        )
        assert world.ready_at(run, B) == NOW
        world.check()
        world.cancel(run)
        world.close(run)


def test_who_is_declared_dead_while_it_settles_has_settled_all_or_nothing(world: World, crowd: Crowd) -> None:
    settling, reaping = crowd.member(), crowd.member()

    def settled(worker: str, pages: list[Page]) -> bool:
        try:
            return settling.settle(worker, *(done(page) for page in pages)).pages == len(pages)
        except WorkerDead:
            return False

    for _ in range(15):
        run, worker = world.submit("1", "2", "3"), settling.worker()
        settling.acquire(worker)
        pages = world.take(run)[:2]
        stored, _ = crowd.together(partial(settled, worker, pages), partial(reaping.declare_dead, worker))
        assert world.run(run).counts.done == (2 if stored else 0)
        assert world.read(lanes.owned, worker_id=worker) == []
        world.cancel(run)
        world.close(run)
    assert world.read(workers.alive) == []


def test_nobody_is_declared_dead_in_the_middle_of_a_settle(world: World, crowd: Crowd) -> None:
    settling, reaping = crowd.member(), crowd.member()
    run, worker = world.submit("1", "2"), settling.worker()
    page = world.take(run)[0]
    inside, go_on, dead = threading.Event(), threading.Event(), threading.Event()

    def settled() -> None:
        def work(tx: Tx) -> None:
            settle.settle(tx, worker, [done(page)], [], max_running=5, now=NOW)
            inside.set()
            # Whoever declares it dead now has to wait; a moment is enough to see that.
            assert not dead.wait(0.3)
            assert go_on.wait(PATIENCE)

        settling.write(work)

    def declared() -> None:
        assert inside.wait(PATIENCE)
        go_on.set()
        reaping.declare_dead(worker)
        dead.set()

    crowd.together(settled, declared)
    assert world.run(run).counts.done == 1


def test_a_command_that_dies_while_it_resumes_a_run_does_not_keep_it(world: World, crowd: Crowd) -> None:
    resuming, reaping = crowd.member(), crowd.member()

    def resumed(run: str, keeper: str) -> None:
        with suppress(WorkerDead):
            resuming.resume(run, keeper)

    for _ in range(15):
        run, keeper = world.submit("1"), resuming.worker()
        world.pause(run)
        crowd.together(partial(resumed, run, keeper), partial(reaping.declare_dead, keeper))
        assert (world.status(run), world.run(run).keeper) == (RunStatus.PAUSED, None)
        world.cancel(run)
        world.close(run)


def test_of_two_who_retry_a_run_one_does(world: World, crowd: Crowd) -> None:
    members = [crowd.member() for _ in range(2)]

    def retried(member: World, run: str) -> int:
        try:
            return member.retry_failed(run)
        except Conflict:
            return 0

    worker = world.worker()
    for _ in range(10):
        run = world.submit("1", "2", "3")
        world.settle(worker, *(failed(page) for page in world.take(run)))
        assert sorted(crowd.together(*(partial(retried, member, run) for member in members))) == [0, 3]
        assert world.messages(run).count(RUN_REQUEUED) == 1
        world.check()
        world.cancel(run)
        world.close(run)


def test_a_page_is_settled_or_closed_and_not_both(world: World, crowd: Crowd) -> None:
    settling, closing = crowd.member(), crowd.member()
    for _ in range(15):
        run, worker = world.submit("1", "2", "3"), settling.worker()
        pages = world.take(run)
        world.cancel(run)
        crowd.together(
            partial(settling.settle, worker, *(done(page, link(f"of-{page.id}")) for page in pages)),
            partial(closing.close, run, Skip.CANCELLED),
        )
        world.check()
        while world.close(run).pages:
            pass
        assert world.status(run) is RunStatus.CANCELLED
        assert world.messages(run).count("Run cancelled") == 1


@pytest.mark.slow
def test_whoever_reads_records_while_they_come_misses_none(world: World, crowd: Crowd) -> None:
    run = world.create(*(f"{number}" for number in range(60)), host=A)
    links = [link(f"{number}", B) for number in range(60)]
    world.write(runs.add_start_pages, run_id=run, links=links, strategy="http", now=NOW)
    world.seal(run)
    writers = [(crowd.member(), host) for host in (A, B)]
    reader = crowd.member()

    def write(member: World, host: str) -> int:
        worker = member.worker()
        for page in world.take(run, host):
            member.settle(worker, done(page))
        return 0

    def read() -> int:
        last, seen = 0, 0
        for _ in range(5_000):
            over = reader.run(run).is_over
            found = reader.read(records.after, run_id=run, last=last)
            seen += len(found)
            last = found[-1][0] if found else last
            if over and not found:
                break
        return seen

    assert sum(crowd.together(*(partial(write, member, host) for member, host in writers), read)) == 120


def test_a_death_a_pause_and_the_end_of_runs_meet_without_waiting_for_ever(world: World, crowd: Crowd) -> None:
    """All of them change several runs' rows and admit others, which is where two could hold what the other wants."""
    members = [crowd.member(max_running=2) for _ in range(4)]

    def claim(tx: Tx, run_id: str, worker_id: str) -> None:
        runs.lock(tx, [run_id])
        slots.claim(tx, worker_id, {run_id: (5, 1)})

    def die(member: World) -> None:
        for _ in range(6):
            keeper = member.worker()
            for number in range(3):
                run = member.submit(f"{keeper}/{number}", keeper=keeper)
                member.write(claim, run_id=run, worker_id=keeper)
            member.declare_dead(keeper)

    def end(member: World) -> None:
        worker = member.worker()
        for turn in range(12):
            run = member.submit(f"{worker}/{turn}")
            member.settle(worker, *(done(page) for page in member.take(run)))

    def steer(member: World) -> None:
        for turn in range(12):
            run = member.submit(f"steered/{turn}")
            member.pause(run)
            member.resume(run)
            member.cancel(run)
            member.close(run)

    crowd.together(*(partial(work, member) for work, member in zip((die, die, end, steer), members, strict=True)))
    running = world.read(lambda tx: tx.value("SELECT count(*) FROM runs WHERE status = 'running'"))
    assert running == 0


def test_a_clock_that_is_set_while_pages_are_settled_leaves_every_stand_in_time(world: World, crowd: Crowd) -> None:
    hosts = [A, B]
    all_runs = [world.submit(*(f"{run}/{n}" for n in range(4)), host=hosts[run % 2]) for run in range(4)]
    members = [crowd.member() for _ in range(3)]
    workers_ = [member.worker() for member in members]
    clock = crowd.member()
    watch = clock.worker()

    def work(member: World, worker: str) -> None:
        for turn in range(8):
            for number, run in enumerate(all_runs):
                found = member.take(run, hosts[number % 2], limit=2)
                later = [again(page, member.now + 60.0, charged=False) for page in found[1:]]
                new = [link(f"{worker}/{turn}/{number}", host) for host in hosts]
                member.settle(worker, *(done(page, *new) for page in found[:1]), *later)

    def put_back() -> None:
        for _ in range(8):
            clock.now -= 3_600.0

            def follow(tx: Tx) -> float:
                jump = times.follow_clock(tx, "here", clock.now, worker_id=watch)
                workers.beat(tx, watch, hungry=False, now=clock.now)
                return jump

            assert clock.database.write_now(follow) < 0.0

    crowd.together(*(partial(work, *each) for each in zip(members, workers_, strict=True)), put_back)
    world.check()


@pytest.mark.parametrize("jump", [3_600.0, -3_600.0])
def test_of_workers_that_notice_at_once_that_the_clock_was_set_one_moves_the_times(
    world: World, crowd: Crowd, jump: float
) -> None:
    run = world.submit("a", spec=Spec(deadline_seconds=600.0))
    crew = [crowd.member() for _ in range(4)]
    ids = [member.worker() for member in crew]

    def beat(member: World, worker: str) -> float:
        def follow(tx: Tx) -> float:
            moved = times.follow_clock(tx, "here", NOW + jump, worker_id=worker)
            workers.beat(tx, worker, hungry=False, now=NOW + jump)
            return moved

        return member.database.write_now(follow)

    moved = crowd.together(*(partial(beat, *each) for each in zip(crew, ids, strict=True)))
    assert sorted(moved, key=abs) == [0.0, 0.0, 0.0, jump]
    assert world.run(run).deadline_at == NOW + 600.0 + jump
