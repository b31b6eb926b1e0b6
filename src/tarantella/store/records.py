"""Records: read in order, a few hundred at a time, so that no read holds the database back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from tarantella.store.tx import Tx


def of_page(tx: Tx, page_id: int, limit: int = 20) -> list[dict[str, Any]]:
    """What was extracted from a page."""
    rows = tx.all(
        "SELECT data FROM records WHERE page_id = :page ORDER BY ordinal LIMIT :limit", page=page_id, limit=limit
    )
    return [orjson.loads(row.data) for row in rows]


def after(tx: Tx, run_id: str, last: int, limit: int = 500) -> list[tuple[int, dict[str, Any]]]:
    """The next records of a run behind this one."""
    return [(number, orjson.loads(text)) for number, text in as_stored(tx, run_id, last, limit)]


def as_stored(tx: Tx, run_id: str, last: int, limit: int = 500) -> Sequence[Sequence[Any]]:
    """The next records of a run behind this one, each with its number, as the JSON that is stored."""
    return tx.rows(
        "SELECT id, data FROM records WHERE run_id = :run AND id > :last ORDER BY id LIMIT :limit",
        run=run_id,
        last=last,
        limit=limit,
    )


def with_attempts(tx: Tx, run_id: str, last: int, limit: int) -> list[tuple[int, dict[str, Any], int]]:
    """The same, each with the number of attempts that its page took."""
    rows = tx.rows(
        "SELECT r.id, r.data, p.charged FROM records AS r JOIN pages AS p ON p.id = r.page_id "
        "WHERE r.run_id = :run AND r.id > :last ORDER BY r.id LIMIT :limit",
        run=run_id,
        last=last,
        limit=limit,
    )
    return [(number, orjson.loads(text), charged) for number, text, charged in rows]
