"""`/jobs`: what is collected again and again, and the runs of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response

from tarantella.api import cursors
from tarantella.api.listing import LIST, Cursor, ShortLimit, cut, lead_on
from tarantella.api.once import IdempotencyKey, once_of, response
from tarantella.api.plane import JobId, Wired, checked_id
from tarantella.api.runs import listed, views
from tarantella.api.strict import StrictRoute
from tarantella.api.views.jobs import JobCreate, JobDetail, JobPatch, JobView
from tarantella.api.views.problem import problems
from tarantella.api.views.runs import RunCreate, RunView
from tarantella.api.views.workflows import WorkflowDetail
from tarantella.domain.errors import NotFound
from tarantella.domain.run import RunStatus
from tarantella.services import intake, jobs, workflows
from tarantella.services.intake import Answer
from tarantella.store import jobs as store
from tarantella.store.submission import as_run

router = APIRouter(prefix="/jobs", tags=["jobs"], route_class=StrictRoute)
_WRITE = problems(400, 404, 409, 413, 415, 422, 503)


@router.post(
    "",
    status_code=201,
    response_model=JobView,
    summary="Create a job",
    responses=problems(400, 413, 415, 422, 503),
)
async def create(request: Request, body: JobCreate, plane: Wired, key: IdempotencyKey = None) -> Response:
    """Check a job and store it. A host that has no address is accepted with a warning; its runs fail until it has."""
    once = await once_of(request, key)
    if (known := await intake.known_answer(plane.app, once)) is not None:
        return response(known)
    job = await jobs.drafted(plane.app, plane.prober, body.draft())
    answer = Answer(201, JobView.of(job).model_dump_json())
    answer = await intake.write_once(plane.app, lambda tx: store.create(tx, job), answer, once)
    return response(answer)


@router.get("", summary="List jobs", responses={**LIST, **problems(422, 503)})
async def list_jobs(
    plane: Wired, request: Request, response: Response, limit: ShortLimit = 50, cursor: Cursor = None
) -> list[JobView]:
    """All jobs, the newest first."""
    before = cursors.read("jobs", cursor, float, str) if cursor is not None else None
    found = await jobs.listed(plane.app, limit=limit + 1, before=(before[0], before[1]) if before is not None else None)
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written("jobs", page[-1].created_at, page[-1].id) if more else None)
    return [JobView.of(job) for job in page]


@router.get("/{job_id}", summary="Look at a job", response_model_exclude_unset=True, responses=problems(404, 503))
async def get_job(job_id: JobId, plane: Wired) -> JobDetail:
    """A job as its next run would be made, and how its newest workflow stands, if it has one."""
    job = await jobs.get(plane.app, checked_id(job_id, "job"))
    newest = await workflows.listed(plane.app, job_id=job.id, limit=1)
    return JobDetail.of_job(job, newest[0] if newest else None)


@router.get("/{job_id}/workflow", summary="Look at the newest workflow of a job", responses=problems(404, 503))
async def get_workflow(job_id: JobId, plane: Wired) -> WorkflowDetail:
    """`GET /workflows?job_id=` lists all of them."""
    found = await workflows.of_job(plane.app, checked_id(job_id, "job"))
    if found is None:
        raise NotFound("The job has no workflow.", remedy="POST /workflows with its job_id makes one.")
    return WorkflowDetail.of_detailed(found)


@router.patch("/{job_id}", summary="Change a job", responses=_WRITE)
async def change(job_id: JobId, body: JobPatch, plane: Wired) -> JobView:
    """Change some of a job, which gets a new version. Runs keep the version that they were made of."""
    job = await jobs.changed(plane.app, plane.prober, checked_id(job_id, "job"), body.changes())
    return JobView.of(job)


@router.delete("/{job_id}", status_code=204, summary="Delete a job", responses=problems(404, 409, 503))
async def delete(job_id: JobId, plane: Wired) -> None:
    """Delete a job, its runs, and all that they collected. Refused while one of them is not over: cancel it first."""
    await jobs.delete(plane.app, checked_id(job_id, "job"))
    plane.bell.ring()


@router.post("/{job_id}/runs", status_code=201, response_model=RunView, summary="Run a job", responses=_WRITE)
async def create_run(
    job_id: JobId,
    request: Request,
    plane: Wired,
    body: Annotated[RunCreate | None, Body(description="All of it can be left out.")] = None,
    key: IdempotencyKey = None,
) -> Response:
    """Queue a run of the job as it is now. With the strategy `auto` the target is looked at first, for two seconds at most."""
    once = await once_of(request, key)
    if (known := await intake.known_answer(plane.app, once)) is not None:
        return response(known)
    job = await jobs.get(plane.app, checked_id(job_id, "job"))
    priority = body.priority.rank if body is not None and body.priority is not None else None
    new = await jobs.new_run(plane.app, plane.prober, job, priority)
    told = RunView.of(as_run(new), attempt=1)
    answer = await intake.submit(plane.app, new, Answer(201, told.model_dump_json()), once)
    if not answer.repeated:
        plane.bell.call(new.run_id, new.spec.priority)
    return response(answer)


@router.get("/{job_id}/runs", summary="List the runs of a job", responses={**LIST, **problems(404, 422, 503)})
async def list_job_runs(
    job_id: JobId,
    plane: Wired,
    request: Request,
    response: Response,
    status: Annotated[RunStatus | None, Query(description="Only those that are so.")] = None,
    limit: ShortLimit = 50,
    cursor: Cursor = None,
) -> list[RunView]:
    """The runs of one job, the newest first."""
    job = await jobs.get(plane.app, checked_id(job_id, "job"))
    found = await listed(
        plane, request, response, status=status, source=None, job_id=job.id, limit=limit, cursor=cursor
    )
    return await views(plane, found)
