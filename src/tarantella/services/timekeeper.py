"""Makes the runs of jobs whose time has come: each time once, whoever sees it, and whatever dies meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
from tarantella.queues.contract import Bell
from tarantella.services import jobs
from tarantella.services.app import App
from tarantella.services.jobs import Job
from tarantella.services.probe import Prober
from tarantella.store import admission, schedules, submission
from tarantella.store import jobs as stored_jobs
from tarantella.store.schedules import Schedule
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx

LOOK_SECONDS = 1.0
AT_ONCE = 50
MOST_ROUNDS = 100  # then others get their turn


class Timekeeper:
    """Looks at the clock for as long as a server lives. Of several, the first who sees a time keeps it."""

    def __init__(self, app: App, prober: Prober, bell: Bell) -> None:
        self._app = app
        self._prober = prober
        self._bell = bell

    async def run(self) -> None:
        trouble: str | None = None
        while True:
            try:
                await begin_due(self._app, self._prober, self._call)
                trouble = None
            except StoreError as error:
                if str(error) != trouble:
                    # Once: it is tried every second.
                    log.warning("The times of jobs can't be looked at", action="schedule", error=str(error))
                trouble = str(error)
            except Exception as error:
                log.exception("A look at the times of jobs went wrong", action="schedule", error=str(error))
            await asyncio.sleep(LOOK_SECONDS)

    def _call(self, new: Submission) -> None:
        self._bell.call(new.run_id, new.spec.priority)


async def begin_due(app: App, prober: Prober, began: Callable[[Submission], object]) -> None:
    """Make the runs whose time has come, and say so of each."""
    for schedule in await app.database.read(partial(schedules.astray, now=app.now(), limit=AT_ONCE)):
        await _set_right(app, schedule)
    for _ in range(MOST_ROUNDS):
        due = await app.database.read(partial(schedules.due, now=app.now(), limit=AT_ONCE))
        kept = await asyncio.gather(*(_keep(app, prober, schedule) for schedule in due), return_exceptions=True)
        for each in kept:
            if isinstance(each, Kept) and each.run is not None:
                began(each.run)
        for each in kept:
            if isinstance(each, BaseException):
                raise each  # when all others are done, and told of
        if len(due) < AT_ONCE or not any(kept):
            break


class Kept(Frozen):
    """What came of a time."""

    came: Came
    run: Submission | None = None
    detail: str | None = None


class Due(Frozen):
    """A time that has come, and what is to become of it."""

    schedule: Schedule
    at: float  # the last of those that have passed
    earlier: int  # how many of them there are beside it
    next_at: float | None
    is_missed: bool  # and not to be made up for


def _due(schedule: Schedule, first: float, job: Job, now: float) -> Due:
    rhythm = _rhythm(job)
    at = latest(rhythm, first, now, schedule.since)
    return Due(
        schedule,
        at,
        earlier=passed(rhythm, first, now, schedule.since),
        # A clock that was put back since the time came would let it come twice.
        next_at=next_time(rhythm, max(now, at), schedule.since),
        is_missed=now - at > LATE_SECONDS and job.options.get("if_missed") == IfMissed.SKIP,
    )


async def _keep(app: App, prober: Prober, schedule: Schedule) -> Kept | None:
    """Make something of a time that has come; what it was, if it was for us to do."""
    if schedule.next_at is None:
        return None
    try:
        job = await jobs.get(app, schedule.job_id)
        due = _due(schedule, schedule.next_at, job, app.now())
        wanted = Kept(Came.MISSED) if due.is_missed else await _run(app, prober, job, due)
        kept = await app.database.write(partial(_write, app=app, job=job, due=due, wanted=wanted), name="schedule")
    except (NotFound, Conflict):
        return None  # deleted or changed while we looked: the next look sees what there is then
    if kept is not None:
        said = log.info if kept.came is Came.RUN else log.warning
        said(f"The time of a job has come: {kept.came}", action="schedule", job=job.id, detail=kept.detail)
    return kept


async def _run(app: App, prober: Prober, job: Job, due: Due) -> Kept:
    """A run whose history begins with why it was made; or why there can be none."""
    try:
        new = await jobs.new_run(app, prober, job)
    except StoreError:
        raise
    except Exception as error:
        # It was fine when it was made. Whatever is wrong with one job, the times of the others are to be kept.
        if not isinstance(error, TarantellaError):
            log.exception("A job can't be run", action="schedule", job=job.id)
        return Kept(Came.REFUSED, detail=str(error) or type(error).__name__)
    late = max(0.0, new.now - due.at)
    meta = {
        "scheduled_for": local(due.at, job.zone).isoformat(timespec="seconds"),
        "late_seconds": round(late, 3),
        "missed": due.earlier,
    }
    level = Level.WARN if due.earlier or late > LATE_SECONDS else Level.INFO
    return Kept(Came.RUN, replace(new, said=[Event(RUN_SCHEDULED, level, meta), *new.said]))


def _write(tx: Tx, app: App, job: Job, due: Due, wanted: Kept) -> Kept | None:
    """All of it or nothing: the next time, what came of this one, and the run."""
    if stored_jobs.get(tx, job.id, tx.dialect.for_update).version != job.version:
        raise Conflict("The job was changed.")
    if not schedules.is_over(tx, due.schedule, due.at, next_at=due.next_at):
        return None
    kept = wanted
    if wanted.run is not None and job.options.get("if_running") != IfRunning.QUEUE:
        live = schedules.live_run(tx, job.id)
        if live is not None:
            kept = Kept(Came.SKIPPED, detail=f"the run {live} was not over")
    run_id = kept.run.run_id if kept.run is not None else None
    schedules.came(tx, job.id, kept.came, detail=kept.detail, run_id=run_id, missed=due.earlier)
    if kept.run is not None:
        submission.store(tx, [kept.run], max_running=app.settings.max_concurrent_tasks)
        admission.admit(tx, app.settings.max_concurrent_tasks, app.now())
    return kept


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
