"""Recordings are made and judged in the settle of the page that did so; of a job, the newest counts for as long as it works."""

from __future__ import annotations

import pytest

from tarantella.domain.errors import NotFound
from tarantella.domain.recording import Made, Maker, Paging, Place, Reading, Recording, Stopped, Worked
from tarantella.domain.recording_request import Template
from tarantella.store import recordings
from tarantella.store.ids import new_id
from tarantella.store.recordings import MOST_OF_JOB, Kept
from tarantella.store.tx import Tx
from tests.contract.world import NOW, World, again, done

JOB = "0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10"
READING = Reading(
    ("data", "list"),
    {"name": Place(("a", None, "b", 0), "fixed_2", "€ ", kinds=("number",), always=True)},
    Paging("cursor", slot=("body", "variables", "after"), first=None, path=("next",), more=("more",), total=None),
    about={"title": "Looms"},
    page_url="https://a.example/list",
)
RECORDING = Recording(
    Template("POST", "https://api.example/q?key=***", {"x-token": "***"}, '{"variables":{"after":null}}'),
    READING,
    "0123456789abcdef",
    0.93,
    secrets=((("query", 0), "s3cret"), (("header", "x-token"), "t0ken")),
)


def made() -> Made:
    return Made(new_id(), "p" * 32, RECORDING)


def of_job(world: World, *paths: str) -> str:
    """A run of the job."""
    run = world.submit(*paths)

    def belong(tx: Tx) -> None:
        tx.execute("UPDATE runs SET job_id = :job WHERE id = :run", job=JOB, run=run)

    world.write(belong)
    return run


def current(world: World, purpose: str = "p" * 32) -> Kept | None:
    return world.read(recordings.current, job_id=JOB, purpose=purpose, now=world.now)


def test_a_recording_comes_back_as_it_was_made(world: World) -> None:
    run, worker, new = of_job(world, ""), world.worker(), made()
    world.settle(worker, done(world.take_one(run, ""))._replace(recording=new))
    kept = current(world)
    assert kept is not None
    assert (kept.id, kept.job_id, kept.run_id, kept.host, kept.uses) == (new.id, JOB, run, "api.example", 0)
    assert kept.recording == RECORDING
    assert current(world, "another purpose") is None


def test_use_and_failure_are_noted_with_the_page(world: World) -> None:
    run, worker, new = of_job(world, "", "a", "b"), world.worker(), made()
    world.write(recordings.add, made=new, job_id=JOB, run_id=None, now=NOW)
    world.settle(worker, done(world.take_one(run, ""))._replace(recording=Worked(new.id, "f" * 16)))
    kept = current(world)
    assert kept is not None and (kept.uses, kept.worked_at, kept.recording.shape) == (1, world.now, "f" * 16)
    world.settle(worker, again(world.take_one(run, "a"), NOW)._replace(recording=Stopped(new.id, "HTTP 404")))
    assert current(world) is None
    world.settle(worker, done(world.take_one(run, "b"))._replace(recording=Stopped(new.id, "later")))
    failed = world.read(recordings.get, recording_id=new.id)
    assert (failed.failed_at, failed.failure) == (world.now, "HTTP 404")


def test_what_came_with_a_page_that_was_no_longer_ours_is_dropped(world: World) -> None:
    run, worker = of_job(world, "", "other"), world.worker()
    page = world.take_one(run, "")
    world.settle(worker, done(page))
    world.settle(worker, done(page)._replace(recording=made()))
    assert current(world) is None


def test_a_run_without_a_job_leaves_none(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.settle(worker, done(world.take_one(run, ""))._replace(recording=made()))
    assert world.read(recordings.listed, limit=10) == []


def test_the_newest_counts_and_old_ones_go(world: World) -> None:
    ids = []
    for number in range(MOST_OF_JOB + 2):
        new = made()
        ids.append(new.id)
        world.write(recordings.add, made=new, job_id=JOB, run_id=None, now=NOW + number)
    kept = current(world)
    assert kept is not None and kept.id == ids[-1]
    found = world.read(recordings.listed, limit=100, job_id=JOB)
    assert [each.id for each in found] == ids[: -MOST_OF_JOB - 1 : -1]
    rest = world.read(recordings.listed, limit=100, before=(found[1].created_at, found[1].id))
    assert [each.id for each in rest] == [each.id for each in found[2:]]


def test_where_recordings_fail_before_they_ever_work_the_next_rests_for_a_day(world: World) -> None:
    run, worker = of_job(world, "", "a", "b"), world.worker()
    for number, path in enumerate(("", "a")):
        new = made()
        world.write(recordings.add, made=new, job_id=JOB, run_id=None, now=NOW + number)
        assert current(world) is not None
        world.settle(worker, done(world.take_one(run, path))._replace(recording=Stopped(new.id, "HTTP 401")))
    world.write(recordings.add, made=made(), job_id=JOB, run_id=None, now=NOW + 5)
    assert current(world) is None
    world.now += 86_401
    assert current(world) is not None


def test_a_recording_is_deleted_once(world: World) -> None:
    new = Made(new_id(), "p" * 32, Recording(RECORDING.template, READING, "x", 1.0, made_by=Maker.HAR))
    world.write(recordings.add, made=new, job_id=JOB, run_id=None, now=NOW)
    world.write(recordings.delete, recording_id=new.id)
    with pytest.raises(NotFound):
        world.write(recordings.delete, recording_id=new.id)
