"""HEAD, which whoever watches a server often asks with: what GET would answer, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """Asks on as GET; a stream of events, or a download, ends where its body would begin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}
        ended = False

        async def send_head(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                scope["route"] = asked.get("route")  # for those who count
                await send(message)
            elif not ended:
                ended = True
                # From now on the server tells whoever listens that nobody does any more.
                await send({"type": "http.response.body", "body": b""})

        await self._app(asked, receive, send_head)
