"""Keys that clients send so that asking twice is asking once."""

from __future__ import annotations

from tarantella.domain.errors import KeyReused
from tarantella.domain.struct import Frozen
from tarantella.store.tx import Tx

LONGEST_KEY = 255


class Kept(Frozen):
    """What was answered to the first request with a key, and what that request was."""

    key: str
    digest: str
    status: int
    answer: str


def find(tx: Tx, key: str, digest: str) -> Kept | None:
    """What was answered to the same request before; a request that differs is refused."""
    row = tx.first("SELECT key, digest, status, answer FROM idempotency_keys WHERE key = :key", key=key)
    if row is None:
        return None
    if row.digest != digest:
        raise KeyReused(
            "This Idempotency-Key came with another request before.",
            remedy="Send a new key with every new request, and the same one only to repeat it.",
            field="Idempotency-Key",
        )
    return Kept(*row)


def claim(tx: Tx, new: Kept, now: float) -> Kept | None:
    """Keep this answer; or, if somebody was first, theirs. Call it before anything else is written."""
    fresh = tx.execute(
        "INSERT INTO idempotency_keys (key, digest, status, answer, created_at) "
        "VALUES (:key, :digest, :status, :answer, :now) ON CONFLICT (key) DO NOTHING",
        key=new.key,
        digest=new.digest,
        status=new.status,
        answer=new.answer,
        now=now,
    )
    return None if fresh else find(tx, new.key, new.digest)


def some_are_older(tx: Tx, before: float) -> bool:
    """Whether there are keys to be forgotten."""
    return tx.first("SELECT 1 FROM idempotency_keys WHERE created_at < :before LIMIT 1", before=before) is not None


def forget_old(tx: Tx, before: float, limit: int = 1_000) -> int:
    """Forget some keys that are older; nobody repeats a request for days."""
    return tx.execute(
        "DELETE FROM idempotency_keys WHERE key IN "
        "(SELECT key FROM idempotency_keys WHERE created_at < :before ORDER BY created_at LIMIT :limit)",
        before=before,
        limit=limit,
    )
