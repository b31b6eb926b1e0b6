"""Cursors: where a list goes on. Clients hand them back as they are; anything else is refused."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from hashlib import blake2b
from typing import Any

import orjson

from tarantella.domain.errors import InvalidInput

LONGEST = 400
_SUM = 9


class InvalidCursor(InvalidInput):
    code = "invalid_cursor"


def written(what: str, *place: Any) -> str:
    """A cursor for a list, which `what` names together with its filters."""
    body = orjson.dumps(place)
    return urlsafe_b64encode(_checksum(what, body) + body).decode().rstrip("=")


def read(what: str, cursor: str, *kinds: type) -> tuple[Any, ...]:
    """The place that a cursor of the same list names; each part is of the kind that is expected there."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        check, body = raw[:_SUM], raw[_SUM:]
        place = orjson.loads(body)
        if len(cursor) > LONGEST or check != _checksum(what, body):
            raise ValueError(cursor)
        if [type(part) for part in place] != list(kinds):
            raise ValueError(cursor)
    except (ValueError, UnicodeError, NotBase64, TypeError):
        raise InvalidCursor(
            "This cursor does not belong to this list.",
            remedy="Take it from the answer before, with the same filters; without one the list begins anew.",
            field="cursor",
        ) from None
    return tuple(place)


def _checksum(what: str, body: bytes) -> bytes:
    return blake2b(what.encode("utf-8", "replace") + b"\0" + body, digest_size=_SUM).digest()
