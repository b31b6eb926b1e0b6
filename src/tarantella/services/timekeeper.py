"""Makes the runs of jobs whose time has come: each time once, whoever sees it, and whatever dies meanwhile."""

from __future__ import annotations

from functools import partial

from tarantella.domain.errors import Conflict, NotFound, StoreError, TarantellaError
from tarantella.domain.event import RUN_SCHEDULED, Event, Level
from tarantella.domain.schedule import (
    LATE_SECONDS,
    Came,
    IfMissed,
    IfRunning,
    Rhythm,
    latest,
    local,
    next_time,
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
from tarantella.store.schedules import Schedule
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx

AT_ONCE = 50
MOST_ROUNDS = 100  # then others get their turn


async def begin_due(app: App) -> bool:
    """Make the runs whose time has come; whether there are any. Whoever serves all runs does this every few seconds."""
    for schedule in await app.database.read(partial(schedules.astray, now=app.now(), limit=AT_ONCE)):
        await _set_right(app, schedule)
    began = False
    for _ in range(MOST_ROUNDS):
        due = await app.database.read(partial(schedules.due, now=app.now(), limit=AT_ONCE))
        came = [await _keep(app, schedule) for schedule in due]
        began |= Came.RUN in came
        if len(due) < AT_ONCE or not any(came):
            break
    return began


class Due(Frozen):
    """A time that has come, and what is to become of it."""

    schedule: Schedule
    at: float  # the last of those that have passed
    earlier: int  # how many of them there are beside it
    next_at: float | None
    came: Came
    detail: str | None = None


def _due(schedule: Schedule, first: float, job: Job, now: float) -> Due:
    rhythm = _rhythm(job)
    at = latest(rhythm, first, now, schedule.since)
    is_missed = now - at > LATE_SECONDS and job.options.get("if_missed") == IfMissed.SKIP
    return Due(
        schedule,
        at,
        passed(rhythm, first, now, schedule.since),
        next_time(rhythm, now, schedule.since),
        Came.MISSED if is_missed else Came.RUN,
    )


async def _keep(app: App, schedule: Schedule) -> Came | None:
    """Make something of a time that has come; what it was, if it was for us to do."""
    if schedule.next_at is None:
        return None
    try:
        job = await jobs.get(app, schedule.job_id)
        due = _due(schedule, schedule.next_at, job, app.now())
        new: Submission | None = None
        if due.came is Came.RUN:
            try:
                new = await _run(app, job, due)
            except StoreError:
                raise
            except Exception as error:
                # It was fine when it was made. Whatever is wrong with one job, the times of the others are to be kept.
                if not isinstance(error, TarantellaError):
                    log.exception("A job can't be run", action="schedule", job=job.id)
                due = replace(due, came=Came.REFUSED, detail=str(error) or type(error).__name__)
        came = await app.database.write(partial(_write, app=app, job=job, due=due, new=new), name="schedule")
    except (NotFound, Conflict):
        return None  # deleted or changed while we looked: the next look sees what there is then
    if came is not None:
        said = log.info if came is Came.RUN else log.warning
        said(f"The time of a job has come: {came}", action="schedule", job=job.id, came=came.value)
    return came


async def _run(app: App, job: Job, due: Due) -> Submission:
    """A run whose history begins with why it was made."""
    new = await jobs.new_run(app, None, job)
    late = max(0.0, new.now - due.at)
    meta = {
        "scheduled_for": local(due.at, job.zone).isoformat(timespec="seconds"),
        "late_seconds": round(late, 3),
        "missed": due.earlier,
    }
    level = Level.WARN if due.earlier or late > LATE_SECONDS else Level.INFO
    return replace(new, said=[Event(RUN_SCHEDULED, level, meta), *new.said])


def _write(tx: Tx, app: App, job: Job, due: Due, new: Submission | None) -> Came | None:
    """All of it or nothing: the next time, what came of this one, and the run."""
    if stored_jobs.get(tx, job.id, tx.dialect.for_update).version != job.version:
        raise Conflict("The job was changed.")
    if not schedules.is_over(tx, due.schedule, due.at, next_at=due.next_at):
        return None
    came, detail = due.came, due.detail
    if new is not None and job.options.get("if_running") != IfRunning.QUEUE:
        live = schedules.live_run(tx, job.id)
        if live is not None:
            came, detail, new = Came.SKIPPED, f"the run {live} was not over", None
    schedules.came(tx, job.id, came, detail=detail, run_id=new.run_id if new is not None else None, missed=due.earlier)
    if new is not None:
        submission.store(tx, [new], max_running=app.settings.max_concurrent_tasks)
        admission.admit(tx, app.settings.max_concurrent_tasks, app.now())
    return came


async def _set_right(app: App, schedule: Schedule) -> None:
    """Wind a schedule up anew that was wound up while the clock was far ahead."""

    def write(tx: Tx) -> None:
        job = stored_jobs.get(tx, schedule.job_id, tx.dialect.for_update)
        since = min(schedule.since, app.now())
        schedules.set_right(tx, schedule, next_at=next_time(_rhythm(job), app.now(), since), since=since)

    try:
        await app.database.write(write, name="schedule")
    except (NotFound, Conflict):
        return
    log.warning("The clock was ahead when a schedule was wound up; it is again", action="schedule", job=schedule.job_id)


def _rhythm(job: Job) -> Rhythm:
    rhythm = rhythm_of(job.frequency, job.zone)
    if rhythm is None:
        raise Conflict("The job runs on demand now.")
    return rhythm
