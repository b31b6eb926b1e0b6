"""What all runs and hosts together look like."""

from __future__ import annotations

from tarantella.domain.struct import Frozen
from tarantella.store import runs
from tarantella.store.tx import Tx, pack

MOST_HOSTS = 1_000
MOST_RUNS = 1_000


class BrokenHost(Frozen):
    """A host that has failed lately; one in parts, as the worst of them is."""

    name: str
    failures: int
    open_until: float  # 0 where no breaker is open


def runs_by_status(tx: Tx) -> dict[str, int]:
    """How many runs there are for users, by status."""
    rows = tx.all(f"SELECT status, count(*) AS runs FROM runs WHERE {runs.IS_SEEN} GROUP BY status")
    return {row.status: row.runs for row in rows}


def broken_hosts(tx: Tx) -> list[BrokenHost]:
    rows = tx.all(
        "SELECT coalesce(host, name) AS name, max(breaker_failures) AS failures, "
        "max(CASE WHEN breaker_state = 'open' THEN breaker_open_until ELSE 0.0 END) AS open_until FROM lanes "
        "WHERE breaker_failures > 0 OR breaker_state <> 'closed' GROUP BY coalesce(host, name) "
        "ORDER BY failures DESC, name LIMIT :limit",
        limit=MOST_HOSTS,
    )
    return [BrokenHost(*row) for row in rows]


def troubles_since(tx: Tx, since: float) -> dict[str, int]:
    """How many pages failed or were skipped in the newest runs since then, by reason."""
    recent = tx.all(
        f"SELECT id FROM runs WHERE created_at > :since AND failed + incomplete > 0 AND {runs.IS_SEEN} "
        "ORDER BY created_at DESC LIMIT :limit",
        since=since,
        limit=MOST_RUNS,
    )
    rows = tx.all(
        "SELECT reason, count(*) AS pages FROM pages WHERE state IN ('failed', 'skipped') AND run_id IN "
        f"(SELECT value FROM {tx.dialect.values('ids')} AS r) GROUP BY reason",
        ids=pack([run.id for run in recent]),
    )
    return {row.reason: row.pages for row in rows}
