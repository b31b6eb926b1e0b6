"""HTTP/1.1 as far as the demo site speaks it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from email.utils import formatdate

from tarantella.demo.handlers import Answer

HEAD_LIMIT = 16 * 1024
BODY_LIMIT = 64 * 1024

_REQUEST_LINE = re.compile(r"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.([01])")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")


class BadRequestError(Exception):
    """The client sent something that is not a request we can answer."""


@dataclass(frozen=True, slots=True)
class Request:
    """The part of a request that the site looks at."""

    method: str
    target: str
    keep_alive: bool
    cookie: str = ""


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read one request and throw its body away; None when the client has nothing more to say."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise BadRequestError("the request ended in the middle of its headers") from error
        return None
    except asyncio.LimitOverrunError as error:
        raise BadRequestError(f"the headers are longer than {HEAD_LIMIT} bytes") from error
    request, body_length = _parse(head.decode("latin-1"))
    if body_length:
        await _discard(reader, body_length)
    return request


def encode(request: Request, answer: Answer) -> bytes:
    """The bytes of an answer to this request."""
    lines = [
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
        f"Date: {formatdate(usegmt=True)}",
        f"Content-Type: {answer.content_type}",
        f"Content-Length: {len(answer.body)}",
        f"Connection: {'keep-alive' if request.keep_alive else 'close'}",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
    ]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return head if request.method == "HEAD" else head + answer.body


def _parse(head: str) -> tuple[Request, int]:
    first, *rest = head.removesuffix("\r\n\r\n").split("\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    if not line:
        raise BadRequestError("the first line is not an HTTP/1 request with a path")
    headers = dict(_parse_header(text) for text in rest)
    method, target, minor = line.groups()
    if minor == "1" and "host" not in headers:
        raise BadRequestError("there is no Host header")
    keep_alive = minor == "1" and headers.get("connection", "").lower() != "close"
    return Request(method, target, keep_alive, headers.get("cookie", "")), _body_length(headers)


def _parse_header(text: str) -> tuple[str, str]:
    header = _HEADER.fullmatch(text)
    if not header:
        raise BadRequestError("a header line is malformed")
    return header[1].lower(), header[2]


def _body_length(headers: dict[str, str]) -> int:
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > BODY_LIMIT:
        raise BadRequestError(f"a request body must have a Content-Length of at most {BODY_LIMIT} bytes")
    return int(length)


async def _discard(reader: asyncio.StreamReader, length: int) -> None:
    try:
        await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise BadRequestError("the request ended in the middle of its body") from error
