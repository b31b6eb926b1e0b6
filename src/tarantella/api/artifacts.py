"""`/jobs/runs/{id}/artifacts`: pictures and pages that a browser run has kept."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import FileResponse

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, Limit, cut, lead_on
from tarantella.api.plane import RunId, Wired, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.artifacts import ArtifactView
from tarantella.api.views.problem import problems
from tarantella.services import artifacts
from tarantella.services import runs as use_cases

router = APIRouter(prefix="/jobs/runs", tags=["runs"], route_class=StrictRoute)
# A picture or a text, whatever is in it: nothing that a browser would run.
_SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'"}


@router.get("/{run_id}/artifacts", summary="What a run has kept", responses={**LIST, **problems(404, 422, 503)})
async def listed(
    run_id: RunId, plane: Wired, request: Request, response: Response, limit: Limit = 100, cursor: Cursor = None
) -> list[ArtifactView]:
    """Screenshots and rendered HTML, in the order of the pages that they are of."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    name = listing.name("artifacts", run=run.id)
    after = cursors.read(name, cursor, int, str) if cursor is not None else (0, "")
    found, more = cut(await artifacts.listed(plane.app, run.id, after=(after[0], after[1]), limit=limit + 1), limit)
    last = found[-1].kept if found else None
    lead_on(request, response, cursors.written(name, last.page_id, last.kind) if more and last is not None else None)
    return [ArtifactView.of(told) for told in found]


@router.get(
    "/{run_id}/artifacts/{artifact_id}",
    summary="One thing that a run has kept",
    response_class=FileResponse,
    responses={
        200: {"description": "The picture or the text.", "content": {"image/png": {}, "text/plain": {}}},
        **problems(404, 422, 503),
    },
)
async def get(
    run_id: RunId,
    artifact_id: Annotated[str, Path(description="The id of the artifact.", examples=["17-screenshot"], max_length=64)],
    plane: Wired,
) -> FileResponse:
    """As a picture, or as plain text."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    kept = await artifacts.get(plane.app, run.id, artifact_id)
    return FileResponse(kept.path, media_type=artifacts.CONTENT_TYPES[kept.kind], headers=_SAFE)
