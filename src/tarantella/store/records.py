"""Records: read in order, a few hundred at a time, so that no read holds the database back."""

from __future__ import annotations

from typing import Any

import orjson

from tarantella.store.tx import Tx


def after(tx: Tx, run_id: str, last: int, limit: int = 500) -> list[tuple[int, dict[str, Any]]]:
    """The next records of a run behind this one."""
    rows = tx.all(
        "SELECT id, data FROM records WHERE run_id = :run AND id > :last ORDER BY id LIMIT :limit",
        run=run_id,
        last=last,
        limit=limit,
    )
    return [(row.id, orjson.loads(row.data)) for row in rows]
