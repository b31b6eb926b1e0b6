"""Retention: tasks for a day, runs of jobs for as long as their job says, runs of commands until they are deleted."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import count

import pytest

from tarantella.domain.errors import NotFound
from tarantella.engine.clock import Clock
from tarantella.engine.duties import Duties
from tarantella.store import retention, runs
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx
from tests.contract.world import NOW, World, done

DAY = 86_400.0


def ended(world: World, *, source: str, job_id: str | None = None, pages: int = 1) -> str:
    """A run that is over, of this source."""
    run = world.submit(*(f"p{number}" for number in range(pages)))
    worker = world.worker()
    world.acquire(worker)
    world.settle(worker, *(done(page) for page in world.take(run, limit=pages)))
    world.retire(worker)
    statement = "UPDATE runs SET source = :source, job_id = :job WHERE id = :id"
    world.write(lambda tx: tx.execute(statement, source=source, job=job_id, id=run))
    return run


def job(world: World, keep_seconds: float | None) -> str:
    job_id = new_id()

    def insert(tx: Tx) -> None:
        tx.execute(
            "INSERT INTO jobs (id, target_url, fields, requires_auth, frequency, strategy, status, options, warnings, "
            "keep_seconds, created_at, updated_at) VALUES (:id, 'https://a.example/', '[]', 0, 'on_demand', 'auto', "
            "'active', '{}', '[]', :keep, 0, 0)",
            id=job_id,
            keep=keep_seconds,
        )

    world.write(insert)
    return job_id


def expired(world: World, after: float) -> list[str]:
    return world.read(retention.expired, cleanup_interval=DAY, now=NOW + after, limit=10)


def test_a_task_is_kept_for_a_day_and_not_a_second_longer(world: World) -> None:
    task = ended(world, source="scraping")
    assert expired(world, DAY - 1) == []
    assert expired(world, DAY) == [task]


def test_runs_of_commands_are_kept_until_they_are_deleted(world: World) -> None:
    ended(world, source="cli")
    assert expired(world, 1_000 * DAY) == []


def test_runs_of_jobs_are_kept_for_as_long_as_their_job_says(world: World) -> None:
    short = ended(world, source="job", job_id=job(world, 60.0))
    ended(world, source="job", job_id=job(world, None))
    assert expired(world, 59) == []
    assert expired(world, 60) == [short]
    assert expired(world, 1_000 * DAY) == [short]


def test_a_task_that_is_not_over_is_kept_however_old_it_is(world: World) -> None:
    run = world.submit("")
    world.write(lambda tx: tx.execute("UPDATE runs SET source = 'scraping' WHERE id = :id", id=run))
    assert expired(world, 1_000 * DAY) == []


class Wall:
    """A clock of the test's own."""

    now = NOW

    def __call__(self) -> float:
        return self.now


def test_the_duty_deletes_what_has_expired_with_all_that_belongs_to_it(world: World) -> None:
    task, command = ended(world, source="scraping", pages=1_200), ended(world, source="cli")
    wall = Wall()
    duties = Duties(world.database, world.worker(), max_running=5, clock=Clock(wall=wall), cleanup_interval=DAY)
    asyncio.run(duties.run_once())
    assert world.run(task).records == 1_200
    wall.now = NOW + DAY
    for _ in range(20):
        asyncio.run(duties.run_once())
    with pytest.raises(NotFound):
        world.run(task)
    left = world.read(lambda tx: tx.value("SELECT count(*) FROM pages WHERE run_id = :run", run=task))
    assert (left, world.run(command).records) == (0, 1)


def test_a_task_that_is_tried_again_meanwhile_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task = ended(world, source="scraping")
    delete = runs.delete_some

    def revived(tx: Tx, run_id: str, **values: object) -> bool:
        tx.execute("UPDATE runs SET status = 'queued' WHERE id = :id", id=run_id)
        return delete(tx, run_id, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "delete_some", revived)
    wall = Wall()
    wall.now = NOW + DAY
    duties = Duties(world.database, world.worker(), max_running=5, clock=Clock(wall=wall), cleanup_interval=DAY)
    asyncio.run(duties.run_once())
    assert world.read(partial(runs.get, run_id=task)).records == 1


def test_a_large_run_that_is_half_deleted_is_not_deleted_all_at_once_either(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = ended(world, source="scraping", pages=60)
    monkeypatch.setattr("tarantella.engine.duties.runs.delete_some", partial(runs.delete_some, limit=10))
    clock = Clock(wall=lambda: NOW + DAY, monotonic=partial(next, count(0.0, 0.7)))
    duties = Duties(world.database, world.worker(), max_running=5, clock=clock, cleanup_interval=DAY)
    left: list[int] = []
    while not left or left[-1]:
        asyncio.run(duties.run_once())
        left.append(world.read(lambda tx: tx.value("SELECT count(*) FROM pages WHERE run_id = :run", run=task)))
        assert len(left) < 10
    assert left == [40, 20, 0], "a little at a time"
    asyncio.run(duties.run_once())
    with pytest.raises(NotFound):
        world.run(task)
