"""Routes that refuse what they don't know, instead of ignoring it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute
from starlette.responses import Response

from tarantella.api.problems import Problem


class StrictRoute(APIRoute):
    """A parameter that nobody reads is most likely misspelt: dropped in silence it would be missed."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(
            param.alias for param in get_flat_params(self.dependant) if isinstance(param.field_info, Query)
        )

        async def handle_known(request: Request) -> Response:
            if request.scope["query_string"]:
                for name in request.query_params:
                    if name not in known:
                        return _unknown(name, known)
            return await handle(request)

        return handle_known


def _unknown(name: str, known: frozenset[str]) -> Problem:
    remedy = f"There are {', '.join(sorted(known))}." if known else "There are none here."
    return Problem(422, "invalid_input", f"There is no parameter {name[:80]!r} here.", field=name[:80], remedy=remedy)
