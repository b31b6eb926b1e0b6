"""Shares a run's concurrency between the workers that serve it, and tells who has something in flight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
    left = concurrency - sum(slots for worker, slots in held.items() if worker != worker_id)
    return max(min(fair_share(held, worker_id, concurrency), left), min(busy, before), 0)


def fair_share(held: Mapping[str, int], worker_id: str, concurrency: int) -> int:
    """What a worker has when everybody has as much as anybody."""
    everybody = sorted({*held, worker_id})
    even, extra = divmod(concurrency, len(everybody))
    return even + (1 if everybody.index(worker_id) < extra else 0)


class Claimed(NamedTuple):
    """What a worker has of a run: with others there it may use less than it holds, until that is free."""

    held: int
    usable: int
    fair: int


def claim(tx: Tx, worker_id: str, wanted: Mapping[str, tuple[int, int]]) -> dict[str, Claimed]:
    """Take this worker's share of these runs' slots, by their concurrency and what of it is in use here.

    The caller holds the runs' rows, so that no two share at the same time. Hundreds may begin in a second.
    """
    known = shares(tx, sorted(wanted))
    changed = []
    claimed = {}
    for run_id, (concurrency, busy) in sorted(wanted.items()):
        held = known.get(run_id, {})
        mine = share(held, worker_id, concurrency, busy)
        if held.get(worker_id) != mine:
            changed.append((run_id, worker_id, mine))
        usable = share({**held, worker_id: mine}, worker_id, concurrency, 0)
        claimed[run_id] = Claimed(mine, usable, fair_share(held, worker_id, concurrency))
    tx.insert(
        "run_workers",
        ("run_id", "worker_id", "slots"),
        changed,
        conflict="(run_id, worker_id) DO UPDATE SET slots = excluded.slots",
    )
    return claimed


def give_back(tx: Tx, run_ids: Sequence[str], worker_id: str) -> None:
    """Nothing of these runs is in flight here any more."""
    tx.execute(
        f"DELETE FROM run_workers WHERE worker_id = :worker AND run_id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack(list(run_ids)),
        worker=worker_id,
    )
