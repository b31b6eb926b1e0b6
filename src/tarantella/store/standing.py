"""Where a run stands: how many of its hosts could be worked on, and what keeps the others."""

from __future__ import annotations

from collections.abc import Sequence

from tarantella.domain.standing import Standing
from tarantella.store.lanes import DUE
from tarantella.store.tx import Tx, pack

# Of one host only the first of these is told: what would still keep it if the others were gone.
_KEPT_BY = (
    "CASE WHEN coalesce(lanes.host, lanes.name) IN (SELECT host FROM sites WHERE paused = 1) THEN 'paused' "
    "WHEN lanes.breaker_state = 'open' AND lanes.breaker_open_until > :now THEN 'broken' "
    "WHEN lanes.not_before > :now THEN 'asked' "
    "WHEN lanes.owner IS NOT NULL THEN 'owned' "
    "WHEN lanes.needs IS NOT NULL AND lanes.needs NOT IN (SELECT value FROM {has} AS h) THEN 'needs' "
    "WHEN stands.ready_at > :now THEN 'later' ELSE 'free' END"
)


def standings(
    tx: Tx, run_ids: Sequence[str], has: Sequence[str], now: float, *, lane: str | None = None
) -> dict[str, Standing]:
    """Where these runs stand, at all their hosts or in one lane, when those who live can use these strategies."""
    kept_by = _KEPT_BY.format(has=tx.dialect.values("has"))
    rows = tx.all(
        f"SELECT run_id, kept_by, count(*) AS hosts, min(needs) AS needs, min(until) AS until FROM (SELECT stands.run_id, "
        f"{kept_by} AS kept_by, lanes.needs, {DUE} AS until "
        "FROM stands JOIN lanes ON lanes.name = stands.lane WHERE stands.ready_at IS NOT NULL "
        f"{'AND stands.lane = :lane ' if lane is not None else ''}"
        f"AND stands.run_id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)) AS s GROUP BY run_id, kept_by",
        ids=pack(list(run_ids)),
        has=pack(list(has)),
        now=now,
        **({"lane": lane} if lane is not None else {}),
    )
    found: dict[str, Standing] = {}
    for row in rows:
        standing = found.setdefault(row.run_id, Standing())
        standing.hosts[row.kept_by] = row.hosts
        if row.kept_by == "needs":
            standing.needs = row.needs
        elif row.kept_by in ("broken", "asked", "later"):
            standing.until = min(filter(None, (standing.until, row.until)))
    return found
