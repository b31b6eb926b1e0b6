"""Stands: when a run's first pending page in a lane is due."""

from __future__ import annotations

from tarantella.store.tx import Tx, pack

Stands = list[tuple[str, str]]


def open_lanes(tx: Tx, stands: Stands) -> None:
    if stands:
        tx.execute(
            f"INSERT INTO lanes (name) SELECT value FROM {tx.dialect.values('rows')} AS r WHERE true ON CONFLICT (name) DO NOTHING",
            rows=pack(sorted({lane for _, lane in stands})),
        )


def refresh_stands(tx: Tx, stands: Stands) -> None:
    """Recount when the first pending page of each of these stands is due."""
    if not stands:
        return
    tx.execute(
        "INSERT INTO stands (run_id, lane, ready_at) SELECT r.run_id, r.lane, (SELECT min(p.next_at) FROM pages AS p "
        "WHERE p.state = 'pending' AND p.lane = r.lane AND p.run_id = r.run_id) "
        f"FROM {tx.dialect.rows('rows', [('run_id', 'TEXT'), ('lane', 'TEXT')])} AS r "
        "WHERE true ON CONFLICT (run_id, lane) DO UPDATE SET ready_at = excluded.ready_at",
        rows=pack(stands),
    )
