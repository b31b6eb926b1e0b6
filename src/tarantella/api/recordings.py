"""`/recordings`: what pages asked for their data, to be asked again without a browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, ShortLimit, cut, lead_on
from tarantella.api.once import IdempotencyKey, once_of, response
from tarantella.api.plane import Wired, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.base import EXAMPLE_ID
from tarantella.api.views.problem import problems
from tarantella.api.views.recordings import RecordingImport, RecordingView
from tarantella.services import intake, recordings
from tarantella.services.intake import Answer

router = APIRouter(prefix="/recordings", tags=["recordings"], route_class=StrictRoute)
RecordingId = Annotated[str, Path(description="The id of the recording.", examples=[EXAMPLE_ID])]


@router.get("", summary="List recordings", responses={**LIST, **problems(404, 422, 503)})
async def listed(
    plane: Wired,
    request: Request,
    response: Response,
    job_id: Annotated[str | None, Query(description="Only those of this job.", max_length=36)] = None,
    limit: ShortLimit = 50,
    cursor: Cursor = None,
) -> list[RecordingView]:
    """All recordings, the newest first. Of a job, the newest is the one that its runs use."""
    job_id = checked_id(job_id, "job") if job_id is not None else None
    name = listing.name("recordings", job_id=job_id)
    at = cursors.read(name, cursor, float, str) if cursor is not None else None
    before = (at[0], at[1]) if at is not None else None
    found = await recordings.listed(plane.app, limit=limit + 1, before=before, job_id=job_id)
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, page[-1].created_at, page[-1].id) if more else None)
    return [RecordingView.of(kept) for kept in page]


@router.post(
    "",
    status_code=201,
    response_model=RecordingView,
    summary="Import a HAR",
    responses=problems(400, 404, 409, 413, 415, 422, 503),
)
async def create(request: Request, body: RecordingImport, plane: Wired, key: IdempotencyKey = None) -> Response:
    """Find the answer that holds a job's fields in what a browser saved, by the names of the fields or their `jmespath`.

    The next run of the job replays it, if its strategy is `auto` or `api_replay`.
    """
    once = await once_of(request, key)
    if (known := await intake.known_answer(plane.app, once)) is not None:
        return response(known)
    made = await recordings.drafted(plane.app, checked_id(body.job_id, "job"), body.har, follow=body.follow)
    answer = Answer(201, RecordingView.of(made).model_dump_json())
    answer = await intake.write_once(plane.app, lambda tx: recordings.store(tx, made), answer, once)
    return response(answer)


@router.get("/{recording_id}", summary="Look at a recording", responses=problems(404, 503))
async def show(recording_id: RecordingId, plane: Wired) -> RecordingView:
    """What is asked, where the fields are, how it goes on, and whether it works. Credentials are never shown."""
    return RecordingView.of(await recordings.get(plane.app, checked_id(recording_id, "recording")))


@router.delete("/{recording_id}", status_code=204, summary="Delete a recording", responses=problems(404, 503))
async def delete(recording_id: RecordingId, plane: Wired) -> None:
    """The next run of its job goes to the browser again, and makes a new one if it can."""
    await recordings.delete(plane.app, checked_id(recording_id, "recording"))
