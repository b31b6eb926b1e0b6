"""One HTTP request, as read from the wire."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

HEAD_LIMIT = 1024 * 1024
BODY_LIMIT = 16 * 1024 * 1024


class BadRequestError(Exception):
    """The request can't be answered; the message says why."""


@dataclass(frozen=True)
class Request:
    """A request; headers keep their order and their case."""

    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    @cached_property
    def path(self) -> str:
        return urlsplit(self.target).path or "/"

    @cached_property
    def query(self) -> str:
        return urlsplit(self.target).query

    @cached_property
    def params(self) -> dict[str, str]:
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def host(self) -> str:
        """The Host header as it was sent."""
        return self.header("host")

    @property
    def keep_alive(self) -> bool:
        return self.version == "HTTP/1.1" and self.header("connection").lower() != "close"

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")

    def text(self, name: str, default: str) -> str:
        return self.params.get(name, default)

    def integer(self, name: str, default: int) -> int:
        return int(self.number(name, default))

    def number(self, name: str, default: float) -> float:
        try:
            return float(self.params.get(name, default))
        except ValueError as error:
            raise BadRequestError(f"{name} must be a number, not {self.params[name]!r}") from error


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read one request with its body; None when the client has nothing more to say."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        request = _parse_head(head.decode("latin-1"))
        length = request.header("content-length") or "0"
        if not length.isdecimal() or int(length) > BODY_LIMIT or request.header("transfer-encoding"):
            raise BadRequestError(f"a body needs a Content-Length of at most {BODY_LIMIT} bytes")
        body = await reader.readexactly(int(length))
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise BadRequestError(f"the head is longer than {HEAD_LIMIT} bytes") from error
    return Request(request.method, request.target, request.version, request.headers, body) if body else request


def _parse_head(head: str) -> Request:
    first, *rest = head.removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequestError("the first line is not an HTTP/1 request")
    headers = tuple((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in rest))
    return Request(words[0], words[1], words[2], headers)
