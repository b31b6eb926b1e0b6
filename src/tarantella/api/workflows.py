"""`/workflows`: steps that wait for one another, started, watched, steered and recovered."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, Limit, ShortLimit, cut, lead_on
from tarantella.api.once import IdempotencyKey, once_of, response
from tarantella.api.plane import Plane, Wired, WorkflowId, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.base import EXAMPLE_ID
from tarantella.api.views.problem import problems
from tarantella.api.views.workflows import (
    DefinitionView,
    RecoverySaid,
    StepView,
    TaskFilter,
    WhySaid,
    WorkflowCreate,
    WorkflowDetail,
    WorkflowEventView,
    WorkflowProgressView,
    WorkflowView,
)
from tarantella.domain.errors import InvalidInput
from tarantella.domain.workflow import WorkflowStatus
from tarantella.services import intake, workflows
from tarantella.services.intake import AlreadyAnswered, Answer, Once
from tarantella.services.workflows import Detailed, Group
from tarantella.store.tx import Tx

router = APIRouter(prefix="/workflows", tags=["workflows"], route_class=StrictRoute)
_GET = problems(404, 503)
_STEER = problems(404, 409, 503)
_SAID = problems(400, 404, 409, 413, 415, 422, 503)
StepId = Annotated[
    str, Path(description="The id of a step, or the `celery_task_id` of its last execution.", examples=[EXAMPLE_ID])
]
Why = Annotated[WhySaid | None, Body(description="All of it can be left out.")]
Recovery = Annotated[RecoverySaid | None, Body(description="All of it can be left out.")]


@router.post(
    "",
    status_code=201,
    response_model=WorkflowDetail,
    summary="Make a workflow",
    responses=_SAID,
)
async def create(request: Request, body: WorkflowCreate, plane: Wired, key: IdempotencyKey = None) -> Response:
    """Check a workflow and store it, steps and all. Nothing of it begins before it is started, here with `start` or later."""
    once = await once_of(request, key)
    if (known := await intake.known_answer(plane.app, once)) is not None:
        return response(known)
    also = partial(_keep, once=once, now=plane.app.now())
    try:
        created = await workflows.create(plane.app, body.draft(), start=body.start, also=also)
    except AlreadyAnswered as before:
        return response(before.answer)
    return response(_answer(created))


def _answer(created: Detailed) -> Answer:
    return Answer(201, WorkflowDetail.of_detailed(created).model_dump_json())


def _keep(tx: Tx, created: Detailed, once: Once | None, now: float) -> None:
    intake.keep(tx, once, _answer(created), now)


@router.post("/check", summary="Check a workflow", responses=problems(400, 404, 413, 415, 422, 503))
async def check(body: WorkflowCreate, plane: Wired) -> DefinitionView:
    """What `POST /workflows` would make of this. Nothing is stored."""
    return DefinitionView.of(await workflows.check(plane.app, body.draft()))


@router.get("", summary="List workflows", responses={**LIST, **problems(422, 503)})
async def list_workflows(
    plane: Wired,
    request: Request,
    response: Response,
    status: Annotated[WorkflowStatus | None, Query(description="Only those that are so.")] = None,
    group: Annotated[
        Group | None,
        Query(
            description="`active`: running or recovering. `failed`. `recoverable`: failed, and with recoveries left."
        ),
    ] = None,
    job_id: Annotated[
        str | None, Query(max_length=36, pattern="^[0-9a-fA-F-]*$", description="Only those of this job.")
    ] = None,
    limit: ShortLimit = 50,
    cursor: Cursor = None,
) -> list[WorkflowView]:
    """All workflows, the newest first, without their steps."""
    job = job_id.lower() if job_id is not None else None
    name = listing.name("workflows", status=status, group=group, job_id=job)
    before = cursors.read(name, cursor, float, str) if cursor is not None else None
    found = await workflows.listed(
        plane.app,
        status=status,
        group=group,
        job_id=job,
        limit=limit + 1,
        before=(before[0], before[1]) if before is not None else None,
    )
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, page[-1].created_at, page[-1].id) if more else None)
    return [WorkflowView.of(each) for each in page]


@router.get("/tasks/{step_id}", summary="Find a step", responses=_GET)
async def find_step(step_id: StepId, plane: Wired) -> StepView:
    """A step with the whole of its result, by its own id or by that of its last execution."""
    task = await workflows.find_task(plane.app, checked_id(step_id, "step"))
    found = await workflows.get(plane.app, task.workflow_id)
    return StepView.of(found, task, whole=True)


@router.get("/{workflow_id}", summary="Look at a workflow", responses=_GET)
async def get_workflow(workflow_id: WorkflowId, plane: Wired) -> WorkflowDetail:
    """A workflow and its steps as they are now, and what it waits for."""
    return WorkflowDetail.of_detailed(await _found(plane, workflow_id))


@router.delete("/{workflow_id}", status_code=204, summary="Delete a workflow", responses=_STEER)
async def delete(workflow_id: WorkflowId, plane: Wired) -> None:
    """Delete a workflow that is over, its history and its folder. Runs that it made stay. Refused while it is not: cancel it first."""
    await workflows.delete(plane.app, checked_id(workflow_id, "workflow"))


@router.get("/{workflow_id}/progress", summary="How far a workflow is", responses=_GET)
async def get_progress(workflow_id: WorkflowId, plane: Wired) -> WorkflowProgressView:
    """Counts, and how each step stands."""
    return WorkflowProgressView.of(await _found(plane, workflow_id))


@router.get("/{workflow_id}/tasks", summary="The steps of a workflow", responses=problems(404, 422, 503))
async def list_steps(
    workflow_id: WorkflowId,
    plane: Wired,
    status: Annotated[
        TaskFilter | None,
        Query(
            description="Only those that are so. `retryable`: those that are tried again by themselves, and those that failed with "
            "retries left, because another try would have come to the same: a recovery does them again."
        ),
    ] = None,
) -> list[StepView]:
    """The steps in their order."""
    found = await _found(plane, workflow_id)
    return [StepView.of(found, task) for task in found.tasks if status is None or status.fits(task)]


@router.get("/{workflow_id}/events", summary="The history of a workflow", responses={**LIST, **problems(404, 422, 503)})
async def list_events(
    workflow_id: WorkflowId,
    plane: Wired,
    request: Request,
    response: Response,
    limit: Limit = 1_000,
    cursor: Cursor = None,
) -> list[WorkflowEventView]:
    """Events, the oldest first, numbered without gaps."""
    workflow = checked_id(workflow_id, "workflow")
    name = listing.name("workflow_events", workflow=workflow)
    after = cursors.read(name, cursor, int)[0] if cursor is not None else 0
    found = await workflows.event_list(plane.app, workflow, after=after, limit=limit + 1)
    events, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, events[-1]["sequence"]) if more else None)
    return [WorkflowEventView.of(event) for event in events]


@router.post("/{workflow_id}/start", summary="Start a workflow", responses=_STEER)
async def start(workflow_id: WorkflowId, plane: Wired) -> WorkflowDetail:
    """Let its first steps begin. One that was started can't be started again."""
    return WorkflowDetail.of_detailed(await workflows.start(plane.app, checked_id(workflow_id, "workflow")))


@router.post("/{workflow_id}/pause", summary="Pause a workflow", responses=_SAID)
async def pause(workflow_id: WorkflowId, plane: Wired, body: Why = None) -> WorkflowDetail:
    """Begin no further step; those that are being executed come to their end. Pausing twice is pausing once."""
    reason = body.reason if body is not None else None
    return WorkflowDetail.of_detailed(await workflows.pause(plane.app, checked_id(workflow_id, "workflow"), reason))


@router.post("/{workflow_id}/resume", summary="Resume a workflow", responses=_STEER)
async def resume(workflow_id: WorkflowId, plane: Wired) -> WorkflowDetail:
    """Go on where it was."""
    return WorkflowDetail.of_detailed(await workflows.resume(plane.app, checked_id(workflow_id, "workflow")))


@router.post("/{workflow_id}/cancel", summary="Cancel a workflow", responses=_SAID)
async def cancel(workflow_id: WorkflowId, plane: Wired, body: Why = None) -> WorkflowDetail:
    """End it for good; what is being executed is stopped within a second or two. Cancelling twice is cancelling once."""
    reason = body.reason if body is not None else None
    return WorkflowDetail.of_detailed(await workflows.cancel(plane.app, checked_id(workflow_id, "workflow"), reason))


@router.post("/{workflow_id}/recover", summary="Recover a workflow", responses=_SAID)
async def recover(workflow_id: WorkflowId, plane: Wired, body: Recovery = None) -> WorkflowDetail:
    """Go on with one that failed, from the step that did or from another. Steps before it are not done again.

    That step is done again, with all that need it and all behind it that did not go well.
    """
    found = await _found(plane, workflow_id)
    first, reason = (body.from_step, body.reason) if body is not None else (None, None)
    if isinstance(first, str):
        first = _numbered(found, first)
    recovered = await workflows.recover(plane.app, found.workflow.id, from_step=first, reason=reason)
    return WorkflowDetail.of_detailed(recovered)


async def _found(plane: Plane, workflow_id: str) -> Detailed:
    return await workflows.get(plane.app, checked_id(workflow_id, "workflow"))


def _numbered(found: Detailed, name: str) -> int:
    for task in found.tasks:
        if task.task_name == name:
            return task.step_index
    names = ", ".join(task.task_name for task in found.tasks)
    raise InvalidInput(
        f"There is no step {name[:100]!r} in this workflow.", field="from_step", remedy=f"It has {names[:500]}."
    )
