"""What all workers of a database did, counted together: numbers that only grow, whoever dies."""

from __future__ import annotations

from collections.abc import Mapping

from tarantella.store.tx import Tx, pack


def add(tx: Tx, counted: Mapping[str, int]) -> None:
    """Add what a worker did since it last said so."""
    rows = sorted((name, amount) for name, amount in counted.items() if amount)
    if rows:
        tx.execute(
            "INSERT INTO counters (name, value) SELECT r.name, r.value "
            f"FROM {tx.dialect.rows('rows', [('name', 'TEXT'), ('value', 'BIGINT')])} AS r "
            "WHERE true ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value",
            rows=pack(rows),
        )


def totals(tx: Tx) -> dict[str, int]:
    return {row.name: row.value for row in tx.all("SELECT name, value FROM counters ORDER BY name")}
