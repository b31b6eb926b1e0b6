"""The times of jobs: each comes to something once, whoever looks, whatever fails; on every database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.errors import StoreBusy
from tarantella.domain.field import Field
from tarantella.domain.job import Wish
from tarantella.domain.schedule import Came
from tarantella.domain.struct import replace
from tarantella.services import jobs, runs, schedules
from tarantella.services.app import App
from tarantella.services.jobs import Job, JobDraft
from tarantella.services.probe import Prober
from tarantella.services.schedules import Scheduled
from tarantella.services.timekeeper import begin_due
from tarantella.settings import load
from tarantella.store import jobs as stored_jobs
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx

NOON = 1_795_003_200.0  # 2026-11-18 12:00 UTC, a Wednesday
HOUR = 3_600.0


class Clock:
    """Says what it is told to."""

    def __init__(self) -> None:
        self.now = NOON + 30

    def __call__(self) -> float:
        return self.now


class Keeper:
    """An application by a clock of its own, and a job that runs by it."""

    def __init__(self, app: App, clock: Clock) -> None:
        self.app, self.clock = app, clock
        self.prober = Prober(app.make_tools)  # nobody needs it: the jobs say how they are fetched

    def job(self, frequency: str = "hourly", **options: Any) -> Job:
        async def make() -> Job:
            draft = JobDraft(
                "http://127.0.0.1:9/", (Field("title"),), frequency=frequency, strategy=Wish.HTTP, options=options
            )
            return await jobs.drafted(self.app, self.prober, draft)

        job = asyncio.run(make())
        self.write(stored_jobs.create, job=job)
        return job

    def write(self, work: Any, **values: Any) -> Any:
        return asyncio.run(self.app.database.write(partial(work, **values)))

    def look(self) -> bool:
        """What a server does every second; whether a run came of it."""
        self.told: list[Submission] = []
        asyncio.run(begin_due(self.app, self.prober, self.told.append))
        return bool(self.told)

    def schedule(self, job: Job) -> Scheduled:
        return asyncio.run(schedules.get(self.app, job.id))

    def last(self, job: Job) -> tuple[Came, str | None]:
        last = self.schedule(job).schedule.last
        assert last is not None
        return last.came, last.detail

    def counts(self, job: Job) -> tuple[int, int, int, int]:
        found = self.schedule(job).schedule
        return found.runs, found.skipped, found.missed, found.refused

    def runs(self, job: Job) -> list[runs.Run]:
        return asyncio.run(runs.listed(self.app, job_id=job.id))

    def end(self, run_id: str) -> None:
        self.write(lambda tx: tx.execute("UPDATE runs SET status = 'completed' WHERE id = :id", id=run_id))

    def event(self, run_id: str) -> dict[str, Any]:
        def look(tx: Tx) -> str:
            return str(
                tx.value("SELECT meta FROM run_events WHERE run_id = :id AND message = 'Run scheduled'", id=run_id)
            )

        return dict(json.loads(asyncio.run(self.app.database.read(look))))


@pytest.fixture
def keeper(kind: str, place: Place, tmp_path: Path) -> Iterator[Keeper]:
    clock = Clock()
    url = str(place) if kind == "postgresql" else None
    settings = load(data_dir=tmp_path / "store", database_url=url, allow_networks=("127.0.0.0/8",))
    app = open_app(settings)
    yield Keeper(replace(app, now=clock), clock)
    app.close()


def test_a_time_that_has_come_makes_a_run_and_the_next_is_known(keeper: Keeper) -> None:
    job = keeper.job("hourly")
    assert keeper.schedule(job).schedule.next_at == NOON + HOUR
    assert not keeper.look()
    keeper.clock.now = NOON + HOUR + 2
    assert keeper.look()
    assert not keeper.look()
    [run] = keeper.runs(job)
    assert (run.status.value, run.source, run.spec.strategy) == ("running", "job", "http")
    assert keeper.event(run.id) == {"scheduled_for": "2026-11-18T13:00:00+00:00", "late_seconds": 2.0, "missed": 0}
    found = keeper.schedule(job).schedule
    assert (found.next_at, found.last_run_id) == (NOON + 2 * HOUR, run.id)
    assert keeper.counts(job) == (1, 0, 0, 0)


def test_many_who_see_the_same_time_make_one_run_of_it(keeper: Keeper) -> None:
    made = [keeper.job("hourly") for _ in range(3)]
    keeper.clock.now = NOON + HOUR + 1
    others = [open_app(keeper.app.settings) for _ in range(3)]

    async def all_look() -> None:
        began: list[Submission] = []
        apps = [keeper.app, *(replace(other, now=keeper.clock) for other in others)]
        await asyncio.gather(*(begin_due(app, keeper.prober, began.append) for app in apps for _ in range(3)))

    try:
        asyncio.run(all_look())
    finally:
        for other in others:
            other.close()
    assert [len(keeper.runs(job)) for job in made] == [1, 1, 1]
    assert [keeper.counts(job) for job in made] == [(1, 0, 0, 0)] * 3


def test_more_than_are_looked_at_together_are_all_kept(keeper: Keeper) -> None:
    job = keeper.job("hourly")

    def copy(tx: Tx) -> None:
        for number in range(120):
            stored_jobs.create(tx, replace(job, id=f"{number:08}-0000-0000-0000-000000000000"))

    keeper.write(copy)
    keeper.clock.now = NOON + HOUR
    assert keeper.look()
    assert len(asyncio.run(runs.listed(keeper.app, limit=1_000))) == 121


@pytest.mark.parametrize("after", [False, True], ids=["not made", "made and denied"])
def test_a_commit_of_which_nobody_hears_makes_one_run(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    job = keeper.job("hourly")
    keeper.clock.now = NOON + HOUR + 1
    write = Database._write

    def fails(self: Database, work: Any, name: str, **more: Any) -> Any:
        if name == "schedule":
            if after:
                write(self, work, name, **more)
            raise StoreBusy("It is said that this failed.")
        return write(self, work, name, **more)

    monkeypatch.setattr(Database, "_write", fails)
    with pytest.raises(StoreBusy):
        keeper.look()
    monkeypatch.undo()
    keeper.look()
    assert len(keeper.runs(job)) == 1
    assert keeper.counts(job) == (1, 0, 0, 0)


def test_times_that_passed_while_nobody_was_there_make_one_run_for_all_of_them(keeper: Keeper) -> None:
    job = keeper.job("hourly")
    keeper.clock.now = NOON + 5 * HOUR + 1_200
    keeper.look()
    [run] = keeper.runs(job)
    assert keeper.event(run.id) == {"scheduled_for": "2026-11-18T17:00:00+00:00", "late_seconds": 1200.0, "missed": 4}
    assert keeper.counts(job) == (1, 0, 4, 0)
    assert keeper.schedule(job).schedule.next_at == NOON + 6 * HOUR


def test_times_that_passed_are_left_out_where_that_is_wanted_but_not_one_that_is_only_just_over(keeper: Keeper) -> None:
    job = keeper.job("hourly", if_missed="skip")
    keeper.clock.now = NOON + 5 * HOUR + 1_200
    assert not keeper.look()
    assert keeper.runs(job) == []
    assert keeper.last(job)[0] is Came.MISSED
    assert keeper.counts(job) == (0, 0, 5, 0)
    keeper.clock.now = NOON + 8 * HOUR + 60
    assert keeper.look()
    assert keeper.counts(job) == (1, 0, 7, 0)


def test_a_time_is_skipped_while_the_last_run_is_not_over_and_says_so(keeper: Keeper) -> None:
    job = keeper.job("hourly")
    keeper.clock.now = NOON + HOUR
    keeper.look()
    [first] = keeper.runs(job)
    keeper.clock.now = NOON + 2 * HOUR
    assert not keeper.look()
    assert keeper.last(job) == (Came.SKIPPED, f"the run {first.id} was not over")
    assert [run.id for run in keeper.runs(job)] == [first.id]
    assert keeper.schedule(job).schedule.last_run_id == first.id
    keeper.end(first.id)
    keeper.clock.now = NOON + 3 * HOUR
    assert keeper.look()
    assert keeper.counts(job) == (2, 1, 0, 0)


def test_a_run_is_queued_all_the_same_where_that_is_wanted(keeper: Keeper) -> None:
    job = keeper.job("hourly", if_running="queue")
    for hour in (1, 2):
        keeper.clock.now = NOON + hour * HOUR
        assert keeper.look()
    assert len(keeper.runs(job)) == 2


@pytest.mark.parametrize(
    ("options", "detail"), [({"max_depth": 0}, ""), ({"scope": "nonsense"}, "nonsense")], ids=["refused", "unheard-of"]
)
def test_a_job_that_can_no_longer_be_run_says_so_and_keeps_no_other_from_running(
    keeper: Keeper, options: dict[str, Any], detail: str
) -> None:
    broken, sound = keeper.job("hourly"), keeper.job("hourly")
    keeper.write(stored_jobs.replace, job=replace(broken, options={**broken.options, **options}, version=2), was=1)
    keeper.clock.now = NOON + HOUR
    assert keeper.look()
    came, why = keeper.last(broken)
    assert came is Came.REFUSED
    assert why is not None and detail in why
    assert keeper.counts(broken) == (0, 0, 0, 1)
    assert keeper.schedule(broken).schedule.next_at == NOON + 2 * HOUR
    assert len(keeper.runs(sound)) == 1


def test_trouble_with_one_job_keeps_no_other_waiting(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, sound = keeper.job("hourly"), keeper.job("hourly")
    keeper.clock.now = NOON + HOUR
    new_run = jobs.new_run

    async def fails(app: App, prober: Prober, job: Job, *more: Any) -> Any:
        if job.id == broken.id:
            raise StoreBusy("It is said that this failed.")
        await asyncio.sleep(0.1)
        return await new_run(app, prober, job, *more)

    monkeypatch.setattr(jobs, "new_run", fails)
    with pytest.raises(StoreBusy):
        keeper.look()
    assert [new.job_id for new in keeper.told] == [sound.id]
    assert keeper.counts(sound) == (1, 0, 0, 0)
    monkeypatch.undo()
    assert keeper.look()
    assert keeper.counts(broken) == (1, 0, 0, 0)


def test_a_pause_lets_times_pass_and_a_resume_goes_on_with_the_next(keeper: Keeper) -> None:
    job = keeper.job("hourly")
    asyncio.run(schedules.pause(keeper.app, job.id))
    keeper.clock.now = NOON + 3 * HOUR + 60
    assert not keeper.look()
    asyncio.run(schedules.resume(keeper.app, job.id))
    assert not keeper.look()
    assert keeper.schedule(job).schedule.next_at == NOON + 4 * HOUR
    assert keeper.counts(job) == (0, 0, 0, 0)
    keeper.clock.now = NOON + 4 * HOUR
    assert keeper.look()


def test_only_other_times_wind_a_schedule_up_anew(keeper: Keeper) -> None:
    job = keeper.job("every 15 minutes")
    before = keeper.schedule(job).schedule
    keeper.clock.now += 60
    named = replace(job, name="a name", version=2, updated_at=keeper.clock.now)
    keeper.write(stored_jobs.replace, job=named, was=1)
    assert keeper.schedule(job).schedule == before
    other = replace(named, frequency="every 30 minutes", version=3)
    keeper.write(stored_jobs.replace, job=other, was=2)
    assert keeper.schedule(job).schedule.next_at == keeper.clock.now + 1_800
    zoned = replace(other, frequency="daily at 06:00", options={"timezone": "Asia/Tokyo"}, version=4)
    keeper.write(stored_jobs.replace, job=zoned, was=3)
    assert keeper.schedule(job).schedule.next_at == NOON + 9 * HOUR
    keeper.write(stored_jobs.replace, job=replace(zoned, frequency="on_demand", version=5), was=4)
    assert asyncio.run(schedules.listed(keeper.app, limit=10)) == []


def test_a_deleted_job_has_no_times(keeper: Keeper) -> None:
    job = keeper.job("hourly")
    asyncio.run(jobs.delete(keeper.app, job.id))
    keeper.clock.now = NOON + HOUR
    assert not keeper.look()
    assert asyncio.run(schedules.listed(keeper.app, limit=10)) == []


def test_a_job_that_is_changed_in_the_same_moment_runs_as_it_is_then(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = keeper.job("hourly")
    keeper.clock.now = NOON + HOUR
    new_run = jobs.new_run

    async def changed_meanwhile(app: App, prober: Prober, found: Job, *more: Any) -> Any:
        new = await new_run(app, prober, found, *more)
        if found.version == 1:
            changed = replace(found, options={**found.options, "max_depth": 3}, version=2)
            await app.database.write(partial(stored_jobs.replace, job=changed, was=1))
        return new

    monkeypatch.setattr(jobs, "new_run", changed_meanwhile)
    keeper.look()
    keeper.look()
    [run] = keeper.runs(job)
    assert run.spec.depth == 3
    assert keeper.counts(job) == (1, 0, 0, 0)


def test_a_clock_that_was_far_ahead_does_not_keep_jobs_from_running(keeper: Keeper) -> None:
    keeper.clock.now = NOON + 400 * 24 * HOUR
    job, every = keeper.job("daily at 13:00"), keeper.job("every 2 hours")
    keeper.clock.now = NOON + 30
    keeper.look()
    assert keeper.schedule(job).schedule.next_at == NOON + HOUR
    assert keeper.schedule(every).schedule.next_at == NOON + 30 + 2 * HOUR
    keeper.clock.now = NOON + HOUR
    assert keeper.look()
    assert keeper.counts(job) == (1, 0, 0, 0)


def test_a_clock_that_is_put_back_a_little_keeps_no_time_twice(keeper: Keeper) -> None:
    job = keeper.job("hourly", if_running="queue")
    keeper.clock.now = NOON + HOUR + 1
    keeper.look()
    keeper.clock.now = NOON + HOUR - 60
    keeper.look()
    keeper.clock.now = NOON + HOUR + 2
    keeper.look()
    assert len(keeper.runs(job)) == 1


def test_a_clock_that_is_put_back_while_a_time_is_kept_keeps_it_once(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = keeper.job("hourly", if_running="queue")
    keeper.clock.now = NOON + HOUR + 1
    get = jobs.get

    async def put_back(app: App, job_id: str) -> Job:
        keeper.clock.now = NOON + HOUR - 30
        return await get(app, job_id)

    monkeypatch.setattr(jobs, "get", put_back)
    keeper.look()
    keeper.clock.now = NOON + HOUR + 2
    keeper.look()
    assert len(keeper.runs(job)) == 1
    assert keeper.schedule(job).schedule.next_at == NOON + 2 * HOUR


def test_schedules_are_listed_by_their_next_time_page_by_page(keeper: Keeper) -> None:
    made = [keeper.job(frequency) for frequency in ("daily", "hourly", "every 5 minutes", "hourly")]
    listed = asyncio.run(schedules.listed(keeper.app, limit=10))
    assert [each.job.id for each in listed] == [made[2].id, *sorted((made[1].id, made[3].id)), made[0].id]
    paged, after = [], None
    while page := asyncio.run(schedules.listed(keeper.app, limit=1, after=after)):
        paged += page
        after = page[-1].schedule.place
    assert paged == listed
