"""What nobody foresaw: logged with a number, and told to the client without a traceback."""

from __future__ import annotations

from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tarantella.api.problems import Problem
from tarantella.log import log


class LastResort:
    """Around everything else. That it is never needed is what the tests are for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_noticed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_noticed)
        except Exception:
            number = uuid4().hex[:12]
            log.exception("A request went wrong", action="request_broken", path=scope["path"], number=number)
            if begun:
                raise  # half an answer can only be cut off
            remedy = f"Please report it; the log has it under {number}."
            await Problem(500, "internal", "Something unexpected went wrong.", remedy=remedy)(scope, receive, send)
