"""Whether the server is alive, and whether work gets done."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tarantella import __version__
from tarantella.api.plane import Wired
from tarantella.api.problems import Problem
from tarantella.api.strict import StrictRoute
from tarantella.api.views.health import Alive, Ready
from tarantella.api.views.problem import not_ready
from tarantella.services import system

router = APIRouter(tags=["health"], route_class=StrictRoute)


@router.get("/health", response_model=Alive, summary="Is the server alive?")
async def health() -> Alive:
    """Answers in milliseconds whatever is running: nobody is asked but the process itself."""
    return Alive(status="ok", version=__version__)


@router.get("/healthz", response_model=Alive, summary="Is the server alive?")
async def healthz() -> Alive:
    """The same as `/health`, under the name that orchestrators use."""
    return Alive(status="ok", version=__version__)


@router.get("/readyz", response_model=Ready, summary="Does work get done?", responses=not_ready())
async def readyz(plane: Wired) -> Ready | Response:
    """200 when the database answers and takes what is written, and an engine gets on with what there is to do, however much that is.

    503 when it doesn't: no engine is there, or those that are have work and make no progress.
    """
    found = await system.readiness(plane.vigils, plane.writing, plane.supervisor)
    if found.is_ready:
        return Ready(status="ready", store=found.store, engines=found.engines)
    trouble = f"The database: {found.store}" if found.store != "ok" else f"Engines: {found.engines}"
    trouble = trouble.rstrip(".") + "."
    return Problem(503, "not_ready", trouble, remedy=found.remedy, store=found.store, engines=found.engines)
