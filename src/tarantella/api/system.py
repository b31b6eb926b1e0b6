"""The whole: version, workers, lanes, capacity, and why runs wait."""

from __future__ import annotations

from fastapi import APIRouter

from tarantella.api.plane import Wired
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.system import SystemView
from tarantella.services import system

router = APIRouter(tags=["system"], route_class=StrictRoute)


@router.get("/system", response_model=SystemView, summary="Everything at a glance", responses=problems(503))
async def show(plane: Wired) -> SystemView:
    """Who works on what, how much room there is, how old the oldest run in the queue is, and why runs wait."""
    found = await system.system(plane.app, plane.vigils)
    return SystemView.of(found, plane.supervisor, plane.app.settings, plane.app.now(), plane.started_at)
