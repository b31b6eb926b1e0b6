"""`/sessions`: logins that jobs can use. What is in them goes in, and never comes out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, Limit, cut, lead_on
from tarantella.api.plane import Wired
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.sessions import SessionGiven, SessionView
from tarantella.domain.session import session_of
from tarantella.services import sessions

router = APIRouter(prefix="/sessions", tags=["sessions"], route_class=StrictRoute)
Name = Annotated[
    str,
    Path(
        description="The name of a session.",
        examples=["shop"],
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
    ),
]


@router.get("", summary="List sessions", responses={**LIST, **problems(422, 503)})
async def listed(
    plane: Wired, request: Request, response: Response, limit: Limit = 100, cursor: Cursor = None
) -> list[SessionView]:
    """Stored sessions by name, without what is in them."""
    name = listing.name("sessions")
    after = cursors.read(name, cursor, str)[0] if cursor is not None else ""
    found = [session for session in await sessions.listed(plane.app) if session.name > after]
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, page[-1].name) if more else None)
    return [SessionView.of(session) for session in page]


@router.put("/{name}", summary="Store a session", responses=problems(400, 413, 415, 422, 503))
async def store(name: Name, body: SessionGiven, plane: Wired) -> SessionView:
    """In place of the one that has this name, if there is one. Jobs use it from their next context on."""
    session = session_of(body.model_dump())
    return SessionView.of(await sessions.store(plane.app, name, session))


@router.delete("/{name}", status_code=204, summary="Delete a session", responses=problems(404, 422, 503))
async def delete(name: Name, plane: Wired) -> None:
    """Pages that are open keep what they have; no other gets it."""
    await sessions.delete(plane.app, name)
