"""The API without a server: for a command that finds none running, in its own process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from tarantella.api.app import make_api
from tarantella.cli.answers import Answer
from tarantella.services.app import App


class LocalApi:
    """Answers requests here and now. Whoever can open the data needs no token for it."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._runner = asyncio.Runner()
        self._api = make_api(app, is_trusted=True)
        self._life = self._api.router.lifespan_context(self._api)
        self._runner.run(self._life.__aenter__())

    def request(self, method: str, target: str, body: bytes | None) -> Answer:
        path, _, query = target.partition("?")
        headers = [(b"host", b"localhost")] + ([(b"content-type", b"application/json")] if body is not None else [])
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 0),
        }
        return self._runner.run(self._answered(scope, body or b""))

    def close(self) -> None:
        self._runner.run(self._life.__aexit__(None, None, None))
        self._runner.close()
        self._app.close()

    async def _answered(self, scope: dict[str, Any], body: bytes) -> Answer:
        """The whole answer: without a connection between, there is nothing to be streamed."""
        sent: list[dict[str, Any]] = []
        asked = False

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if asked:
                await asyncio.Event().wait()
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._api(scope, receive, send)
        start = sent[0]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
        return Answer(start["status"], headers, _bodies(sent))


def _bodies(sent: list[dict[str, Any]]) -> Iterator[bytes]:
    for message in sent:
        if message["type"] == "http.response.body":
            yield message.get("body", b"")
