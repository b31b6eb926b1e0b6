"""Schedules, as clients set and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints

from tarantella.api.views.base import EXAMPLE_ID, Said, Told, moment
from tarantella.api.views.jobs import Frequency
from tarantella.domain.schedule import LONGEST_ZONE, Came, IfMissed, IfRunning, Rhythm, in_words, local
from tarantella.domain.url import redact
from tarantella.services.schedules import Scheduled

Zone = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ZONE)]


class ScheduleSet(Said):
    """When a job runs by itself. What is left out is as usual."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"frequency": "daily at 06:30", "timezone": "Europe/Berlin"}]}
    )

    frequency: Frequency = Field(
        description="A line as for cron, `hourly`, `daily at 06:30`, `every 15 minutes` and the like.",
        examples=["30 6 * * 1-5"],
    )
    timezone: Zone | None = Field(None, description="By the clock of which place; the server's setting, as usual UTC.")
    if_running: IfRunning | None = Field(
        None, description="`skip` a time at which the last run is not over, or `queue` a run."
    )
    if_missed: IfMissed | None = Field(
        None, description="When times passed while nobody worked: `run` once for all of them, or `skip` them."
    )


class LastView(Told):
    """A time that is over."""

    at: datetime
    came: Came = Field(
        description="`run`: a run was made. `skipped`: the one before was not over. `missed`: no server was running. `refused`: the "
        "job can't be run as it is."
    )
    detail: str | None


class ScheduleView(Told):
    """When a job runs by itself, and what came of it so far."""

    job_id: str = Field(examples=[EXAMPLE_ID])
    name: str | None
    target_url: str = Field(examples=["https://example.com/"])
    frequency: str = Field(examples=["daily at 06:30"])
    in_words: str = Field(examples=["At 06:30 every day"])
    timezone: str = Field(examples=["Europe/Berlin"])
    if_running: IfRunning
    if_missed: IfMissed
    paused: bool
    next_at: datetime | None = Field(description="The next time; none while it is paused.")
    next_local: str | None = Field(
        description="The same by the clock of its place.", examples=["Mon 2026-11-23 06:30 CET"]
    )
    late_seconds: float = Field(
        description="For how long its time has passed without anybody noticing: no server runs."
    )
    last: LastView | None = Field(description="The last time, and what came of it.")
    last_run_id: str | None = Field(description="The last run that was made.")
    runs: int = Field(description="Times of which a run came.")
    skipped: int = Field(description="Times at which the run before was not over.")
    missed: int = Field(description="Times that passed while nobody worked.")
    refused: int = Field(description="Times at which the job could not be run as it was.")

    @classmethod
    def of(cls, found: Scheduled, now: float) -> Self:
        job, schedule = found.job, found.schedule
        next_at = None if schedule.paused else schedule.next_at
        return cls(
            job_id=job.id,
            name=job.name,
            target_url=redact(job.target_url),
            frequency=job.frequency,
            in_words=in_words(found.rhythm),
            timezone=job.zone,
            if_running=IfRunning(job.options.get("if_running", IfRunning.SKIP)),
            if_missed=IfMissed(job.options.get("if_missed", IfMissed.RUN)),
            paused=schedule.paused,
            next_at=moment(next_at),
            next_local=clock(next_at, job.zone) if next_at is not None else None,
            late_seconds=round(max(0.0, now - next_at), 3) if next_at is not None else 0.0,
            last=None
            if schedule.last is None
            else LastView(at=moment(schedule.last.at), came=schedule.last.came, detail=_readable(schedule.last.detail)),
            last_run_id=schedule.last_run_id,
            runs=schedule.runs,
            skipped=schedule.skipped,
            missed=schedule.missed,
            refused=schedule.refused,
        )


def _readable(text: str | None) -> str | None:
    """Why a job can't be run can have an address in it, and that a password."""
    return redact(text) if text else None


class TimeView(Told):
    """A time to come."""

    at: datetime
    local: str = Field(examples=["Mon 2026-11-23 06:30 CET"])


class PreviewView(Told):
    """What a frequency means."""

    in_words: str = Field(examples=["At 06:30 on Monday through Friday"])
    timezone: str = Field(examples=["Europe/Berlin"])
    times: list[TimeView]

    @classmethod
    def of(cls, rhythm: Rhythm, times: list[float]) -> Self:
        return cls(
            in_words=in_words(rhythm),
            timezone=rhythm.zone,
            times=[TimeView(at=moment(at), local=clock(at, rhythm.zone)) for at in times],
        )


def clock(at: float, zone: str) -> str:
    """A moment as people there would write it down."""
    return local(at, zone).strftime("%a %Y-%m-%d %H:%M %Z")
