"""Server-sent events: the history of a workflow, as it happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from tarantella.api.plane import Wired, WorkflowId, checked_id
from tarantella.api.streams import LastEventId, described, told
from tarantella.api.strict import StrictRoute
from tarantella.api.views.workflows import WorkflowEventView
from tarantella.services import broadcast

router = APIRouter(prefix="/workflows", tags=["workflows"], route_class=StrictRoute)


def _written(event: Mapping[str, Any]) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (event["sequence"], WorkflowEventView.of(event).model_dump_json().encode())


WORKFLOWS = broadcast.workflows(_written)


@router.get(
    "/{workflow_id}/events/stream",
    summary="Watch the history of a workflow",
    response_class=Response,
    responses=described(
        "an event, a list of events",
        'id: 2\ndata: {"sequence":2,"level":"info","message":"Workflow started"}\n\n',
    ),
)
async def stream_events(workflow_id: WorkflowId, plane: Wired, last_event_id: LastEventId = None) -> Response:
    """Server-sent events, as of runs: one message for each event, with its number as `id`, and `end` when the workflow is over.

    Who was cut off sends `Last-Event-ID` and misses nothing. One that failed and is recovered goes on with its numbers: ask
    again then.
    """
    return await told(plane.broadcasts, WORKFLOWS, checked_id(workflow_id, "workflow"), last_event_id)
