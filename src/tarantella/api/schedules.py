"""`/schedules`: which jobs run by themselves, when, and what came of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tarantella.api import cursors
from tarantella.api.listing import LIST, Cursor, ShortLimit, cut, lead_on
from tarantella.api.plane import JobId, Wired, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.schedules import PreviewView, ScheduleSet, ScheduleView
from tarantella.domain.schedule import LONGEST_FREQUENCY, LONGEST_ZONE
from tarantella.services import schedules

router = APIRouter(prefix="/schedules", tags=["schedules"], route_class=StrictRoute)


@router.get("", summary="List schedules", responses={**LIST, **problems(422, 503)})
async def listed(
    plane: Wired, request: Request, response: Response, limit: ShortLimit = 50, cursor: Cursor = None
) -> list[ScheduleView]:
    """Jobs that run by themselves, those whose time comes first."""
    after = cursors.read("schedules", cursor, float, str) if cursor is not None else None
    found = await schedules.listed(
        plane.app, limit=limit + 1, after=(after[0], after[1]) if after is not None else None
    )
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written("schedules", *page[-1].schedule.place) if more else None)
    now = plane.app.now()
    return [ScheduleView.of(each, now) for each in page]


@router.get("/preview", summary="See what a frequency means", responses=problems(422, 503))
async def preview(
    plane: Wired,
    frequency: Annotated[
        str,
        Query(
            min_length=1,
            max_length=LONGEST_FREQUENCY,
            description="How often, in words or as five fields of cron.",
            examples=["daily at 06:30"],
        ),
    ],
    timezone: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_ZONE,
            description="Where its hours are meant; the time zone of the settings, if nothing is said.",
            examples=["Europe/Berlin"],
        ),
    ] = None,
    count: Annotated[int, Query(ge=1, le=100, description="So many times.")] = 5,
) -> PreviewView:
    """The next times that it would mean, without any job."""
    return PreviewView.of(*schedules.preview(plane.app, frequency, timezone, count))


@router.get("/{job_id}", summary="Look at a schedule", responses=problems(404, 503))
async def show(job_id: JobId, plane: Wired) -> ScheduleView:
    """When a job runs by itself, and what came of it so far."""
    return ScheduleView.of(await schedules.get(plane.app, checked_id(job_id, "job")), plane.app.now())


@router.put("/{job_id}", summary="Say when a job runs", responses=problems(400, 404, 409, 413, 415, 422, 503))
async def arrange(job_id: JobId, body: ScheduleSet, plane: Wired) -> ScheduleView:
    """Let a job run by itself, as `frequency`, `timezone`, `if_running` and `if_missed` of the job would. Other times begin anew."""
    said = body.model_dump(mode="json", exclude_none=True)
    found = await schedules.arrange(plane.app, plane.prober, checked_id(job_id, "job"), said)
    return ScheduleView.of(found, plane.app.now())


@router.delete("/{job_id}", status_code=204, summary="Remove a schedule", responses=problems(404, 409, 422, 503))
async def dismiss(job_id: JobId, plane: Wired) -> None:
    """Let a job run only when somebody says so; the job and its runs stay."""
    await schedules.dismiss(plane.app, plane.prober, checked_id(job_id, "job"))


@router.post("/{job_id}/pause", summary="Pause a schedule", responses=problems(404, 503))
async def pause(job_id: JobId, plane: Wired) -> ScheduleView:
    """Let its times pass without a run. Runs that there are go on."""
    return ScheduleView.of(await schedules.pause(plane.app, checked_id(job_id, "job")), plane.app.now())


@router.post("/{job_id}/resume", summary="Resume a schedule", responses=problems(404, 503))
async def resume(job_id: JobId, plane: Wired) -> ScheduleView:
    """Go on with its next time."""
    return ScheduleView.of(await schedules.resume(plane.app, checked_id(job_id, "job")), plane.app.now())
