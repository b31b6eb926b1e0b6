"""`/dashboard` and its files. They hold no data, so that whoever has no token yet can be asked for it."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

router = APIRouter(include_in_schema=False)

PLACE = "/dashboard"
START = "index.html"
_KINDS = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
NAMES = frozenset(file.name for file in files("tarantella.web").joinpath("static").iterdir())
# All that is served here, by exact match: who may ask is decided before anybody looks at a request.
PATHS = frozenset({"/", PLACE, *(f"{PLACE}/{name}" for name in NAMES)})
# Scripts and styles from here alone, and no way from a string to markup: what was scraped can only become text.
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # ask again, and be told that nothing has changed
}


class _File(NamedTuple):
    content: bytes
    kind: str
    tag: str


@cache
def _file(name: str) -> _File:
    content = files("tarantella.web").joinpath("static", name).read_bytes()
    return _File(content, _KINDS[name.rpartition(".")[2]], f'"{sha256(content).hexdigest()[:20]}"')


def _answer(name: str, request: Request) -> Response:
    file = _file(name)
    headers = {**_POLICY, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.kind)


@router.get("/")
async def beginning() -> Response:
    return RedirectResponse(PLACE, status_code=307)


@router.get(PLACE)
async def dashboard(request: Request) -> Response:
    return _answer(START, request)


@router.get(f"{PLACE}/{{name}}")
async def asset(name: str, request: Request) -> Response:
    if name not in NAMES:
        raise HTTPException(404)
    return _answer(name, request)
