"""`/gaps`: what is missing, what came of the scrapers that were to fetch it, and what was given up."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, Limit, cut, lead_on
from tarantella.api.plane import GapId, Wired, checked_id
from tarantella.api.strict import StrictRoute
from tarantella.api.views.gaps import (
    LONGEST_QUEUE,
    GapDetail,
    GapsRetry,
    GapView,
    PriorityName,
    QueueView,
    TakenBack,
)
from tarantella.api.views.problem import problems
from tarantella.domain.gap import LONGEST_NAME, PRIORITIES
from tarantella.domain.script_end import ScriptFailure
from tarantella.services import queue as queues
from tarantella.services.queue import GapStatus, Which

router = APIRouter(prefix="/gaps", tags=["gaps"], route_class=StrictRoute)
OfQueue = Annotated[
    str | None,
    Query(min_length=1, max_length=LONGEST_QUEUE, description="Only those of this file, as `/gaps/queues` has it."),
]
Name = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME, description="Only those of this name.")]


@router.get("/queues", summary="List queues", responses=problems(503))
async def listed_queues(plane: Wired) -> list[QueueView]:
    """The files whose gaps are known, and how many of them are so. `tarantella queue run` takes a file in."""
    found = await queues.counts(plane.app)
    return [
        QueueView(
            queue=name,
            **{str(status): number for status, number in each.by_status.items()},
            failures={failure: number for failure, number in each.failures.items() if number},
        )
        for name, each in found.items()
    ]


@router.get("", summary="List gaps", responses={**LIST, **problems(422, 503)})
async def listed(
    plane: Wired,
    request: Request,
    response: Response,
    queue: OfQueue = None,
    name: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_NAME, description="Only the one that its file calls so.")
    ] = None,
    status: Annotated[GapStatus | None, Query(description="Only those that are so.")] = None,
    priority: Annotated[PriorityName | None, Query(description="Only those that are so urgent.")] = None,
    scraper: Name = None,
    source: Name = None,
    failure: Annotated[ScriptFailure | None, Query(description="Only those that failed for this reason.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> list[GapView]:
    """In the order in which they are filled: the most urgent first, then as in their file."""
    urgent = PRIORITIES[priority] if priority is not None else None
    which = Which(queue, name, status, urgent, scraper, source, failure)
    kind = listing.name("gaps", **{each: getattr(which, each) for each in which.__struct_fields__})
    place = cursors.read(kind, cursor, int, int, str) if cursor is not None else None
    after = (place[0], place[1], place[2]) if place is not None else None
    found = await queues.listed(plane.app, which, limit + 1, after)
    page, more = cut(found, limit)
    last = page[-1] if more else None
    lead_on(
        request,
        response,
        cursors.written(kind, int(last.priority), last.position, last.id) if last is not None else None,
    )
    return [GapView.of(gap) for gap in page]


@router.post("/retry", summary="Have gaps done again", responses=problems(400, 413, 415, 422, 503))
async def retry(body: GapsRetry, plane: Wired) -> TakenBack:
    """Those that were given up, or those that are completed. The next `tarantella queue run` executes them."""
    return TakenBack(taken_back=await queues.retry(plane.app, body.which()))


@router.get("/{gap_id}", summary="Look at a gap", responses=problems(404, 503))
async def show(gap_id: GapId, plane: Wired) -> GapDetail:
    """What is missing, what came of it, and the end of what its script said last."""
    gap, stdout, stderr = await queues.said(plane.app, checked_id(gap_id, "gap"))
    return GapDetail.of(gap, stdout=stdout, stderr=stderr)
