"""Tells over HTTP how an autopilot gets on: 200 while it is well, 503 with the reason while it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson

PATHS = ("/health", "/healthz", "/readyz", "/status")
LONGEST_HEAD = 16 * 1024
SECONDS = 10.0
_WORDS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}

Ask = Callable[[], tuple[str | None, dict[str, Any]]]  # why it is not well, and all that there is to tell


class Beacon:
    """A port on loopback that answers GET and nothing else."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._server: asyncio.Server | None = None

    async def start(self, port: int) -> int:
        """The port that it listens at; raises OSError where that is taken."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", port, limit=LONGEST_HEAD)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError):
            async with asyncio.timeout(SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
                writer.write(self._said(method, target.partition("?")[0]))
                await writer.drain()
        writer.close()

    def _said(self, method: str, path: str) -> bytes:
        why, told = self._ask()
        if path not in PATHS:
            status, told = 404, {"detail": f"Ask for one of {', '.join(PATHS)}."}
        elif method not in ("GET", "HEAD"):
            status, told = 405, {"detail": "Ask with GET."}
        else:
            status = 200 if why is None or path == "/status" else 503
        body = orjson.dumps(told) + b"\n"
        head = (
            f"HTTP/1.1 {status} {_WORDS[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        )
        return f"{head}Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode() + (
            body if method != "HEAD" else b""
        )
