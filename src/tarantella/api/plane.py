"""What the routes work with."""

from __future__ import annotations

import re
import time
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from tarantella.api.traffic import Traffic
from tarantella.api.views.base import EXAMPLE_ID
from tarantella.domain.errors import NotFound
from tarantella.domain.struct import Frozen, field
from tarantella.queues.contract import Bell
from tarantella.services.app import App
from tarantella.services.broadcast import Broadcasts
from tarantella.services.export_stream import Exports
from tarantella.services.overview import Overview
from tarantella.services.probe import Prober
from tarantella.services.progress import Speedometers
from tarantella.services.supervisor import Supervisor
from tarantella.services.vigils import Vigils
from tarantella.services.writing import Writing

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Plane(Frozen):
    """The application, and the parts that only the control plane has."""

    app: App
    bell: Bell
    prober: Prober
    broadcasts: Broadcasts
    vigils: Vigils
    writing: Writing
    speedometers: Speedometers
    exports: Exports = field(default_factory=Exports)
    overview: Overview = field(default_factory=Overview)
    supervisor: Supervisor | None = None  # of the engines of this server, if it has any
    started_at: float = field(default_factory=time.time)
    traffic: Traffic = field(default_factory=Traffic)

    async def close(self) -> None:
        self.writing.close()
        await self.bell.close()
        self.exports.close()
        self.broadcasts.close()
        await self.broadcasts.hush()
        await self.prober.close()


def plane_of(request: Request) -> Plane:
    """For routes that are called hundreds of times a second: a dependency costs more than some of them do."""
    plane: Plane = request.app.state.plane
    return plane


async def _plane(request: Request) -> Plane:
    return plane_of(request)


Wired = Annotated[Plane, Depends(_plane)]


def _id(what: str) -> Any:
    return Path(description=f"The id of the {what}.", examples=[EXAMPLE_ID])


RunId = Annotated[str, _id("run")]
TaskId = Annotated[str, _id("task")]
JobId = Annotated[str, _id("job")]
WorkflowId = Annotated[str, _id("workflow")]
GapId = Annotated[str, _id("gap")]


def checked_id(text: str, what: str) -> str:
    """An id as the database has them; anything else can't be the id of something."""
    wanted = text.lower()
    if not _ID.fullmatch(wanted):
        raise NotFound(f"There is no {what} {text[:60]!r}.", remedy=f"Use the `id` that the {what} was created with.")
    return wanted
