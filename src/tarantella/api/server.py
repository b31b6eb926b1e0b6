"""Runs the API in this process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tarantella.api.plane import Plane
from tarantella.api.streaming import ABORT
from tarantella.engine import process

LARGEST_HEAD = 128 * 1024
HEAD_SECONDS = 30.0  # for the head of a request, from its first byte on, or from the connection's beginning
BODY_SECONDS = 300.0
KEEP_ALIVE_SECONDS = 75  # longer than most clients keep a connection: it is they who give it up
GRACE_SECONDS = 2  # for answers that are under way when the server stops


class Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it, and ends its streams first when it stops."""

    def __init__(self, config: uvicorn.Config, plane: Plane) -> None:
        super().__init__(config)
        self._plane = plane

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        process.tune()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # It would wait for them otherwise, and they for it.
        self._plane.broadcasts.close()
        await super().shutdown(sockets)


def make_server(api: FastAPI) -> Server:
    """A server of this API; whoever runs it gives it sockets, and decides what a signal means."""
    config = uvicorn.Config(
        api,
        loop="none",
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, api.state.plane)


class Protocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with limits to the size of a head and to the time for a request, and a way to drop a client
    that doesn't read.
    """

    _head = 0
    _unread = 0  # bytes since the parser last had a whole piece of anything
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_it(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for_it(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self._unread > LARGEST_HEAD and not self.transport.is_closing():
            # One header, or what follows a body, without end: the parser would keep all of it until it is whole.
            self.send_400_response("The head of the request is too large.")
        elif self._patience is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_it(HEAD_SECONDS)  # something came that begins no request, such as an empty line

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._wait_for_it(HEAD_SECONDS)
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._unread = 0
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._unread = 0
        self._wait_for_it(BODY_SECONDS)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        self._wait_for_it(None)
        super().on_message_complete()

    def _wait_for_it(self, seconds: float | None) -> None:
        """Whoever takes longer is dropped: their connection is somebody else's, who has something to ask."""
        if self._patience is not None:
            self._patience.cancel()
        self._patience = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > LARGEST_HEAD:
            raise ValueError("The head of the request is too large.")  # which is answered with a 400
