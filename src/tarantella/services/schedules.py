"""Jobs that run by themselves: what a user asks of their schedules, and the runs that are made when their time has come."""

from __future__ import annotations

from functools import partial

from tarantella.domain.errors import Conflict, InvalidInput, NotFound
from tarantella.domain.event import RUN_SCHEDULED, Event, Level
from tarantella.domain.schedule import (
    LATE_SECONDS,
    ON_DEMAND,
    Came,
    IfMissed,
    IfRunning,
    Rhythm,
    latest,
    next_time,
    next_times,
    passed,
    rhythm_of,
)
from tarantella.domain.struct import Frozen, replace
from tarantella.log import log
from tarantella.services import jobs
from tarantella.services.app import App
from tarantella.services.jobs import Job
from tarantella.store import admission, schedules, submission
from tarantella.store import jobs as stored_jobs
from tarantella.store.schedules import Schedule, Timekeeping
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx

__all__ = ["Schedule", "Scheduled", "Timekeeping", "begin_due", "get", "listed", "pause", "preview", "resume"]

AT_ONCE = 50


class Scheduled(Frozen):
    """A job and its clockwork."""

    job: Job
    schedule: Schedule
    rhythm: Rhythm


# -- what a user asks


async def get(app: App, job_id: str) -> Scheduled:
    return await app.database.read(partial(_scheduled, job_id=job_id))


async def listed(app: App, *, limit: int, after: tuple[float, str] | None = None) -> list[Scheduled]:
    """Those whose time comes first; those without a next time come last."""

    def look(tx: Tx) -> list[Scheduled]:
        found = schedules.listed(tx, limit=limit, after=after)
        by_id = {job.id: job for job in stored_jobs.some(tx, [each.job_id for each in found])}
        return [_together(by_id[each.job_id], each) for each in found if each.job_id in by_id]

    return await app.database.read(look)


async def pause(app: App, job_id: str) -> Scheduled:
    """Let times pass without a run until somebody says otherwise; runs that there are go on."""

    def write(tx: Tx) -> Scheduled:
        stored_jobs.get(tx, job_id, tx.dialect.for_update)
        schedules.pause(tx, job_id)
        return _scheduled(tx, job_id)

    return await app.database.write(write, durable=True, name="schedule")


async def resume(app: App, job_id: str) -> Scheduled:
    """Go on with the next time."""

    def write(tx: Tx) -> Scheduled:
        stored_jobs.get(tx, job_id, tx.dialect.for_update)
        before = _scheduled(tx, job_id)
        if before.schedule.paused:
            schedules.resume(tx, job_id, next_time(before.rhythm, app.now(), before.schedule.since))
        return _scheduled(tx, job_id)

    return await app.database.write(write, durable=True, name="schedule")


def preview(app: App, frequency: str, zone: str | None, count: int) -> tuple[Rhythm, list[float]]:
    """The times that a frequency would mean from now on."""
    rhythm = rhythm_of(frequency, zone or app.settings.timezone)
    if rhythm is None:
        raise InvalidInput(
            f"{ON_DEMAND} means no time.", field="frequency", remedy="Give a frequency, as in `daily at 06:30`."
        )
    now = app.now()
    return rhythm, next_times(rhythm, now, now, count)


def _scheduled(tx: Tx, job_id: str) -> Scheduled:
    job = stored_jobs.get(tx, job_id)
    return _together(job, schedules.get(tx, job_id))


def _together(job: Job, schedule: Schedule) -> Scheduled:
    rhythm = jobs.rhythm_of_job(job)
    if rhythm is None:
        raise NotFound(f"The job {job.id!r} has no schedule.")
    return Scheduled(job, schedule, rhythm)


# -- what happens by itself


async def begin_due(app: App) -> bool:
    """Make the runs whose time has come; whether there are any. Whoever serves all runs does this every few seconds."""
    began = False
    while found := await app.database.read(partial(_look, now=app.now())):
        for schedule in found:
            began |= await _keep(app, schedule)
    return began


def _look(tx: Tx, now: float) -> list[Schedule]:
    return schedules.due(tx, now, AT_ONCE) or schedules.astray(tx, now, AT_ONCE)


async def _keep(app: App, schedule: Schedule) -> bool:
    """Make something of a time that has come; whether that is a run of ours."""
    now = app.now()
    try:
        job = await jobs.get(app, schedule.job_id)
        due = Due.of(schedule, job, now)
        new: Submission | None = None
        refused: str | None = None
        if due.came is Came.RUN:
            try:
                new = await jobs.new_run(app, None, job)
            except InvalidInput as error:
                # It was fine when it was made; the settings, or what is installed, have changed since.
                due, refused = replace(due, came=Came.REFUSED), str(error)
        came = await app.database.write(
            partial(_write, app=app, due=due, job=job, new=new, detail=refused), name="schedule"
        )
    except (NotFound, Conflict):
        return False  # deleted or changed while we looked: the next look sees what there is then
    if came is not None:
        said = log.info if came is Came.RUN else log.warning
        said(f"The time of a job has come: {came}", action="schedule", job=job.id, came=came.value)
    return came is Came.RUN


class Due(Frozen):
    """A time that has come, and what is to become of it."""

    schedule: Schedule
    at: float | None  # the last of several that passed; None where the clock was wrong and none has come
    earlier: int
    next_at: float | None
    came: Came | None
    since: float

    @classmethod
    def of(cls, schedule: Schedule, job: Job, now: float) -> Due:
        rhythm = jobs.rhythm_of_job(job)
        if rhythm is None:
            raise Conflict("The job runs on demand now.")
        first = schedule.next_at
        if first is None or first > now:
            since = min(schedule.since, now)
            return cls(schedule, None, 0, next_time(rhythm, now, since), None, since)
        at = latest(rhythm, first, now, schedule.since)
        missed = now - at > LATE_SECONDS and job.options.get("if_missed") == IfMissed.SKIP
        return cls(
            schedule,
            at,
            passed(rhythm, first, now, schedule.since),
            next_time(rhythm, now, schedule.since),
            Came.MISSED if missed else Came.RUN,
            schedule.since,
        )


def _write(tx: Tx, app: App, due: Due, job: Job, new: Submission | None, detail: str | None) -> Came | None:
    """All of it or nothing: the next time, what came of this one, and the run."""
    if stored_jobs.get(tx, job.id, tx.dialect.for_update).version != job.version:
        raise Conflict("The job was changed.")
    if due.at is None or due.came is None:
        schedules.set_right(tx, due.schedule, next_at=due.next_at, since=due.since)
        return None
    if not schedules.is_over(tx, due.schedule, due.at, next_at=due.next_at):
        return None
    came = due.came
    if new is not None and job.options.get("if_running") != IfRunning.QUEUE:
        live = schedules.live_run(tx, job.id)
        if live is not None:
            came, new, detail = Came.SKIPPED, None, f"the run {live} was not over"
    if new is not None:
        submission.store(tx, [_told(new, due)], max_running=app.settings.max_concurrent_tasks)
        admission.admit(tx, app.settings.max_concurrent_tasks, app.now())
    run_id = new.run_id if new is not None else None
    schedules.came(tx, job.id, came, detail=detail, run_id=run_id, missed=due.earlier)
    return came


def _told(new: Submission, due: Due) -> Submission:
    """The run's history begins with why it was made."""
    late = max(0.0, new.now - (due.at or new.now))
    meta = {"scheduled_for": due.at, "late_seconds": round(late, 3), "missed": due.earlier}
    level = Level.WARN if due.earlier or late > LATE_SECONDS else Level.INFO
    return replace(new, said=[Event(RUN_SCHEDULED, level, meta), *new.said])
