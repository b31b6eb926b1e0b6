"""`/jobs/preview` and `/jobs/runs/{id}/re-extract`: what fields give, before a crawl and after it."""

from __future__ import annotations

from fastapi import APIRouter

from tarantella.api.plane import RunId, Wired, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.fields import PreviewAsk, PreviewView, ReextractAsk
from tarantella.api.views.problem import problems
from tarantella.api.views.runs import RunView
from tarantella.services import runs as use_cases
from tarantella.services.preview import preview
from tarantella.services.reextract import reextract
from tarantella.services.specs import start_address

router = APIRouter(prefix="/jobs", route_class=StrictRoute)


@router.post("/preview", tags=["jobs"], summary="Look at one page", responses=problems(400, 413, 415, 422, 503))
async def look(body: PreviewAsk, plane: Wired) -> PreviewView:
    """Fetch one page, and say what each field gives there and which selectors would find it. Nothing is stored."""
    url = start_address(body.url, "url")
    seen = await preview(plane.app, url.href, body.wanted(), example=body.find)
    return PreviewView.model_validate(seen.to_json())


@router.post(
    "/runs/{run_id}/re-extract",
    tags=["runs"],
    status_code=201,
    summary="Look again at the pages of a run",
    responses=problems(400, 404, 409, 413, 415, 422, 503),
)
async def look_again(run_id: RunId, body: ReextractAsk, plane: Wired) -> RunView:
    """Make a new run of the bodies that a run has kept, with these fields. Nothing is fetched."""
    run = await use_cases.seen(plane.app, checked_id(run_id, "run"))
    return RunView.of(await reextract(plane.app, run.id, body.wanted(), text=body.text), 1)
