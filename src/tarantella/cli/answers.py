"""What the API answered, and what is wrong with an answer that is none of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from tarantella.domain.errors import Conflict, InvalidInput, NotFound, StoreError, TarantellaError
from tarantella.domain.struct import Frozen

TOKEN_VARIABLE = "TARANTELLA_TOKEN"  # noqa: S105 - the name of a variable, not a token
IS_IT_OURS = "Is it a Tarantella?"
_KINDS: Mapping[int, type[TarantellaError]] = {
    401: InvalidInput,
    403: InvalidInput,
    404: NotFound,
    409: Conflict,
    422: InvalidInput,
    400: InvalidInput,
}


class Refused(TarantellaError):
    """An answer of the API that is none of the usual errors."""

    code = "refused"


class Answer(Frozen):
    """What the API said."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    def read(self) -> bytes:
        return b"".join(self.chunks)


class _Said(dict[str, Any]):
    """What was said of something. Whoever leaves out what all of ours say is none of them."""

    def __missing__(self, name: str) -> Any:
        raise not_ours()


def understood(content: bytes | str) -> Any:
    """What JSON of the API says."""
    try:
        return json.loads(content, object_hook=_Said)
    except (ValueError, RecursionError):
        raise not_ours() from None


def not_ours() -> Refused:
    return Refused("The server answered with something else than what was asked for.", remedy=IS_IT_OURS)


def refusal(answer: Answer, server: str, target: str) -> TarantellaError:
    """What an answer means that is not a good one, to what was asked of this server."""
    if 300 <= answer.status < 400 and (location := answer.headers.get("location")):
        return _elsewhere(server, target, location)
    try:
        problem = json.loads(answer.read())
        message, remedy, code = str(problem["detail"]), problem.get("remedy"), str(problem["code"])
    except (ValueError, KeyError, TypeError):
        return Refused(f"The server answered with status {answer.status}.", remedy=IS_IT_OURS)
    if answer.status == 401:
        remedy = f"Set {TOKEN_VARIABLE} to a token; `tarantella tokens create` makes one."
    kind = _KINDS.get(answer.status, StoreError if code.startswith("store") else Refused)
    return kind(message, remedy=remedy, field=problem.get("field"))


def _elsewhere(server: str, target: str, location: str) -> Refused:
    """Nobody follows by themselves: whoever sends us on could have the token, and have us do anything."""
    from tarantella.domain.url import redact

    server = server if "//" in server else f"http://{server}"
    try:
        there = urljoin(server + target, location)
        base = there.removesuffix(target)
    except ValueError:
        there = base = location
    remedy = f"Name {redact(base)} with --server."
    if base in (there, server):
        remedy = f"{IS_IT_OURS} Name its own address with --server."
    return Refused(f"The server sends us on to {redact(there)}.", remedy=remedy)
