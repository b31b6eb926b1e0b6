"""A raw HTTP client that shows what was really on the wire."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

ANSWER_LIMIT = 64 * 1024 * 1024
CLIENT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as it came; headers in lower case, the last of a name wins."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


async def get(url: str, *, method: str = "GET", **headers: str) -> Answer:
    """Ask once on a connection of its own; header names are given with underscores."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = {"host": parts.netloc, "connection": "close"} | {k.replace("_", "-"): v for k, v in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    raw = await exchange(url, f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode())
    return parse(raw)


async def exchange(url: str, request: bytes) -> bytes:
    """Send these bytes and return all that comes back until the server closes."""
    parts = urlsplit(url)
    async with asyncio.timeout(CLIENT_SECONDS):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(request)
            return await _read_all(reader)
        finally:
            writer.transport.abort()


def parse(raw: bytes) -> Answer:
    """Take one response apart; a chunked body is joined."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode("utf-8", "replace").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_chunks(body))
    return Answer(int(first.split(" ")[1]), headers, body)


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    answer = bytearray()
    while data := await reader.read(1024 * 1024):
        answer += data
        if len(answer) > ANSWER_LIMIT:
            raise ValueError(f"the answer is longer than {ANSWER_LIMIT} bytes")
    return bytes(answer)


def _chunks(body: bytes) -> list[bytes]:
    found: list[bytes] = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            break
        found.append(rest[:length])
        body = rest[length + 2 :]
    return found
