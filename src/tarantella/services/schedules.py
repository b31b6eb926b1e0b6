"""What a user asks of the schedules of jobs; what becomes of their times is in timekeeper.py."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tarantella.domain.errors import InvalidInput, NotFound
from tarantella.domain.schedule import (
    ON_DEMAND,
    Rhythm,
    meant,
    next_time,
    next_times,
    rhythm_of,
)
from tarantella.domain.struct import Frozen
from tarantella.services import jobs
from tarantella.services.app import App
from tarantella.services.jobs import Job
from tarantella.services.probe import Prober
from tarantella.store import jobs as stored_jobs
from tarantella.store import schedules
from tarantella.store.schedules import Schedule, Timekeeping
from tarantella.store.tx import Tx

__all__ = [
    "Schedule",
    "Scheduled",
    "Timekeeping",
    "arrange",
    "dismiss",
    "get",
    "listed",
    "pause",
    "preview",
    "resume",
]

OPTIONS = ("timezone", "if_running", "if_missed")  # of a job, that are about its times


class Scheduled(Frozen):
    """A job and its clockwork."""

    job: Job
    schedule: Schedule
    rhythm: Rhythm


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


async def arrange(app: App, prober: Prober, job_id: str, changes: Mapping[str, str | None]) -> Scheduled:
    """Say when a job runs by itself. What is not mentioned is as usual."""
    frequency = changes.get("frequency") or ON_DEMAND
    if frequency.strip().lower() == ON_DEMAND:
        raise _no_time("Remove the schedule instead.")
    options = {name: changes.get(name) for name in OPTIONS}
    await jobs.changed(app, prober, job_id, {"frequency": frequency, "options": options})
    return await get(app, job_id)


async def dismiss(app: App, prober: Prober, job_id: str) -> None:
    """Let a job run only when somebody says so."""
    await get(app, job_id)
    options = dict.fromkeys(OPTIONS)
    await jobs.changed(app, prober, job_id, {"frequency": ON_DEMAND, "options": options})


def preview(app: App, frequency: str, zone: str | None, count: int) -> tuple[Rhythm, list[float]]:
    """The times that a frequency would mean from now on."""
    rhythm = meant(frequency, zone or app.settings.timezone)
    if rhythm is None:
        raise _no_time("Give a frequency, as in `daily at 06:30`.")
    now = app.now()
    return rhythm, next_times(rhythm, now, now, count)


def _no_time(remedy: str) -> InvalidInput:
    return InvalidInput(f"{ON_DEMAND} means no time.", field="frequency", remedy=remedy)


def _scheduled(tx: Tx, job_id: str) -> Scheduled:
    job = stored_jobs.get(tx, job_id)
    return _together(job, schedules.get(tx, job_id))


def _together(job: Job, schedule: Schedule) -> Scheduled:
    rhythm = rhythm_of(job.frequency, job.zone)
    if rhythm is None:
        raise NotFound(f"The job {job.id!r} has no schedule.")
    return Scheduled(job, schedule, rhythm)
