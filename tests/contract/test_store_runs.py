"""Runs: what can be asked of them, in which state, and what is refused."""

from __future__ import annotations

import pytest

from tarantella.domain.errors import Conflict, NotFound, WorkerDead
from tarantella.domain.event import (
    DEADLINE_REACHED,
    RUN_CANCELLED,
    RUN_CREATED,
    RUN_PAUSED,
    RUN_REQUEUED,
    RUN_RESUMED,
    RUN_STARTED,
)
from tarantella.domain.page import Skip
from tarantella.domain.run import RunStatus, Wanted
from tarantella.domain.spec import Secrets, Spec
from tarantella.store import closing, duties, events, lanes, pages, runs, slots, steering
from tarantella.store.tx import Tx
from tests.contract.world import HOST, NOW, World, again, done, failed, link, skipped


def ended(world: World, *fates: str, spec: Spec | None = None) -> str:
    """A run that is over: a page for each of `done`, `failed` and the reasons of skips."""
    run, worker = world.submit(*(f"{number}" for number in range(len(fates))), spec=spec), world.worker()
    for page, fate in zip(world.take(run), fates, strict=True):
        if fate == "done":
            world.settle(worker, done(page))
        elif fate == "failed":
            world.settle(worker, failed(page))
        else:
            world.settle(worker, skipped(page, Skip(fate)))
    return run


# -- submitting


def test_a_run_exists_for_nobody_until_it_is_sealed(world: World) -> None:
    run = world.create("", "a")
    assert world.read(runs.listed) == []
    with pytest.raises(NotFound):
        world.read(runs.find, prefix="latest")
    assert world.acquire(world.worker()) == []
    assert world.read(events.listed, run_id=run) == []
    world.seal(run)
    assert [found.id for found in world.read(runs.listed)] == [run]
    assert world.read(runs.find, prefix="latest") == run
    assert world.status(run) is RunStatus.RUNNING
    assert world.messages(run) == [RUN_CREATED, RUN_STARTED]
    assert [lane.name for lane in world.acquire(world.worker())] == [HOST]


def test_start_addresses_that_mean_the_same_page_are_one_page(world: World) -> None:
    run = world.submit("a", "a/", "a?utm_source=x", "b")
    assert world.run(run).counts.total == 2


def test_start_addresses_can_come_in_many_transactions(world: World) -> None:
    run = world.create("0", "1")
    for number in (1, 2, 3):
        links = [link(f"{number}"), link(f"{number + 1}")]
        world.write(runs.add_start_pages, run_id=run, links=links, strategy="http", now=world.now)
    world.seal(run)
    assert world.run(run).counts.total == world.run(run).counts.pending == 5


def test_a_submission_whose_command_is_gone_is_found_and_removed(world: World) -> None:
    alive, gone = world.worker(), world.worker()
    kept, lost = world.create("a", keeper=alive), world.create("b", keeper=gone)
    sealed = world.submit("c", keeper=gone)
    world.declare_dead(gone)
    unfinished = world.read(duties.unfinished_submissions, reason=runs.SUBMITTING, now=world.now)
    assert unfinished == [lost]
    while not world.write(runs.delete_some, run_id=lost, unacknowledged=True):
        pass
    with pytest.raises(NotFound):
        world.run(lost)
    assert world.status(sealed) is RunStatus.PAUSED
    assert world.run(kept).reason == runs.SUBMITTING
    world.seal(kept)


def test_a_submission_without_a_command_of_its_own_has_time_to_finish(world: World) -> None:
    run = world.create("a")
    world.now += duties.SUBMISSION_PATIENCE - 1
    assert world.read(duties.unfinished_submissions, reason=runs.SUBMITTING, now=world.now) == []
    assert world.read(duties.unfinished_submissions, reason=runs.SUBMITTING, now=world.now + 1) == [run]
    world.seal(run)
    assert world.status(run) is RunStatus.RUNNING


@pytest.mark.parametrize("given_up", [False, True])
def test_half_a_run_can_not_be_steered(world: World, given_up: bool) -> None:
    run = world.create("a", "b")
    if given_up:
        world.write(runs.delete_some, run_id=run, limit=1, unacknowledged=True)
    before = world.dump()
    for steer in (world.pause, world.resume, world.cancel, world.retry_failed):
        with pytest.raises(Conflict):
            steer(run)
    assert world.dump() == before
    while not world.write(runs.delete_some, run_id=run, unacknowledged=True):
        pass


def test_a_submission_that_was_given_up_can_not_go_on(world: World) -> None:
    run = world.create("a", "b")
    world.write(runs.delete_some, run_id=run, limit=1, unacknowledged=True)
    with pytest.raises(Conflict, match="Submit it again"):
        world.write(runs.add_start_pages, run_id=run, links=[link("c")], strategy="http", now=world.now)
    with pytest.raises(Conflict, match="Submit it again"):
        world.seal(run)
    while not world.write(runs.delete_some, run_id=run, unacknowledged=True):
        pass


def test_a_command_that_was_declared_dead_can_keep_no_run(world: World) -> None:
    """Nobody would notice that it is gone, and nobody could resume the run."""
    zombie, worker = world.worker(), world.worker()
    draft, paused, over = world.create("a", keeper=zombie), world.submit("b"), world.submit("c")
    world.pause(paused)
    world.settle(worker, failed(world.take_one(over, "c")))
    world.declare_dead(zombie)
    before = world.dump()
    with pytest.raises(WorkerDead):
        world.seal(draft)
    with pytest.raises(WorkerDead):
        world.resume(paused, keeper=zombie)
    with pytest.raises(WorkerDead):
        world.write(steering.retry_failed, run_id=over, keeper=zombie, max_running=5, now=world.now)
    assert world.dump() == before


def test_what_was_asked_for_and_its_secrets_come_back_with_the_run(world: World) -> None:
    spec = Spec(depth=3, secrets=Secrets({"authorization": "Bearer s3cret"}, (), "http://u:p@proxy:1"))
    run = world.submit("", spec=spec)
    assert world.run(run).spec == spec
    assert world.run(run).roots == (link("").url,)
    told = world.read(lambda tx: tx.first("SELECT spec, roots, refused FROM runs"))
    assert "s3cret" not in str(told)


# -- finding and listing


def test_runs_are_listed_newest_first_and_in_slices(world: World) -> None:
    made = []
    for _ in range(5):
        made.append(world.submit(""))
        world.now += 1
    listed = [run.id for run in world.read(runs.listed, limit=2)]
    assert listed == made[:-3:-1]
    last = world.run(listed[-1])
    rest = world.read(runs.listed, limit=10, before=(last.created_at, last.id))
    assert [run.id for run in rest] == made[2::-1]
    assert [run.id for run in world.read(runs.listed, status=RunStatus.PAUSED)] == []


def test_a_run_is_found_by_the_beginning_or_the_end_of_its_id(world: World) -> None:
    run = world.submit("")
    assert world.read(runs.find, prefix=run) == run
    assert world.read(runs.find, prefix=run[:13].upper()) == run
    assert world.read(runs.find, prefix=run[-8:]) == run
    assert world.read(runs.find, prefix=run[-12:-5]) == run  # the beginning of what `runs list` shows
    with pytest.raises(NotFound, match="runs list"):
        world.read(runs.find, prefix="nothing-like-it")
    world.submit("")
    with pytest.raises(Conflict, match="more of its id"):
        world.read(runs.find, prefix=run[:2])


@pytest.mark.parametrize("work", [runs.get, steering.want_cancel])
def test_a_run_that_is_not_there_is_not_found(world: World, work: object) -> None:
    with pytest.raises(NotFound):
        world.write(work, run_id="01900000-0000-7000-8000-000000000000")  # type: ignore[arg-type]


# -- pause and resume


def test_a_pause_is_actual_at_once_when_nothing_is_in_flight(world: World) -> None:
    run = world.submit("")
    assert world.pause(run, "asked to") is RunStatus.PAUSED
    row = world.run(run)
    assert (row.status, row.wanted, row.reason, row.paused_at) == (
        RunStatus.PAUSED,
        Wanted.PAUSE,
        "asked to",
        NOW,
    )
    assert world.acquire(world.worker()) == []


def test_a_pause_waits_for_what_is_in_flight(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    world.claim(run, worker)
    assert world.pause(run) is RunStatus.RUNNING
    assert world.run(run).wanted is Wanted.PAUSE
    assert world.settle_pause(run) is RunStatus.RUNNING
    world.settle(worker, done(world.take(run)[0]))
    world.write(slots.give_back, run_ids=[run], worker_id=worker)
    assert world.settle_pause(run) is RunStatus.PAUSED
    assert world.messages(run).count(RUN_PAUSED) == 1


def test_pausing_twice_is_pausing_once(world: World) -> None:
    run = world.submit("")
    world.pause(run)
    before = world.dump()
    assert world.pause(run) is RunStatus.PAUSED
    assert world.settle_pause(run) is RunStatus.PAUSED
    assert world.dump() == before


def test_a_run_whose_pages_end_while_a_pause_is_wanted_ends(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.claim(run, worker)
    world.pause(run)
    world.settle(worker, done(world.take(run)[0]))
    assert world.status(run) is RunStatus.COMPLETED
    assert world.settle_pause(run) is RunStatus.COMPLETED
    assert world.run(run).reason is None


def test_a_resumed_run_goes_on_where_it_was(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    world.settle(worker, done(world.take(run)[0]))
    world.pause(run)
    assert world.resume(run, keeper=worker) is RunStatus.RUNNING
    row = world.run(run)
    assert (row.wanted, row.reason, row.paused_at, row.keeper) == (Wanted.RUN, None, None, worker)
    assert world.messages(run)[-2:] == [RUN_PAUSED, RUN_RESUMED]
    assert len(world.take(run)) == 1


def test_a_pause_that_is_taken_back_before_it_was_actual_leaves_no_reason_behind(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.claim(run, worker)
    world.pause(run, "asked to")
    assert world.resume(run) is RunStatus.RUNNING
    row = world.run(run)
    assert (row.status, row.wanted, row.reason) == (RunStatus.RUNNING, Wanted.RUN, None)


def test_a_run_that_another_command_keeps_can_not_be_resumed(world: World) -> None:
    keeper = world.worker()
    run = world.submit("", keeper=keeper)
    with pytest.raises(Conflict, match="Another command"):
        world.resume(run, keeper=world.worker())
    assert world.resume(run, keeper=keeper) is RunStatus.RUNNING


def test_a_deadline_starts_with_the_first_admission_and_a_pause_moves_it(world: World) -> None:
    world.max_running = 1
    first = world.submit("")
    run = world.submit("x", spec=Spec(deadline_seconds=100.0))
    world.now += 500
    assert world.run(run).deadline_at is None
    world.cancel(first)
    world.close(first)
    assert world.run(run).deadline_at == NOW + 600
    world.now += 30
    world.pause(run)
    world.now += 1_000
    assert world.read(closing.overdue, now=world.now) == []
    world.resume(run)
    assert world.run(run).deadline_at == NOW + 1_600
    assert world.read(closing.overdue, now=NOW + 1_599) == []
    assert world.read(closing.overdue, now=NOW + 1_600) == [(run, Skip.DEADLINE)]


def test_a_deadline_that_is_over_closes_what_is_left_and_keeps_what_there_is(world: World) -> None:
    run, worker = world.submit("1", "2", "3", spec=Spec(deadline_seconds=10.0)), world.worker()
    world.settle(worker, done(world.take(run)[0]))
    world.now += 11
    for _ in range(2):
        world.write(closing.announce, run_id=run, reason=Skip.DEADLINE, now=world.now)
    world.close(run, Skip.DEADLINE)
    row = world.run(run)
    assert row.status is RunStatus.PARTIAL
    assert (row.counts.done, row.counts.skipped, row.counts.incomplete, row.records) == (1, 2, 2, 1)
    assert world.messages(run).count(DEADLINE_REACHED) == 1


# -- cancel


@pytest.mark.parametrize("state", ["queued", "running", "paused", "pausing"])
def test_every_live_run_can_be_cancelled_and_cancelling_twice_is_cancelling_once(world: World, state: str) -> None:
    world.max_running = 1
    if state == "queued":
        world.submit("first")
    run = world.submit("1", "2")
    if state == "pausing":
        world.claim(run, world.worker())
    if state.startswith("paus"):
        world.pause(run)
    assert world.cancel(run) is (RunStatus.RUNNING if state == "pausing" else RunStatus(state))
    assert world.read(closing.overdue, now=world.now) == [(run, Skip.CANCELLED)]
    world.cancel(run)
    assert world.close(run).ended == {run: RunStatus.CANCELLED}
    before = world.dump()
    assert world.cancel(run) is RunStatus.CANCELLED
    assert world.close(run).pages == 0
    assert world.dump() == before
    assert world.messages(run).count(RUN_CANCELLED) == 1
    assert set(world.states(run).values()) == {"skipped(cancelled)"}


def test_what_was_in_flight_when_its_run_was_cancelled_changes_nothing(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.cancel(run)
    world.close(run)
    before = world.dump()
    assert world.settle(worker, done(page, link("ghost"))).lost == 1
    assert world.dump() == before


def test_a_page_that_was_settled_before_its_run_was_closed_stays_done(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    page = world.take(run)[0]
    world.cancel(run)
    world.settle(worker, done(page))
    world.close(run)
    assert sorted(world.states(run).values()) == ["done", "skipped(cancelled)"]
    assert world.status(run) is RunStatus.CANCELLED


def test_nothing_can_be_asked_of_a_run_that_is_being_cancelled(world: World) -> None:
    run = world.submit("")
    world.cancel(run)
    with pytest.raises(Conflict, match="being cancelled"):
        world.pause(run)
    with pytest.raises(Conflict, match="being cancelled"):
        world.resume(run)
    with pytest.raises(Conflict, match="still"):
        world.retry_failed(run)
    with pytest.raises(Conflict, match="still"):
        world.write(runs.delete_some, run_id=run)


def test_who_wants_to_retry_a_run_that_only_waits_is_told_how_it_goes_on(world: World) -> None:
    run = world.submit("")
    world.pause(run)
    with pytest.raises(Conflict, match="still paused") as told:
        world.retry_failed(run)
    assert f"tarantella runs resume {run}" in (told.value.remedy or "")


def test_closing_goes_a_thousand_pages_at_a_time_and_can_keep_to_one_lane(world: World) -> None:
    run = world.create(*(f"{number}" for number in range(1_500)))
    there = [link(f"{number}", "b.example") for number in range(10)]
    world.write(runs.add_start_pages, run_id=run, links=there, strategy="http", now=world.now)
    world.seal(run)
    assert [world.close(run, Skip.HOST_DOWN, HOST).pages for _ in range(3)] == [1_000, 500, 0]
    assert world.run(run).counts.pending == 10
    assert world.ready_at(run) is None
    assert world.ready_at(run, "b.example") == NOW


# -- what is over


def test_a_cancel_that_was_seen_before_the_run_was_brought_back_closes_nothing(world: World) -> None:
    run = world.submit("a", "b")
    world.cancel(run)
    world.close(run)
    assert world.retry_failed(run) == 2
    # A worker that is about to close it has only now got to its transaction.
    assert world.close(run).pages == 0
    assert (world.status(run), world.run(run).counts.pending) == (RunStatus.RUNNING, 2)


def test_a_deadline_that_was_moved_since_closes_nothing(world: World) -> None:
    run = world.submit("a", spec=Spec(deadline_seconds=10.0))
    world.now += 11
    assert world.read(closing.overdue, now=world.now) == [(run, Skip.DEADLINE)]
    world.write(lambda tx: tx.execute("UPDATE runs SET deadline_at = deadline_at + 60"))
    world.write(closing.announce, run_id=run, reason=Skip.DEADLINE, now=world.now)
    assert world.close(run, Skip.DEADLINE).pages == 0
    assert (world.run(run).reason, world.messages(run).count(DEADLINE_REACHED)) == (None, 0)


@pytest.mark.parametrize("fates", [["done"], ["failed"], ["done", "failed"]])
def test_what_is_over_can_be_neither_paused_nor_resumed(world: World, fates: list[str]) -> None:
    run = ended(world, *fates)
    with pytest.raises(Conflict, match="nothing to pause"):
        world.pause(run)
    with pytest.raises(Conflict, match="retry-failed"):
        world.resume(run)


def test_retry_failed_takes_back_what_failed_and_what_had_to_be_left(world: World) -> None:
    run = ended(world, "done", "failed", "deadline", "host_down", "robots_unreachable", "robots", "duplicate")
    assert world.status(run) is RunStatus.PARTIAL
    world.now += 100
    assert world.retry_failed(run) == 4
    states = world.states(run)
    assert [states[f"{number}"] for number in range(7)] == [
        "done",
        *["pending"] * 4,
        "skipped(robots)",
        "skipped(duplicate)",
    ]
    row = world.run(run)
    assert (row.status, row.finished_at, row.failure_code, row.counts.incomplete) == (
        RunStatus.RUNNING,
        None,
        None,
        0,
    )
    assert RUN_REQUEUED in world.messages(run)
    retried = world.take(run)
    assert [page.charged for page in retried] == [0] * 4
    worker = world.worker()
    world.settle(worker, *(done(page) for page in retried))
    assert world.status(run) is RunStatus.COMPLETED
    assert world.run(run).records == 5


def test_a_cancelled_run_can_be_taken_up_again(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    world.settle(worker, done(world.take(run)[0]))
    world.cancel(run)
    world.close(run)
    assert world.retry_failed(run) == 1
    assert (world.status(run), world.run(run).wanted) == (RunStatus.RUNNING, Wanted.RUN)


def test_an_outcome_from_before_a_retry_is_too_late(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.settle(worker, failed(page))
    world.retry_failed(run)
    before = world.dump()
    assert world.settle(worker, done(page)).lost == 1
    assert world.dump() == before


def test_a_retry_of_nothing_changes_nothing(world: World) -> None:
    run = ended(world, "done", "robots")
    before = world.dump()
    assert world.retry_failed(run) == 0
    assert world.dump() == before


def test_the_deadline_of_a_retried_run_starts_anew_when_it_is_admitted(world: World) -> None:
    world.max_running = 1
    run = ended(world, "failed", spec=Spec(deadline_seconds=100.0))
    other = world.submit("x")
    world.now += 1_000
    world.retry_failed(run)
    world.now += 1_000
    assert world.status(run) is RunStatus.QUEUED
    world.cancel(other)
    world.close(other)
    assert world.status(run) is RunStatus.RUNNING
    assert world.run(run).deadline_at == world.now + 100


def test_only_what_is_over_can_be_deleted_and_then_nothing_of_it_is_left(world: World) -> None:
    run, other, worker = world.submit("1", "2", "3"), world.submit("1"), world.worker()
    with pytest.raises(Conflict, match="runs cancel"):
        world.write(runs.delete_some, run_id=run)
    for page in world.take(run):
        world.settle(worker, done(page) if page.id % 2 else failed(page))
    slices = [world.write(runs.delete_some, run_id=run, limit=2) for _ in range(3)]
    assert slices == [False, False, True]
    with pytest.raises(NotFound):
        world.run(run)

    def left(tx: Tx) -> dict[str, int]:
        return {
            table: tx.value(f"SELECT count(*) FROM {table}")
            for table in ("runs", "pages", "records", "attempts", "run_events", "stands", "run_workers")
        }

    assert world.read(left) == {
        "runs": 1,
        "pages": 1,
        "records": 0,
        "attempts": 0,
        "run_events": 2,
        "stands": 1,
        "run_workers": 0,
    }
    assert world.status(other) is RunStatus.RUNNING


# -- what people look at


def test_pages_are_listed_in_slices_and_by_state_and_reason(world: World) -> None:
    run = ended(world, "done", "failed", "robots", "done")
    assert [page["state"] for page in world.read(pages.listed, run_id=run)] == [
        "done",
        "failed",
        "skipped",
        "done",
    ]
    first = world.read(pages.listed, run_id=run, limit=2)
    rest = world.read(pages.listed, run_id=run, after=first[-1]["id"])
    assert [page["state"] for page in rest] == ["skipped", "done"]
    assert len(world.read(pages.listed, run_id=run, state="done")) == 2
    assert len(world.read(pages.listed, run_id=run, reason="robots")) == 1
    troubles = world.read(pages.troubles, run_id=run)
    assert [(trouble["state"], trouble["reason"], trouble["count"]) for trouble in troubles] == [
        ("failed", "not_found", 1),
        ("skipped", "robots", 1),
    ]


def test_the_example_of_a_trouble_is_one_page_with_its_own_detail(world: World) -> None:
    run, worker = world.submit("b", "a"), world.worker()
    world.acquire(worker)
    for path, detail in (("b", "a: the first detail"), ("a", "b: the second")):
        world.settle(worker, failed(world.take_one(run, path))._replace(detail=detail))
    [trouble] = world.read(pages.troubles, run_id=run)
    assert (trouble["count"], trouble["example"], trouble["detail"]) == (2, link("b").url, "a: the first detail")


def test_a_page_is_found_by_its_address_or_where_it_led(world: World) -> None:
    run, worker = world.submit("alias", "x"), world.worker()
    world.settle(worker, done(world.take_one(run, "alias"), final=link("real").url))
    for path in ("alias", "real"):
        found = world.read(pages.find, run_id=run, fingerprint=link(path).fingerprint)
        assert found is not None
        assert found["url"] == link("alias").url
    assert world.read(pages.find, run_id=run, fingerprint=link("never").fingerprint) is None


def test_events_are_read_on_from_where_one_was_and_by_level(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    world.settle(worker, failed(world.take(run)[0]))
    world.settle(worker, done(world.take(run)[0]))
    history = world.read(events.listed, run_id=run)
    assert [event["sequence"] for event in history] == [1, 2, 3]
    assert world.read(events.listed, run_id=run, after=2) == history[2:]
    assert [event["level"] for event in world.read(events.listed, run_id=run, level="warn")] == ["warn"]


def test_when_a_run_is_due_its_hosts_own_waiting_is_counted(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.settle(worker, again(world.take(run)[0], NOW + 5))
    assert world.read(lanes.next_ready, run_id=run) == NOW + 5
