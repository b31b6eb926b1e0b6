"""`/jobs/runs`: runs, whoever asked for them: watched, steered, explained and collected."""

from __future__ import annotations

from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, Limit, ShortLimit, cut, lead_on
from tarantella.api.plane import Plane, RunId, Wired, checked_id
from tarantella.api.streaming import Streamed
from tarantella.api.strict import StrictRoute
from tarantella.api.views.base import LONGEST_ADDRESS
from tarantella.api.views.problem import problems
from tarantella.api.views.progress import ProgressView
from tarantella.api.views.runs import EventView, Explanation, PageView, Retried, RunView
from tarantella.domain.event import Level
from tarantella.domain.page import PageState
from tarantella.domain.run import RunStatus
from tarantella.services import runs as use_cases
from tarantella.services.export_stream import MEDIA_TYPES
from tarantella.services.jobs import named_fields, shown_fields
from tarantella.store.runs import Run

router = APIRouter(prefix="/jobs/runs", tags=["runs"], route_class=StrictRoute)
_GET = problems(404, 422, 503)
_STEER = problems(404, 409, 503)
_USUAL_FORMAT = "jsonl"


async def shown(plane: Plane, run_id: str) -> RunView:
    run = await use_cases.seen(plane.app, run_id)
    return RunView.of(run, (await use_cases.attempts(plane.app, [run]))[run.id])


async def listed(
    plane: Plane,
    request: Request,
    response: Response,
    *,
    status: RunStatus | None,
    source: str | None,
    job_id: str | None,
    limit: int,
    cursor: str | None,
) -> list[Run]:
    """A page of a list of runs, the newest first; the client is told where it goes on."""
    name = listing.name("runs", status=status, source=source, job_id=job_id)
    before = cursors.read(name, cursor, float, str) if cursor is not None else None
    found = await use_cases.listed(
        plane.app,
        status=status,
        source=source,
        job_id=job_id,
        limit=limit + 1,
        before=(before[0], before[1]) if before is not None else None,
    )
    runs, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, runs[-1].created_at, runs[-1].id) if more else None)
    return runs


async def views(plane: Plane, runs: list[Run]) -> list[RunView]:
    attempts = await use_cases.attempts(plane.app, runs)
    return [RunView.of(run, attempts[run.id]) for run in runs]


@router.get("", summary="List runs", responses={**LIST, **problems(422, 503)})
async def list_runs(
    plane: Wired,
    request: Request,
    response: Response,
    status: Annotated[RunStatus | None, Query(description="Only those that are so.")] = None,
    source: Annotated[Literal["job", "scraping", "cli"] | None, Query(description="Who asked for them.")] = None,
    job_id: Annotated[str | None, Query(max_length=36, description="Only those of this job.")] = None,
    limit: ShortLimit = 50,
    cursor: Cursor = None,
) -> list[RunView]:
    """All runs, the newest first, whoever asked for them."""
    job = job_id.lower() if job_id is not None else None
    found = await listed(plane, request, response, status=status, source=source, job_id=job, limit=limit, cursor=cursor)
    return await views(plane, found)


@router.get("/{run_id}", summary="Look at a run", responses=_GET)
async def get_run(run_id: RunId, plane: Wired) -> RunView:
    """A run as it is now, with the job as it was when the run was made."""
    return await shown(plane, checked_id(run_id, "run"))


@router.delete("/{run_id}", status_code=204, summary="Delete a run", responses=_STEER)
async def delete_run(run_id: RunId, plane: Wired) -> None:
    """Delete a run that is over, and all that it collected. Refused while it is not: cancel it first.

    Deleting it twice is deleting it once; who comes second is told that it is not there.
    """
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    await use_cases.delete(plane.app, run.id)


@router.get("/{run_id}/progress", summary="How far a run is", responses=_GET)
async def get_progress(run_id: RunId, plane: Wired) -> ProgressView:
    """Counts, pace and time to the end."""
    return ProgressView.of(await plane.speedometers.look(plane.app, checked_id(run_id, "run")))


@router.get("/{run_id}/events", summary="The history of a run", responses={**LIST, **_GET})
async def list_events(
    run_id: RunId,
    plane: Wired,
    request: Request,
    response: Response,
    level: Annotated[Level | None, Query(description="Only those of this level.")] = None,
    limit: Limit = 1_000,
    cursor: Cursor = None,
) -> list[EventView]:
    """Events, the oldest first, numbered without gaps."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    name = listing.name("events", run=run.id, level=level)
    after = cursors.read(name, cursor, int)[0] if cursor is not None else 0
    found = await use_cases.event_list(plane.app, run.id, after=after, limit=limit + 1, level=level)
    events, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, events[-1]["sequence"]) if more else None)
    return [EventView.of(event) for event in events]


@router.get(
    "/{run_id}/records",
    summary="What a run collected",
    responses={**LIST, **_GET},
    response_model=list[dict[str, object]],
)
async def list_records(
    run_id: RunId,
    plane: Wired,
    request: Request,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Records in the order in which they were stored. They can be read while the run goes on."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    name = listing.name("records", run=run.id)
    after = cursors.read(name, cursor, int)[0] if cursor is not None else 0
    found = await use_cases.record_list(plane.app, run.id, after=after, limit=limit + 1)
    records, more = cut(found, limit)
    named = named_fields(run)
    response = Response(
        orjson.dumps([shown_fields(record, named) for _, record in records]), media_type="application/json"
    )
    lead_on(request, response, cursors.written(name, records[-1][0]) if more else None)
    return response


@router.get("/{run_id}/pages", summary="The pages of a run", responses={**LIST, **_GET})
async def list_pages(
    run_id: RunId,
    plane: Wired,
    request: Request,
    response: Response,
    status: Annotated[PageState | None, Query(description="Only those that are so.")] = None,
    reason: Annotated[
        str | None,
        Query(
            max_length=32, pattern="^[a-z_]+$", description="Only those that failed or were skipped for this reason."
        ),
    ] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> list[PageView]:
    """Pages in the order in which they were found. They can be read while the run goes on."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    name = listing.name("pages", run=run.id, status=status, reason=reason)
    after = cursors.read(name, cursor, int)[0] if cursor is not None else 0
    found = await use_cases.page_list(plane.app, run.id, state=status, reason=reason, after=after, limit=limit + 1)
    pages, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, pages[-1]["id"]) if more else None)
    return [PageView.of(page) for page in pages]


@router.get("/{run_id}/explain", summary="The story of a page", responses=_GET)
async def explain(
    run_id: RunId,
    plane: Wired,
    url: Annotated[str, Query(min_length=1, max_length=LONGEST_ADDRESS, description="The address of the page.")],
) -> Explanation:
    """Where a page was found, every attempt at it, what was decided and why."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    return Explanation.of(await use_cases.explain(plane.app, run.id, url))


@router.get(
    "/{run_id}/export",
    summary="Export a run's records",
    response_class=Response,
    responses={
        200: {
            "description": "The records that there are now, streamed.",
            "content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()},
        },
        **_GET,
    },
)
async def export(
    run_id: RunId,
    plane: Wired,
    format: Annotated[  # noqa: A002 - the name is the clients'
        Literal["json", "jsonl", "csv", "db"] | None,
        Query(description="json, jsonl, csv or db (SQLite); as the run was asked for, or jsonl, if nothing is said."),
    ] = None,
) -> Response:
    """All records, streamed; `db` is a SQLite file with a table `records`."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    name = format or run.export_format or _USUAL_FORMAT
    chunks = await plane.exports.begin(plane.app, run, name)
    disposition = f'attachment; filename="{run.id}.{name}"'
    return Streamed(chunks, MEDIA_TYPES[name], {"Content-Disposition": disposition})


@router.post("/{run_id}/pause", summary="Pause a run", responses=_STEER)
async def pause(run_id: RunId, plane: Wired) -> RunView:
    """Nothing new is started from now on; the run is `paused` when nothing of it is in flight any more."""
    run = checked_id(run_id, "run")
    await use_cases.pause(plane.app, run)
    plane.bell.ring()
    return await shown(plane, run)


@router.post("/{run_id}/resume", summary="Resume a run", responses=_STEER)
async def resume(run_id: RunId, plane: Wired) -> RunView:
    """Let a paused or interrupted run go on; its deadline moves by as long as it was paused."""
    run = checked_id(run_id, "run")
    await use_cases.resume(plane.app, run, None)
    plane.bell.ring()
    return await shown(plane, run)


@router.post("/{run_id}/cancel", summary="Cancel a run", responses=_STEER)
async def cancel(run_id: RunId, plane: Wired) -> RunView:
    """End a run; what it has collected is kept. Cancelling twice is cancelling once."""
    run = checked_id(run_id, "run")
    await use_cases.cancel(plane.app, run)
    plane.bell.ring()
    return await shown(plane, run)


@router.post("/{run_id}/retry-failed", summary="Try failed pages again", responses=_STEER)
async def retry_failed(run_id: RunId, plane: Wired) -> Retried:
    """Queue a run that is over once more, for the pages that failed or were left; what is done stays done."""
    run = checked_id(run_id, "run")
    pages = await use_cases.retry_failed(plane.app, run, None)
    plane.bell.ring()
    return Retried(pages=pages, run=await shown(plane, run))
