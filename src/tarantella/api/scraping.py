"""`/scraping`: submit an address, watch it, collect what came of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, ShortLimit, cut, lead_on
from tarantella.api.once import IdempotencyKey, once_of, response
from tarantella.api.plane import TaskId, Wired, checked_id, plane_of
from tarantella.api.strict import StrictRoute
from tarantella.api.views.overview import SystemStatusView
from tarantella.api.views.problem import problems
from tarantella.api.views.scraping import (
    AsyncScrapeRequest,
    TaskCancelled,
    TaskResults,
    TaskStatus,
    TaskStatusView,
    TaskSubmitted,
)
from tarantella.services import intake, runs
from tarantella.services import scraping as use_cases
from tarantella.services.intake import Answer
from tarantella.services.scraping import submission_of
from tarantella.store.progress import Look

router = APIRouter(prefix="/scraping", tags=["scraping"], route_class=StrictRoute)
SUBMITTED = "Scraping task submitted"


@router.post(
    "/async-scrape",
    response_model=TaskSubmitted,
    summary="Submit a task",
    responses=problems(400, 413, 415, 422, 503),
)
async def submit(request: Request, body: AsyncScrapeRequest, key: IdempotencyKey = None) -> Response:
    """Store a task and answer at once; it runs in the background, and goes on after a crash."""
    plane, once = plane_of(request), await once_of(request, key)
    wanted = body.wanted()
    new = submission_of(plane.app, wanted)
    told = TaskSubmitted(
        task_id=new.run_id,
        status=TaskStatus.PENDING,
        message=SUBMITTED,
        estimated_duration_minutes=wanted.estimated_minutes,
    )
    answer = await intake.submit(plane.app, new, Answer(200, told.model_dump_json()), once)
    if not answer.repeated:
        plane.bell.call(new.run_id, new.spec.priority)
    return response(answer)


@router.get(
    "/tasks/{task_id}/status",
    response_model=TaskStatusView,
    summary="How far a task is",
    responses=problems(404, 503),
)
async def status(task_id: TaskId, request: Request) -> TaskStatusView:
    """Counts, pace and time to the end. The counts always add up: total = completed + failed + skipped + pending."""
    plane = plane_of(request)
    progress = await plane.speedometers.look(plane.app, checked_id(task_id, "task"))
    return TaskStatusView.of(progress)


@router.get(
    "/tasks/{task_id}/results",
    summary="What a task collected",
    responses=problems(404, 422, 503),
    response_model_exclude_unset=True,
)
async def results(
    task_id: TaskId,
    plane: Wired,
    include_errors: Annotated[bool, Query(description="Whether to list the pages that failed.")] = False,
    limit: Annotated[int, Query(ge=1, le=5_000, description="Results in one answer at most.")] = 1_000,
    cursor: Cursor = None,
) -> TaskResults:
    """The results so far, before the task has ended too. Where there are more than fit, `metadata.next_cursor` leads on."""
    task = checked_id(task_id, "task")
    name = listing.name("results", task=task)
    after = cursors.read(name, cursor, int)[0] if cursor is not None else 0
    found = await use_cases.results(plane.app, task, after=after, limit=limit, include_errors=include_errors)
    next_cursor = cursors.written(name, found.items[-1][0]) if found.more and found.items else None
    view = TaskResults.of(found, plane.app.now(), next_cursor)
    if not include_errors:
        view.model_fields_set.discard("errors")
    return view


@router.delete("/tasks/{task_id}", summary="Cancel a task", responses=problems(404, 409, 503))
async def cancel(task_id: TaskId, plane: Wired) -> TaskCancelled:
    """End a task; what it has collected is kept. Cancelling twice is cancelling once."""
    task = checked_id(task_id, "task")
    status = TaskStatus.of(await runs.cancel(plane.app, task))
    plane.bell.ring()
    message = "Task cancelled" if status is TaskStatus.CANCELLED else f"Task is {status}"
    return TaskCancelled(task_id=task, status=status, message=message)


@router.get("/tasks", summary="List tasks", responses={**LIST, **problems(422, 503)})
async def list_tasks(
    plane: Wired,
    request: Request,
    response: Response,
    status_filter: Annotated[TaskStatus | None, Query(description="Only those that are so.")] = None,
    limit: ShortLimit = 50,
    cursor: Cursor = None,
) -> list[TaskStatusView]:
    """The tasks that were submitted here, the newest first."""
    name = listing.name("tasks", status=status_filter)
    before = cursors.read(name, cursor, float, str) if cursor is not None else None
    found = await use_cases.tasks(
        plane.app,
        statuses=status_filter.statuses if status_filter is not None else None,
        limit=limit + 1,
        before=(before[0], before[1]) if before is not None else None,
    )
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, page[-1].created_at, page[-1].id) if more else None)
    now = plane.app.now()
    return [TaskStatusView.of(plane.speedometers.seen(Look(run), now)) for run in page]


@router.get("/status", summary="How the whole is doing", responses=problems(503))
async def system_status(plane: Wired) -> SystemStatusView:
    """Slots, what goes wrong, and which hosts are left alone."""
    return SystemStatusView.of(await plane.overview.look(plane.app))
