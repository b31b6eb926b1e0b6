"""The API behind a real socket, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tarantella.api.app import make_api
from tarantella.api.plane import Plane
from tarantella.api.server import Server, make_server
from tarantella.services.app import App


@dataclass(frozen=True, slots=True)
class Live:
    """A server that listens."""

    port: int
    plane: Plane
    server: Server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, *, receive_buffer: int | None = None) -> socket.socket:
        """A plain connection, with room for little if that is wanted."""
        plain = socket.socket()
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(20)
        plain.connect(("127.0.0.1", self.port))
        return plain


@contextmanager
def serving(app: App) -> Iterator[Live]:
    api = make_api(app)
    server = make_server(api)
    listener = socket.create_server(("127.0.0.1", 0))
    started = threading.Event()

    async def serve() -> None:
        work = asyncio.create_task(server.serve([listener]))
        while not server.started and not work.done():
            await asyncio.sleep(0.01)
        started.set()
        await work

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="api", daemon=True)
    thread.start()
    assert started.wait(10)
    port = listener.getsockname()[1]
    try:
        yield Live(port, api.state.plane, server)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
