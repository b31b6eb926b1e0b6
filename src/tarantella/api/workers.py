"""`/workers`: who works, how they get on, and which of Celery's messages woke them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from tarantella.api.plane import Wired
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.workers import WakeView, WorkerView
from tarantella.services import workers

router = APIRouter(prefix="/workers", tags=["workers"], route_class=StrictRoute)
MOST = 200


@router.get("", summary="The fleet", responses=problems(503))
async def listed(plane: Wired) -> list[WorkerView]:
    """Everybody who lives and works on this database, on whichever machine: what they hold, how fast they are, and
    whether they get on. One that is alive and makes no progress though it has work is `suspect`, then `stalled`.
    """
    now = plane.app.now()
    return [WorkerView.of(worker, now) for worker in await plane.vigils.look()]


@router.get("/wakes", summary="Messages that woke somebody", responses=problems(422, 503))
async def wakes(
    plane: Wired,
    run_id: Annotated[str | None, Query(description="Only those for this run.", max_length=36)] = None,
    task_id: Annotated[str | None, Query(description="Only this message, by Celery's id.", max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST, description="So many at most.")] = 50,
) -> list[WakeView]:
    """The newest first. They are known a few seconds after they arrived. A run that was found without one has none."""
    found = await workers.wakes(plane.app, run_id=run_id, task_id=task_id, limit=limit)
    return [WakeView.of(woken) for woken in found]
