"""`/workflows/templates`: what workflows consist of, kept under names."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from tarantella.api import cursors
from tarantella.api.listing import LIST, Cursor, ShortLimit, cut, lead_on
from tarantella.api.plane import Wired
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.api.views.workflows import TEMPLATE_NAME, DefinitionSet, TemplateView
from tarantella.domain.workflow import LONGEST_NAME
from tarantella.services import workflows

router = APIRouter(prefix="/workflows/templates", tags=["workflows"], route_class=StrictRoute)
Name = Annotated[
    str,
    Path(
        description="The name of a template.",
        examples=["nightly"],
        min_length=1,
        max_length=LONGEST_NAME,
        pattern=TEMPLATE_NAME,
    ),
]


@router.get("", summary="List templates", responses={**LIST, **problems(422, 503)})
async def listed(
    plane: Wired, request: Request, response: Response, limit: ShortLimit = 50, cursor: Cursor = None
) -> list[TemplateView]:
    """Templates by name."""
    after = cursors.read("workflow_templates", cursor, str)[0] if cursor is not None else ""
    page, more = cut(await workflows.templates(plane.app, limit=limit + 1, after=after), limit)
    lead_on(request, response, cursors.written("workflow_templates", page[-1].name) if more else None)
    return [TemplateView.of(each) for each in page]


@router.get("/{name}", summary="Look at a template", responses=problems(404, 422, 503))
async def show(name: Name, plane: Wired) -> TemplateView:
    """What workflows that are made from it consist of now."""
    return TemplateView.of(await workflows.template(plane.app, name))


@router.put("/{name}", summary="Keep a template", responses=problems(400, 413, 415, 422, 503))
async def keep(name: Name, body: DefinitionSet, plane: Wired) -> TemplateView:
    """A definition that differs from the one before is a new version. Workflows that there are keep what they were made from."""
    return TemplateView.of(await workflows.keep_template(plane.app, name, body.definition(name)))


@router.delete("/{name}", status_code=204, summary="Delete a template", responses=problems(404, 422, 503))
async def delete(name: Name, plane: Wired) -> None:
    """Workflows that were made from it stay."""
    await workflows.delete_template(plane.app, name)
