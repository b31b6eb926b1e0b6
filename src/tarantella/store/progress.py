"""A look at a run that is under way: its row, and what it does next."""

from __future__ import annotations

from tarantella.domain.struct import Frozen
from tarantella.store import lanes, runs
from tarantella.store.runs import Run
from tarantella.store.tx import Tx


class Look(Frozen):
    """A run at one moment."""

    run: Run
    next_ready: float | None = None  # when its first pending page is due
    current: str | None = None  # that page


def look(tx: Tx, run_id: str) -> Look:
    run = runs.seen(tx, run_id)
    if run.is_over:
        return Look(run)
    current = tx.value(
        "SELECT url FROM pages WHERE state = 'pending' AND run_id = :run AND lane = "
        "(SELECT lane FROM stands WHERE run_id = :run AND ready_at IS NOT NULL ORDER BY ready_at, lane LIMIT 1) "
        "ORDER BY next_at LIMIT 1",
        run=run_id,
    )
    return Look(run, lanes.next_ready(tx, run_id), current)
