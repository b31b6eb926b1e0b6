"""Runs the API in this process."""

from __future__ import annotations

import uvicorn
from fastapi import FastAPI


def make_server(api: FastAPI, host: str, port: int) -> uvicorn.Server:
    """A server that leaves signals and logging to whoever runs it."""
    config = uvicorn.Config(
        api,
        host=host,
        port=port,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)
