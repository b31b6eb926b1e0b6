"""Errors as RFC 9457 has them: what is wrong, with which field, where the limit is, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from tarantella.domain.errors import (
    Conflict,
    Gone,
    InvalidInput,
    KeyAmbiguous,
    NotFound,
    Overloaded,
    StoreBroken,
    StoreBusy,
    StoreError,
    TarantellaError,
)
from tarantella.domain.sentence import with_one_stop
from tarantella.domain.url import redact
from tarantella.services.preview import PreviewFailed

MEDIA_TYPE = "application/problem+json"
URN = "urn:tarantella:problem:"
RETRY_AFTER_SECONDS = 2

TITLES: Mapping[str, str] = {
    "invalid_input": "The request can't be understood as it is",
    "invalid_url": "The address can't be fetched",
    "invalid_cursor": "The cursor is not one of ours",
    "idempotency_key_reused": "The Idempotency-Key belongs to another request",
    "idempotency_key_ambiguous": "There is more than one Idempotency-Key",
    "preview_failed": "The page could not be read",
    "target_denied": "The address is in a network that is not allowed",
    "broken_json": "The body is not JSON",
    "unauthorized": "A token is needed",
    "forbidden": "This is not allowed",
    "host_not_allowed": "The server does not answer to this name",
    "origin_not_allowed": "Another web site may not do this",
    "not_found": "There is no such thing",
    "method_not_allowed": "This can't be done here",
    "conflict": "The state does not allow it now",
    "too_large": "The request is too large",
    "unsupported_media_type": "The body has to be JSON",
    "overloaded": "Too many are at it",
    "store_busy": "The database is busy",
    "store_broken": "The database can't be used",
    "store": "The database can't be used",
    "not_ready": "Work does not get done now",
    "internal": "Something unexpected went wrong",
}
_STATUS: Sequence[tuple[type[TarantellaError], int]] = (
    (KeyAmbiguous, 400),
    (InvalidInput, 422),
    (PreviewFailed, 422),
    (NotFound, 404),
    (Conflict, 409),
    (Gone, 410),
    (Overloaded, 503),
    (StoreBusy, 503),
    (StoreBroken, 503),
    (StoreError, 503),
)
_CODES: Mapping[int, tuple[str, str]] = {
    400: ("broken_json", "Send a JSON document."),
    401: ("unauthorized", "Send the header `Authorization: Bearer TOKEN`."),
    403: ("forbidden", "Use a token that may do this."),
    404: ("not_found", "/docs lists what there is."),
    405: ("method_not_allowed", "/docs lists what can be done here."),
    413: ("too_large", "Send less at once."),
    415: ("unsupported_media_type", "Send JSON, with the header `Content-Type: application/json`."),
}
# How the limits of a field are called by those who check them.
_LIMITS = ("ge", "gt", "le", "lt", "max_length", "min_length", "multiple_of", "pattern", "expected")
_NOT_SAID = frozenset({"string_too_long", "string_type", "string_pattern_mismatch", "value_error"})


class Problem(Response):
    """A response that says what went wrong."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        field: str | None = None,
        limit: str | float | None = None,
        remedy: str | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        body = {
            "type": URN + code,
            "title": TITLES.get(code, TITLES["invalid_input"] if status == 422 else "The request failed"),
            "status": status,
            "detail": redact(detail),
            "code": code,
            "field": field,
            "limit": limit,
            "remedy": remedy,
            **more,
        }
        shown = {name: value for name, value in body.items() if value is not None}
        if status == 503:
            headers = {"Retry-After": str(RETRY_AFTER_SECONDS), **(headers or {})}
        super().__init__(orjson.dumps(shown), status, dict(headers or {}))


def of_error(error: TarantellaError) -> Problem:
    """What an error of ours is to a client."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return Problem(status, error.code, error.message, field=error.field, limit=error.limit, remedy=error.remedy)


def of_validation(found: Sequence[Mapping[str, Any]]) -> Problem:
    """What is wrong with a request's values: the first of it at the top, all of it in `errors`."""
    wrong = [_explained(each) for each in found[:50]]
    first = wrong[0]
    return Problem(422, "invalid_input", errors=wrong, **first)


def of_status(status: int, detail: str | None, headers: Mapping[str, str] | None = None) -> Problem:
    code, remedy = _CODES.get(status, ("invalid_input", None))
    return Problem(status, code, detail or TITLES[code], remedy=remedy, headers=headers)


def _explained(error: Mapping[str, Any]) -> dict[str, Any]:
    place, *path = error["loc"]
    field = ".".join(map(str, path)) or str(place)
    said = str(error["msg"]).removeprefix("Value error, ")
    given = error.get("input")
    # Only numbers are repeated: a text may be a secret, or longer than anybody wants to read.
    also = f", not {given}" if isinstance(given, int | float) and error["type"] not in _NOT_SAID else ""
    context = error.get("ctx") or {}
    limit = next((context[name] for name in _LIMITS if name in context), None)
    explained: dict[str, Any] = {"detail": with_one_stop(f"{field}: {said}{also}."), "field": field}
    if isinstance(limit, int | float | str):
        explained["limit"] = limit
    explained["remedy"] = _remedy(str(error["type"]), field)
    return explained


def _remedy(kind: str, field: str) -> str:
    if kind == "missing":
        return f"Send {field}."
    if kind == "extra_forbidden":
        return "Leave it out, or look its name up in /docs."
    return "Choose a value as /docs describes it."


def handle(api: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Answer every error with a problem."""

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, TarantellaError)
        return of_error(error)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return of_validation(error.errors())

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = error.headers
        if error.status_code == 405:
            headers = {**(headers or {}), "Allow": ", ".join(sorted(_methods(routers, request)))}
        return of_status(error.status_code, None, headers)

    api.add_exception_handler(TarantellaError, ours)
    api.add_exception_handler(RequestValidationError, invalid)
    api.add_exception_handler(HTTPException, refused)


def _methods(routers: Sequence[APIRouter], request: Request) -> set[str]:
    """Everything that can be done at an address: one route after the other may be there for it."""
    routes = [route for router in routers for route in router.routes if isinstance(route, Route)]
    place = next((route.path for route in routes if route.matches(request.scope)[0] is not Match.NONE), None)
    return {method for route in routes if route.path == place for method in route.methods or ()}
