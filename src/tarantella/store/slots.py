"""Shares a run's concurrency between the workers that serve it, and tells who has something in flight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tarantella.store.tx import Tx, pack


def shares(tx: Tx, run_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Who holds how many slots of these runs."""
    found: dict[str, dict[str, int]] = {}
    rows = tx.all(
        f"SELECT run_id, worker_id, slots FROM run_workers WHERE run_id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack(list(run_ids)),
    )
    for row in rows:
        found.setdefault(row.run_id, {})[row.worker_id] = row.slots
    return found


def share(held: Mapping[str, int], worker_id: str, concurrency: int, busy: int) -> int:
    """A worker's fair share of a run's slots: never more than the others leave, never fewer than it is using."""
    before = held.get(worker_id, 0)
    everybody = sorted({*held, worker_id})
    even, extra = divmod(concurrency, len(everybody))
    fair = even + (1 if everybody.index(worker_id) < extra else 0)
    left = concurrency - sum(slots for worker, slots in held.items() if worker != worker_id)
    return max(min(fair, left), min(busy, before), 0)


def claim(tx: Tx, run_id: str, worker_id: str, concurrency: int, busy: int) -> int:
    """Take this worker's share of a run's slots. The caller holds the run's row, so that no two share at the same time."""
    held = shares(tx, [run_id]).get(run_id, {})
    mine = share(held, worker_id, concurrency, busy)
    if held.get(worker_id) != mine:
        tx.execute(
            "INSERT INTO run_workers (run_id, worker_id, slots) VALUES (:run, :worker, :slots) "
            "ON CONFLICT (run_id, worker_id) DO UPDATE SET slots = excluded.slots",
            run=run_id,
            worker=worker_id,
            slots=mine,
        )
    return mine


def give_back(tx: Tx, run_id: str, worker_id: str) -> None:
    """Nothing of the run is in flight here any more."""
    tx.execute("DELETE FROM run_workers WHERE run_id = :run AND worker_id = :worker", run=run_id, worker=worker_id)
