"""Stands: when a run's first pending page in a lane is due."""

from __future__ import annotations

from collections.abc import Collection

from tarantella.domain.parts import MARK, host_of
from tarantella.store.tx import Tx, pack

Stands = list[tuple[str, str]]


def open_lanes(tx: Tx, names: Collection[str]) -> None:
    """Make those of these lanes that there are not yet."""
    if names:
        tx.execute(
            # Those that are there are left out first: one that its owner is just updating would be waited for.
            f"INSERT INTO lanes (name) SELECT value FROM {tx.dialect.values('rows')} AS r "
            "WHERE NOT EXISTS (SELECT 1 FROM lanes WHERE name = r.value) ORDER BY value ON CONFLICT (name) DO NOTHING",
            rows=pack(sorted(names)),
        )
        for name in sorted(name for name in names if MARK in name):
            tx.execute(
                "UPDATE lanes SET host = :host WHERE name = :name AND host IS NULL", name=name, host=host_of(name)
            )


def refresh_stands(tx: Tx, stands: Stands) -> None:
    """Recount when the first pending page of each of these stands is due.

    Whoever changes stands holds the rows of their runs. Otherwise two who change pages of one stand at the same time
    would each write what it sees without the other, and a page that is due would be forgotten.
    """
    if not stands:
        return
    tx.execute(
        "INSERT INTO stands (run_id, lane, ready_at) SELECT r.run_id, r.lane, "
        # Not min(): who doesn't know that there are many would read them all.
        "(SELECT p.next_at FROM pages AS p WHERE p.state = 'pending' AND p.lane = r.lane AND p.run_id = r.run_id "
        "ORDER BY p.next_at LIMIT 1) "
        f"FROM {tx.dialect.rows('rows', [('run_id', 'TEXT'), ('lane', 'TEXT')])} AS r "
        "WHERE true ON CONFLICT (run_id, lane) DO UPDATE SET ready_at = excluded.ready_at",
        rows=pack(stands),
    )
