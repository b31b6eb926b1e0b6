"""`/sites`: how hosts are, what they may be asked, and a breaker to be reset."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tarantella.api import cursors, listing
from tarantella.api.listing import LIST, Cursor, Limit, cut, lead_on
from tarantella.api.plane import Wired
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.sites import PolicyChange, SiteView
from tarantella.services import sites

router = APIRouter(prefix="/sites", tags=["sites"], route_class=StrictRoute)
Host = Annotated[
    str,
    Path(description="A host, without scheme and port.", examples=["example.com"], min_length=1, max_length=255),
]


@router.get("", summary="List hosts", responses={**LIST, **problems(422, 503)})
async def listed(
    plane: Wired,
    request: Request,
    response: Response,
    breaker_open: Annotated[bool, Query(description="Only those whose breaker is not closed.")] = False,
    paused: Annotated[bool, Query(description="Only those that are paused by their policy.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> list[SiteView]:
    """Hosts that runs have been at, and those that somebody has given a policy, by name."""
    name = listing.name("sites", breaker_open=breaker_open, paused=paused)
    after = cursors.read(name, cursor, str)[0] if cursor is not None else ""
    found = await sites.listed(plane.app, after=after, limit=limit + 1, breaker_open=breaker_open, paused=paused)
    page, more = cut(found, limit)
    lead_on(request, response, cursors.written(name, page[-1].host) if more else None)
    return [SiteView.of(plane.app, site) for site in page]


@router.get("/{host}", response_model=SiteView, summary="One host", responses=problems(404, 422, 503))
async def show(host: Host, plane: Wired) -> SiteView:
    """Its policy, its health, its breaker, its throttle, how often it failed, and which strategy it was found to take."""
    return SiteView.of(plane.app, await sites.get(plane.app, host))


@router.patch(
    "/{host}", response_model=SiteView, summary="Change its policy", responses=problems(400, 413, 415, 422, 503)
)
async def change(host: Host, body: PolicyChange, plane: Wired) -> SiteView:
    """What is not mentioned stays as it is; `null` leaves it to the runs again. Traffic follows within a second.

    A policy can only be stricter than the runs are: of several limits the strictest decides. A strategy is for runs that leave
    it to us, and for the pages that they start from now on.
    """
    site = await sites.change_policy(plane.app, host, body.model_dump(exclude_unset=True))
    plane.bell.ring()
    return SiteView.of(plane.app, site)


@router.post(
    "/{host}/reset-breaker",
    response_model=SiteView,
    summary="Let it be asked again",
    responses=problems(404, 422, 503),
)
async def reset_breaker(host: Host, plane: Wired) -> SiteView:
    """Closes the breaker of a host that failed. If it fails on, the breaker opens again."""
    site = await sites.reset_breaker(plane.app, host)
    plane.bell.ring()
    return SiteView.of(plane.app, site)
