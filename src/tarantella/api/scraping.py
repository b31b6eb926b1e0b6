"""`/scraping`: submit an address, watch it, collect what came of it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tarantella.api.once import IdempotencyKey, response
from tarantella.api.plane import Wired, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.scraping import AsyncScrapeRequest, TaskStatus, TaskStatusView, TaskSubmitted
from tarantella.services import intake
from tarantella.services.intake import Answer
from tarantella.services.scraping import submission_of

router = APIRouter(prefix="/scraping", tags=["scraping"], route_class=StrictRoute)
SUBMITTED = "Scraping task submitted"


@router.post(
    "/async-scrape",
    response_model=TaskSubmitted,
    summary="Submit a task",
    responses=problems(400, 413, 415, 422, 503),
)
async def submit(body: AsyncScrapeRequest, once: IdempotencyKey, plane: Wired) -> Response:
    """Store a task and answer at once; it runs in the background, and goes on after a crash."""
    wanted = body.wanted()
    new = submission_of(plane.app, wanted)
    told = TaskSubmitted(
        task_id=new.run_id,
        status=TaskStatus.PENDING,
        message=SUBMITTED,
        estimated_duration_minutes=wanted.estimated_minutes,
    )
    answer = await intake.submit(plane.app, new, Answer(200, told.model_dump_json()), once)
    plane.bell.ring()
    return response(answer)


@router.get(
    "/tasks/{task_id}/status",
    response_model=TaskStatusView,
    summary="How far a task is",
    responses=problems(404, 503),
)
async def status(task_id: str, plane: Wired) -> TaskStatusView:
    """Counts, pace and time to the end. The counts always add up: total = completed + failed + skipped + pending."""
    progress = await plane.speedometers.look(plane.app, checked_id(task_id, "task"))
    return TaskStatusView.of(progress)
