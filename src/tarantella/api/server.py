"""Runs the API in this process."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

GRACE_SECONDS = 2  # for answers that are under way when the server stops; streams are cut off then


class Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def make_server(api: FastAPI) -> Server:
    """A server of this API; whoever runs it gives it sockets, and decides what a signal means."""
    config = uvicorn.Config(
        api,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config)
