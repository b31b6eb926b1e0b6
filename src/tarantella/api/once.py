"""Idempotency-Key: the same key with the same request gets the same answer, and nothing happens twice."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated

from fastapi import Header, Request, Response

from tarantella.domain.errors import KeyAmbiguous
from tarantella.services.intake import Answer, Once
from tarantella.store.idempotency import LONGEST_KEY

HEADER = "Idempotency-Key"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=HEADER,
        min_length=1,
        max_length=LONGEST_KEY,
        pattern=r"^[!-~]+$",
        description="Any text that is new for every new request. Sent again with the same request, it gets the same "
        "answer, and nothing happens twice; with another request it is refused.",
        examples=["8e03978e-40d5-43e8-bc93-6894a57f9324"],
    ),
]


async def once_of(request: Request, key: str | None) -> Once | None:
    """What makes this request the same as another, if the client says that it may be."""
    if key is None:
        return None
    if len(request.headers.getlist(HEADER)) > 1:
        raise KeyAmbiguous("There is more than one Idempotency-Key.", field=HEADER, remedy="Send one.")
    said = b"\0".join([request.method.encode(), request.url.path.encode(), await request.body()])
    return Once(key, blake2b(said, digest_size=32).hexdigest())


def response(answer: Answer, **headers: str) -> Response:
    if answer.repeated:
        headers["Idempotent-Replayed"] = "true"
    return Response(answer.body, answer.status, headers, media_type="application/json")
