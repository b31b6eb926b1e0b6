"""Who is let in: by the name that the server is called by, by where a browser comes from, and by a token."""

from __future__ import annotations

from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tarantella.api import problems
from tarantella.api.problems import Problem
from tarantella.api.streaming import IS_LET_IN
from tarantella.domain.access import READS, comes_from_elsewhere, host_is_known, scope_needed
from tarantella.domain.errors import StoreError
from tarantella.services.app import App
from tarantella.services.tokens import Tokens
from tarantella.web import shell

SCHEME = "bearer "
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="tarantella"'}
# What browsers should never do with anything that comes from here.
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Access:
    """Before anybody looks at a request. Whether a route exists is not told to who may not ask."""

    def __init__(self, app: ASGIApp, served: App, *, is_local: bool) -> None:
        self._app = app
        self._tokens = Tokens(served)
        self._is_local = is_local
        self._names: Collection[str] = {
            name.lower().rstrip(".") for name in (served.hostname, *served.settings.allowed_hosts)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in HEADERS if each[0] not in told)]
            await send(message)

        async def is_let_in() -> bool:
            try:
                return await self._refusal(scope) is None
            except StoreError:
                return True  # nobody can tell; who was let in may stay until somebody can

        scope[IS_LET_IN] = is_let_in
        try:
            refusal = await self._refusal(scope)
        except StoreError as error:
            refusal = problems.of_error(error)
        await (refusal if refusal is not None else self._app)(scope, receive, send_guarded)

    async def _refusal(self, scope: Scope) -> Problem | None:
        headers = _Headers(scope)
        host = headers.only("host")
        if host is None or not host_is_known(host, self._names):
            return Problem(
                403,
                "host_not_allowed",
                "The server does not answer to this name.",
                field="Host",
                remedy="Call it by its address, or add the name to the setting allowed_hosts.",
            )
        method, path = scope["method"], scope["path"]
        if method not in READS and comes_from_elsewhere(headers.only("origin"), host, headers.only("sec-fetch-site")):
            return Problem(
                403,
                "origin_not_allowed",
                "A page of another web site may not do this.",
                field="Origin",
                remedy="Do it from a program, or from a page of this server.",
            )
        needed = None if path in shell.PATHS and method in READS else scope_needed(method, path)
        if needed is None or (self._is_local and not await self._tokens.valid()):
            return None
        shown = headers.only("authorization")
        if shown is None or not shown.lower().startswith(SCHEME):
            return problems.of_status(401, "This server wants to see a token.", CHALLENGE)
        granted = await self._tokens.scope_of(shown[len(SCHEME) :].strip())
        if granted is None:
            return problems.of_status(401, "This token is not valid, or not any more.", CHALLENGE)
        if granted < needed:
            told = f"This needs a token with the scope {needed.word}; yours has {granted.word}."
            return Problem(403, "forbidden", told, remedy="Use a token that may do this.", limit=needed.word)
        return None


class _Headers:
    """The headers of a request; one that comes twice is as good as none, because nobody knows which is meant."""

    def __init__(self, scope: Scope) -> None:
        self._raw: list[tuple[bytes, bytes]] = scope["headers"]

    def only(self, name: str) -> str | None:
        wanted = name.encode()
        found = [value for key, value in self._raw if key == wanted]
        return found[0].decode("latin-1") if len(found) == 1 else None
