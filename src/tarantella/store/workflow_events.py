"""The history of a workflow: numbered, append-only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from tarantella.domain.event import Event
from tarantella.store.tx import Tx

_COLUMNS = ("workflow_id", "sequence", "level", "message", "meta", "created_at")


def append(tx: Tx, workflow_id: str, last: int, said: Sequence[Event], now: float) -> int:
    """Store events behind the last one; the number of the last one then. For whoever holds the workflow's row."""
    rows = [
        (workflow_id, last + number, event.level, event.message, orjson.dumps(dict(event.meta)).decode(), now)
        for number, event in enumerate(said, 1)
    ]
    tx.insert("workflow_events", _COLUMNS, rows, conflict="(workflow_id, sequence) DO NOTHING")
    return last + len(rows)


def listed(tx: Tx, workflow_id: str, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
    """A page of a workflow's history, oldest first."""
    rows = tx.all(
        "SELECT sequence, level, message, meta, created_at FROM workflow_events "
        "WHERE workflow_id = :workflow AND sequence > :after ORDER BY sequence LIMIT :limit",
        workflow=workflow_id,
        after=after,
        limit=limit,
    )
    return [{**row._mapping, "workflow_id": workflow_id, "meta": orjson.loads(row.meta)} for row in rows]
