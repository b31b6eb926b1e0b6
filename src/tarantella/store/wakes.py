"""Which message of Celery's woke which worker, for which runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from tarantella.domain.struct import Frozen
from tarantella.store.tx import Tx

# What was sent for a run that is gone, or for a host, is kept for as long as somebody may ask.
KEPT = 7 * 86_400.0


class Wake(NamedTuple):
    """A message that arrived."""

    task_id: str
    run_id: str
    woken_at: float


class Woken(Frozen):
    """What a message did."""

    task_id: str
    run_id: str
    worker_id: str
    woken_at: float
    node: str | None
    host: str | None
    pid: int | None


def note(tx: Tx, worker_id: str, wakes: Collection[Wake]) -> None:
    if wakes:
        rows = [(wake.task_id, worker_id, wake.run_id, wake.woken_at) for wake in wakes]
        tx.insert("wakes", ["task_id", "worker_id", "run_id", "woken_at"], rows, conflict="DO NOTHING")


def listed(tx: Tx, *, run_id: str | None = None, task_id: str | None = None, limit: int = 50) -> list[Woken]:
    """The newest first: those for a run, those of a message, or all."""
    given = {"run_id": run_id, "task_id": task_id}
    wanted = {name: value for name, value in given.items() if value is not None}
    rows = tx.all(
        "SELECT wakes.task_id, wakes.run_id, wakes.worker_id, wakes.woken_at, workers.node, workers.host, workers.pid "
        "FROM wakes LEFT JOIN workers ON workers.id = wakes.worker_id "
        f"WHERE true {''.join(f'AND wakes.{name} = :{name} ' for name in wanted)}"
        "ORDER BY wakes.woken_at DESC, wakes.task_id, wakes.run_id LIMIT :limit",
        **{"limit": limit, **wanted},
    )
    return [Woken(*row) for row in rows]


def forget_old(tx: Tx, before: float) -> int:
    return tx.execute("DELETE FROM wakes WHERE woken_at < :before", before=before)
