"""Jobs, runs that are submitted whole, and keys that make two requests one; on every database."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from tarantella.domain.errors import Conflict, KeyReused, NotFound
from tarantella.domain.event import Event
from tarantella.domain.field import Field
from tarantella.domain.job import Wish
from tarantella.domain.run import Priority, RunStatus
from tarantella.domain.spec import Secrets, Spec
from tarantella.domain.struct import replace
from tarantella.store import admission, duties, first_page, idempotency, intake, jobs, runs, submission
from tarantella.store.database import Database
from tarantella.store.ids import new_id
from tarantella.store.intake import Batch
from tarantella.store.jobs import Job
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx
from tests.contract.world import NOW, World, done, failed, link


def job_of(world: World, **values: Any) -> Job:
    made = Job(
        **{
            "id": new_id(),
            "target_url": "https://a.example/",
            "fields": (Field("title"), Field("price", ".price", "data-amount")),
            "requires_auth": False,
            "frequency": "on_demand",
            "strategy": Wish.AUTO,
            "options": {"max_depth": 2},
            "created_at": world.now,
            "updated_at": world.now,
            **values,
        }
    )
    world.write(jobs.create, job=made)
    return made


def submitted(world: World, *, path: str = "", job: Job | None = None, **values: Any) -> str:
    spec = values.pop("spec", Spec())
    new = Submission(
        new_id(), spec, link(path, depth=1), "job" if job else "scraping", world.now, job.id if job else None, **values
    )

    def store(tx: Tx) -> None:
        submission.check(tx, new)
        submission.store(tx, [new], max_running=world.max_running)
        admission.admit(tx, world.max_running, world.now)

    world.write(store)
    return new.run_id


# -- submissions


def test_a_run_that_is_stored_whole_is_like_one_that_came_in_parts(world: World) -> None:
    secrets = Secrets({"Authorization": "x"}, (), None, ("a.example",))
    spec = Spec(priority=Priority.HIGH, attempts=2, secrets=secrets)
    whole = world.run(submitted(world, path="x", spec=spec, said=[Event("Beware")], export_format="csv"))
    parts = world.run(world.submit("x", spec=spec))
    assert replace(whole, id=parts.id, source="cli", last_event=parts.last_event, export_format=None) == parts
    assert world.messages(whole.id) == ["Run created", "Beware", "Run started"]
    assert (whole.source, whole.export_format) == ("scraping", "csv")
    [page] = world.take(whole.id)
    assert (page.url, page.depth, page.is_start) == ("https://a.example/x", 1, True)
    assert world.settle(world.worker(), done(page)).ended == {whole.id: RunStatus.COMPLETED}


def test_a_run_is_the_same_before_and_after_it_was_stored(world: World) -> None:
    world.max_running = 1
    world.submit("other")
    new = Submission(new_id(), Spec(), link("x", depth=1), "scraping", world.now, resolved_strategy="http")
    world.write(submission.store, batch=[new], max_running=1)
    stored = world.run(new.run_id)
    assert stored.reason == "waits for one of the 1 runs before it to end"
    assert submission.as_run(new) == replace(stored, reason=None)


def test_a_run_remembers_its_first_page(world: World) -> None:
    run, worker = submitted(world), world.worker()
    [page] = world.take(run)
    assert world.read(first_page.first_pages, run_ids=[run])[run].attempt == 1
    outcome = done(page, link("y"))
    record = '{"content_type": "text/html", "bytes": 12, "title": "A"}'
    world.settle(worker, outcome._replace(records=(record,)))
    world.settle(worker, failed(world.take_one(run, "y")))
    ended = world.run(run)
    assert ended.status is RunStatus.PARTIAL
    first = {"http_status": 200, "content_type": "text/html", "content_length": 12, "title": "A"}
    assert ended.stats == {**first, "cost": ended.cost}
    assert ended.cost == {
        "requests": 2,
        "bytes": ended.bytes,
        "browser_seconds": 0.0,
        "pages_by_strategy": {"http": 1},
    }
    assert ended.attempt == 1


# -- group commit


@pytest.mark.parametrize("spoils", [False, True])
def test_submits_that_come_together_are_committed_together_and_one_that_is_refused_harms_no_other(
    world: World, database: Database, spoils: bool
) -> None:
    commits: list[int] = []

    def one(tx: Tx, batch: Batch, number: int) -> int:
        if number == 3:
            raise Conflict("not this one")
        batch.append(Submission(f"{number:036d}", Spec(), link(f"{number}", depth=1), "scraping", NOW))
        if number == 5 and spoils:
            tx.execute("INSERT INTO runs (id) VALUES ('half a run')")  # the database itself refuses it
        return number

    def finish(tx: Tx, batch: Batch) -> None:
        commits.append(len(batch))
        submission.store(tx, batch, max_running=5)
        admission.admit(tx, 5, NOW)

    async def all_of_them() -> list[Any]:
        works = (database.intake.write(partial(one, number=number), finish=finish) for number in range(8))
        return await asyncio.gather(*works, return_exceptions=True)

    answers = asyncio.run(all_of_them())
    stored = [number for number in range(8) if number != 3 and not (spoils and number == 5)]
    assert [answer for answer in answers if isinstance(answer, int)] == stored
    assert isinstance(answers[3], Conflict)
    assert isinstance(answers[5], Exception) == spoils
    assert max(commits) > 1 or spoils
    assert sorted(run.id[-1] for run in world.read(runs.listed)) == [str(number) for number in stored]
    assert len(world.read(runs.listed, status=RunStatus.RUNNING)) == 5


def test_a_group_that_holds_the_database_for_too_long_is_parted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "LONGEST_HOLD", 0.0)
    commits: list[int] = []

    async def all_of_them() -> list[int]:
        async def work(number: int) -> int:
            return await database.intake.write(lambda *_: number, finish=lambda *_: commits.append(number))

        return list(await asyncio.gather(*(work(number) for number in range(4))))

    assert asyncio.run(all_of_them()) == [0, 1, 2, 3]
    assert commits == [0, 1, 2, 3]


# -- keys


def test_a_key_keeps_the_first_answer(world: World) -> None:
    first = idempotency.Kept("k", "digest", 201, "{}")
    assert world.write(idempotency.claim, new=first, now=NOW) is None
    again = idempotency.Kept("k", "digest", 201, '{"another": 1}')
    assert world.write(idempotency.claim, new=again, now=NOW) == first
    assert world.read(idempotency.find, key="k", digest="digest") == first
    with pytest.raises(KeyReused):
        world.write(idempotency.claim, new=idempotency.Kept("k", "other", 201, "{}"), now=NOW)


def test_old_keys_are_forgotten(world: World) -> None:
    for number in range(3):
        kept = idempotency.Kept(f"k{number}", "digest", 200, "{}")
        world.write(idempotency.claim, new=kept, now=NOW + number)
    assert world.write(idempotency.forget_old, before=NOW + 2) == 2
    assert world.read(idempotency.find, key="k1", digest="digest") is None
    assert world.read(idempotency.find, key="k2", digest="digest") is not None


# -- jobs


def test_a_job_is_read_as_it_was_written(world: World) -> None:
    job = job_of(world, name="Prices", secrets={"headers": {"A": "b"}}, warnings=("beware",), keep_seconds=3_600.0)
    assert world.read(jobs.get, job_id=job.id) == job
    assert world.read(jobs.listed, limit=10) == [job]
    with pytest.raises(NotFound):
        world.read(jobs.get, job_id="other")


def test_jobs_are_listed_page_by_page_the_newest_first(world: World) -> None:
    made = [job_of(world, created_at=NOW + number) for number in range(3)]
    first = world.read(jobs.listed, limit=2)
    assert first == [made[2], made[1]]
    assert world.read(jobs.listed, limit=2, before=(first[-1].created_at, first[-1].id)) == [made[0]]


def test_of_two_changes_at_the_same_moment_one_wins(world: World) -> None:
    job = job_of(world)
    world.write(jobs.replace, job=replace(job, version=2, name="first"), was=1)
    with pytest.raises(Conflict):
        world.write(jobs.replace, job=replace(job, version=2, name="second"), was=1)
    assert world.read(jobs.get, job_id=job.id).name == "first"


def test_a_job_is_deleted_with_its_runs_once_they_are_over(world: World) -> None:
    job, other = job_of(world), job_of(world)
    kept = submitted(world, path="kept", job=other)
    ours = [submitted(world, path=f"{number}", job=job) for number in range(3)]
    with pytest.raises(Conflict):
        world.write(jobs.begin_delete, job_id=job.id)
    for run in ours:
        world.cancel(run)
        world.close(run)
    world.write(jobs.begin_delete, job_id=job.id)
    with pytest.raises(NotFound):
        world.read(jobs.get, job_id=job.id)
    with pytest.raises(NotFound):
        submitted(world, path="late", job=job)
    assert world.read(jobs.half_deleted) == [job.id]
    while not world.write(jobs.delete_some, job_id=job.id, limit=2):
        pass
    assert world.read(jobs.half_deleted) == []
    assert [run.id for run in world.read(runs.listed)] == [kept]
    with pytest.raises(NotFound):
        world.read(runs.seen, run_id=ours[0])
    # What they stored is removed by the duties, as after any delete that was cut off.
    assert sorted(world.read(duties.unfinished_submissions, reason=runs.DELETING, now=NOW)) == sorted(ours)


def test_runs_are_listed_by_job_and_by_who_asked(world: World) -> None:
    job = job_of(world)
    task, run, cli = submitted(world, path="a"), submitted(world, path="b", job=job), world.submit("c")
    assert {found.id for found in world.read(runs.listed)} == {task, run, cli}
    assert [found.id for found in world.read(runs.listed, source="scraping")] == [task]
    assert [found.id for found in world.read(runs.listed, job_id=job.id, status=RunStatus.RUNNING)] == [run]
    assert world.read(runs.listed, job_id=job.id, status=RunStatus.FAILED) == []
