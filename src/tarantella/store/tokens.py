"""Tokens: only their digests are stored, so that whoever reads the database can't use them."""

from __future__ import annotations

from tarantella.domain.access import SCOPES, Scope
from tarantella.domain.errors import Conflict, NotFound
from tarantella.domain.struct import Frozen
from tarantella.store.connection import Row
from tarantella.store.ids import HIGHEST
from tarantella.store.tx import Tx


class Token(Frozen):
    """What is known of a token; the token itself is not."""

    id: str
    name: str | None
    scope: Scope
    digest: str
    created_at: float
    revoked_at: float | None


def create(tx: Tx, token: Token) -> None:
    tx.execute(
        "INSERT INTO tokens (id, name, scope, digest, created_at) VALUES (:id, :name, :scope, :digest, :now)",
        id=token.id,
        name=token.name,
        scope=token.scope.word,
        digest=token.digest,
        now=token.created_at,
    )


def listed(tx: Tx) -> list[Token]:
    """All that there ever were, the oldest first."""
    return [_token(row) for row in tx.all("SELECT * FROM tokens ORDER BY created_at, id")]


def valid(tx: Tx) -> list[Token]:
    """Those that still let somebody in."""
    return [_token(row) for row in tx.all("SELECT * FROM tokens WHERE revoked_at IS NULL ORDER BY created_at, id")]


def revoke(tx: Tx, text: str, now: float) -> Token:
    """Let a token be of no use any more; it is named by its id, the end of that, or its name."""
    rows = tx.all(
        "SELECT * FROM tokens WHERE revoked_at IS NULL AND (id = :text OR name = :text OR (id >= :text AND id < :above) "
        "OR substr(id, length(id) + 1 - :length) = :text)",
        text=text,
        above=text + HIGHEST,
        length=len(text),
    )
    if not rows:
        raise NotFound(
            f"There is no token {text[:60]!r} that could be revoked.", remedy="`tarantella tokens list` shows them."
        )
    if len(rows) > 1:
        raise Conflict(f"More than one token is called {text[:60]!r}.", remedy="Use its id.")
    tx.execute("UPDATE tokens SET revoked_at = :now WHERE id = :id", now=now, id=rows[0].id)
    return _token(rows[0])


def _token(row: Row) -> Token:
    return Token(row.id, row.name, SCOPES[row.scope], row.digest, row.created_at, row.revoked_at)
