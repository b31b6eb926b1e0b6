"""What a user asks of tokens, and whether one that somebody shows lets them in."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from hmac import compare_digest

from tarantella.domain.access import Scope
from tarantella.domain.errors import InvalidInput
from tarantella.services.app import App
from tarantella.store import tokens
from tarantella.store.ids import new_id
from tarantella.store.tokens import Token

__all__ = ["Token", "Tokens", "create", "listed", "revoke", "there_are_any"]

PREFIX = "tt_"  # so that whoever finds one knows what it is
RANDOM_BYTES = 32
LONGEST_NAME = 100
KNOWN_FOR = 1.0  # seconds after which tokens are read again: so long a revoked one may still be used


async def create(app: App, name: str | None, scope: Scope) -> tuple[Token, str]:
    """A new token; what it is in clear is told here once, and never again."""
    if name is not None and not 1 <= len(name) <= LONGEST_NAME:
        raise InvalidInput(f"A name has 1 to {LONGEST_NAME} characters.", field="name", remedy="Choose another.")
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    token = Token(new_id(), name, scope, _digest(text), app.now(), None)
    await app.database.write(partial(tokens.create, token=token), durable=True, name="token")
    return token, text


async def listed(app: App) -> list[Token]:
    return await app.database.read(tokens.listed)


async def revoke(app: App, text: str) -> Token:
    return await app.database.write(partial(tokens.revoke, text=text, now=app.now()), durable=True, name="token")


async def there_are_any(app: App) -> bool:
    return bool(await app.database.read(tokens.valid))


class Tokens:
    """The tokens that are valid, as the database had them a moment ago."""

    def __init__(self, app: App, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._known: Sequence[Token] = ()
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    async def valid(self) -> Sequence[Token]:
        if self._is_old():
            # All who wait hear the same: one after the other they would wait for a silent database as often as they are.
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._read())
            await asyncio.shield(self._reading)
        return self._known

    async def _read(self) -> None:
        self._known = await self._app.database.read(tokens.valid)
        self._read_at = self._clock()

    async def scope_of(self, shown: str) -> Scope | None:
        """What somebody who shows this may do; None when it is no token of ours."""
        digest = _digest(shown)
        found: Scope | None = None
        # All of them, in constant time: how long it takes tells nothing about how much was right.
        for token in await self.valid():
            if compare_digest(token.digest, digest):
                found = token.scope
        return found

    def _is_old(self) -> bool:
        return self._read_at is None or self._clock() - self._read_at > KNOWN_FOR


def _digest(text: str) -> str:
    """Enough for something that is as random as these are: nobody can guess what it was made of."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
