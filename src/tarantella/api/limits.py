"""What is refused before anybody looks at it: bodies that are too large, or not JSON."""

from __future__ import annotations

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tarantella.api.problems import Problem

MAX_BODY = 1_000_000
# What browsers save of a page's traffic is long.
MAX_BODIES = {"/recordings": 20_000_000}
WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})


class Limits:
    """Reads the body of a write up to the limit, sees that it is JSON, and hands it on."""

    def __init__(self, app: ASGIApp, max_body: int = MAX_BODY) -> None:
        self._app = app
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        headers = {name: value for name, value in scope["headers"] if name in (b"content-type", b"content-length")}
        most = MAX_BODIES.get(scope["path"], self._max_body)
        body = await _read(headers.get(b"content-length", b""), receive, most)
        if body is None:
            problem = Problem(
                413,
                "too_large",
                f"The body is larger than {most:,} bytes.",
                limit=most,
                remedy="Send less at once.",
                headers={"Connection": "close"},
            )
            await problem(scope, receive, send)
            return
        if body and (wrong := _refusal(headers.get(b"content-type", b""), body)) is not None:
            await wrong(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)


async def _read(length: bytes, receive: Receive, most: int) -> bytes | None:
    """The whole body; None when it is too large."""
    if length.isdigit() and int(length[:20]) > most:
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _refusal(content_type: bytes, body: bytes) -> Problem | None:
    kind = content_type.partition(b";")[0].strip().lower()
    if kind != b"application/json" and not (kind.startswith(b"application/") and kind.endswith(b"+json")):
        return Problem(
            415,
            "unsupported_media_type",
            "The body has to be JSON.",
            field="Content-Type",
            remedy="Send it with the header `Content-Type: application/json`.",
        )
    try:
        orjson.loads(body)
    except ValueError as error:
        return Problem(
            400, "broken_json", f"The body is not JSON: {error}.", field="body", remedy="Send a JSON document."
        )
    return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return whole.pop() if whole else await receive()

    return next_message
