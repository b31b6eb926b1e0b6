"""Lists: how many at once, where they go on, and how clients are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from tarantella.api import cursors

T = TypeVar("T")

NEXT = "X-Next-Cursor"
HEADERS: dict[str, Any] = {
    NEXT: {"description": "Where the list goes on; missing at its end.", "schema": {"type": "string"}},
    "Link": {"description": "The same as an address, with `rel=next`.", "schema": {"type": "string"}},
}
# So that a list is documented with the headers that lead on.
LIST: dict[int | str, dict[str, Any]] = {200: {"headers": HEADERS}}

Cursor = Annotated[
    str | None,
    Query(max_length=cursors.LONGEST, description=f"Where to go on: the `{NEXT}` of the answer before."),
]
Limit = Annotated[int, Query(ge=1, le=1_000, description="How many at most.")]
# Of what is large: a thousand runs at once would keep everybody else waiting.
ShortLimit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


def lead_on(request: Request, response: Response, cursor: str | None) -> None:
    """Tell the client where the list goes on."""
    if cursor is None:
        return
    asked = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    query = urlencode([*asked, ("cursor", cursor)])
    response.headers[NEXT] = cursor
    response.headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'


def cut(found: list[T], limit: int) -> tuple[list[T], bool]:
    """A page of what was found, of which one more was asked for; and whether there is more."""
    return found[:limit], len(found) > limit


def name(kind: str, **filters: Any) -> str:
    """What a list is called, filters and all: a cursor is good for no other."""
    given: Sequence[str] = [f"{key}={value}" for key, value in sorted(filters.items()) if value is not None]
    return f"{kind}?{'&'.join(given)}"
