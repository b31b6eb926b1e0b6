"""The lane of the duties: what must be done by one worker at a time."""

from __future__ import annotations

from tarantella.store.runs import SUBMITTING
from tarantella.store.stands import refresh_stands
from tarantella.store.tx import Tx, pack
from tarantella.store.workers import check_alive

LANE = "!duties"  # no host is called so
# Of a submission without a command of its own nobody knows whether it goes on. No list of addresses takes so long.
SUBMISSION_PATIENCE = 3_600.0


def take(tx: Tx, worker_id: str) -> bool:
    """Become the one who does the duties, if nobody is."""
    check_alive(tx, worker_id)
    tx.execute("INSERT INTO lanes (name, owner) VALUES (:lane, NULL) ON CONFLICT (name) DO NOTHING", lane=LANE)
    tx.execute("UPDATE lanes SET owner = :me WHERE name = :lane AND owner IS NULL", me=worker_id, lane=LANE)
    return bool(tx.value("SELECT owner FROM lanes WHERE name = :lane", lane=LANE) == worker_id)


def repair_stands(tx: Tx, after: tuple[str, str], limit: int = 500) -> tuple[str, str] | None:
    """Recount a slice of stands behind this one; where to go on, or None at the end."""
    rows = tx.all(
        "SELECT run_id, lane FROM stands WHERE (run_id, lane) > (:run, :lane) ORDER BY run_id, lane LIMIT :limit",
        run=after[0],
        lane=after[1],
        limit=limit,
    )
    stands = [(row.run_id, row.lane) for row in rows]
    # A run that somebody is working on counts its stands itself; one that has ended meanwhile has none any more.
    free = tx.all(
        "SELECT id FROM runs WHERE status IN ('queued', 'running', 'paused') AND id IN "
        f"(SELECT value FROM {tx.dialect.values('ids')} AS r) ORDER BY id {tx.dialect.for_update_of_free}",
        ids=pack(sorted({run_id for run_id, _ in stands})),
    )
    ours = {run.id for run in free}
    refresh_stands(tx, [stand for stand in stands if stand[0] in ours])
    return stands[-1] if len(stands) == limit else None


def unfinished_submissions(tx: Tx, reason: str, now: float) -> list[str]:
    """Runs whose submission or deletion was never finished, and whose command is gone."""
    rows = tx.all(
        # The first condition is that of their index, word for word: without it every run would be looked at.
        "SELECT id FROM runs WHERE reason IN ('submitting', 'deleting') AND reason = :reason AND CASE WHEN keeper IS NULL "
        "THEN reason <> :submitting OR created_at <= :before "
        "ELSE keeper NOT IN (SELECT id FROM workers WHERE dead_at IS NULL) END",
        reason=reason,
        submitting=SUBMITTING,
        before=now - SUBMISSION_PATIENCE,
    )
    return [row.id for row in rows]
