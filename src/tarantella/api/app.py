"""The HTTP API: routers, middleware and errors, wired around an application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from tarantella import __version__
from tarantella.api import (
    artifacts,
    docs,
    fields,
    gaps,
    health,
    jobs,
    metrics,
    openapi,
    problems,
    recordings,
    runs,
    schedules,
    scraping,
    sessions,
    sites,
    streams,
    system,
    workers,
    workflow_stream,
    workflow_templates,
    workflows,
)
from tarantella.api.access import Access
from tarantella.api.heads import Heads
from tarantella.api.last_resort import LastResort
from tarantella.api.limits import Limits
from tarantella.api.plane import Plane
from tarantella.api.traffic import Counting
from tarantella.services.app import App
from tarantella.services.broadcast import Broadcasts
from tarantella.services.jobs import finish_deletes
from tarantella.services.probe import Prober
from tarantella.services.progress import Speedometers
from tarantella.services.supervisor import Supervisor
from tarantella.services.vigils import Vigils
from tarantella.services.writing import Writing
from tarantella.web import shell

# What is under /jobs/runs comes first: to /jobs/{id} it would be the job called `runs`. So do templates of workflows.
ROUTERS = (
    scraping.router,
    streams.router,
    runs.router,
    artifacts.router,
    fields.router,
    jobs.router,
    schedules.router,
    workflow_templates.router,
    workflow_stream.router,
    workflows.router,
    gaps.router,
    sites.router,
    recordings.router,
    sessions.router,
    health.router,
    metrics.router,
    system.router,
    workers.router,
    docs.router,
    shell.router,
)


def make_api(
    app: App, *, supervisor: Supervisor | None = None, is_local: bool = True, is_trusted: bool = False
) -> FastAPI:
    """The API of this application. Closing the application is left to whoever opened it.

    One that only this machine can reach is open for as long as there are no tokens. Whoever calls it in their own process
    is trusted: they have the data in their hands.
    """
    speedometers = Speedometers()
    plane = Plane(
        app,
        app.make_bell(),
        Prober(app.make_tools),
        Broadcasts(app, speedometers),
        supervisor.vigils if supervisor is not None else Vigils(app, as_told=is_trusted),
        Writing(app),
        speedometers=speedometers,
        supervisor=supervisor,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await finish_deletes(app)
        yield
        await plane.close()

    api = FastAPI(
        title="Tarantella",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    api.state.plane = plane
    problems.handle(api, ROUTERS)
    openapi.describe(api)
    for router in ROUTERS:
        api.include_router(router)
    # The last one added is the first to see a request.
    api.add_middleware(Heads)
    api.add_middleware(Limits)
    if not is_trusted:
        api.add_middleware(Access, served=app, is_local=is_local)
    api.add_middleware(LastResort)
    api.add_middleware(Counting, traffic=plane.traffic)
    return api
