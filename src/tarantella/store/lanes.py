"""Where pages wait: one lane per host, one owner per lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.struct import Frozen
from tarantella.store.connection import Row
from tarantella.store.tx import Tx, pack


class Lane(Frozen):
    """A lane as its new owner finds it."""

    name: str
    not_before: float
    breaker: Breaker
    unclean_deaths: int
    breaker_resets: int = 0


class Stand(Frozen):
    """A run's pending work in one lane."""

    lane: str
    run_id: str
    ready_at: float | None


def ready_count(tx: Tx, *, only_run: str | None, now: float, has: Sequence[str] | None = None) -> int:
    """How many lanes could be taken, by somebody who has these strategies where that matters."""
    ready, values = _ready(tx, only_run, now, has)
    return int(tx.value(f"SELECT count(DISTINCT stands.lane) {ready}", **values))


def acquire(
    tx: Tx, worker_id: str, limit: int, *, only_run: str | None, now: float, has: Sequence[str] | None = None
) -> list[Lane]:
    """Become the owner of some lanes that have work due, those that wait longest first."""
    if limit <= 0:
        return []
    ready, values = _ready(tx, only_run, now, has)
    due = tx.all(
        f"SELECT stands.lane, min(stands.ready_at) AS since {ready} GROUP BY stands.lane ORDER BY since, stands.lane LIMIT :limit",
        limit=limit,
        **values,
    )
    # What somebody else is about to take is theirs: waiting for it would only show that.
    free = [
        row.name
        for row in tx.all(
            "SELECT name FROM lanes WHERE owner IS NULL AND name IN "
            f"(SELECT value FROM {tx.dialect.values('names')} AS r) ORDER BY name {tx.dialect.for_update_of_free}",
            names=pack([row.lane for row in due]),
        )
    ]
    if not free:
        return []
    tx.execute(
        f"UPDATE lanes SET owner = :owner WHERE owner IS NULL AND name IN (SELECT value FROM {tx.dialect.values('names')} AS r)",
        owner=worker_id,
        names=pack(free),
    )
    return [lane for lane in owned(tx, worker_id) if lane.name in set(free)]


def _ready(tx: Tx, only_run: str | None, now: float, has: Sequence[str] | None = None) -> tuple[str, dict[str, Any]]:
    """Which lanes could be taken, and the values for it."""
    ready = (
        # However many runs are queued, only a few are running.
        f"FROM runs {tx.dialect.looked_up('stands', 'stands.run_id = runs.id')} JOIN lanes ON lanes.name = stands.lane "
        "WHERE stands.ready_at <= :now AND lanes.not_before <= :now AND lanes.owner IS NULL "
        "AND runs.status = 'running' AND runs.wanted = 'run' "
        "AND coalesce(lanes.host, lanes.name) NOT IN (SELECT host FROM sites WHERE paused = 1)"
    )
    values: dict[str, Any] = {"now": now}
    if only_run is not None:
        ready, values = f"{ready} AND runs.id = :only", {**values, "only": only_run}
    if has is not None:
        able = f"lanes.needs IN (SELECT value FROM {tx.dialect.values('has')} AS h)"
        ready, values = f"{ready} AND (lanes.needs IS NULL OR {able})", {**values, "has": pack(list(has))}
    return ready, values


def owned(tx: Tx, worker_id: str) -> list[Lane]:
    return [_lane(row) for row in tx.all("SELECT * FROM lanes WHERE owner = :owner ORDER BY name", owner=worker_id)]


def owned_count(tx: Tx, worker_ids: Sequence[str]) -> int:
    """How many lanes these workers own."""
    if not worker_ids:
        return 0
    owned_by = f"owner IN (SELECT value FROM {tx.dialect.values('ids')} AS r)"
    return int(tx.value(f"SELECT count(*) FROM lanes WHERE {owned_by}", ids=pack(sorted(worker_ids))))


def release(tx: Tx, worker_id: str, names: Sequence[str], lacked: Mapping[str, str] = {}) -> None:
    """Give lanes back. Nothing of them may be in flight any more.

    Of some it is said which strategy was lacking, for those who have it. What nothing waits for any more is not needed.
    """
    tx.execute(
        "UPDATE lanes SET owner = NULL, needs = CASE WHEN needs IS NOT NULL AND EXISTS (SELECT 1 FROM pages "
        "WHERE pages.state = 'pending' AND pages.lane = lanes.name AND pages.strategy = lanes.needs) THEN needs END "
        f"WHERE owner = :owner AND name IN (SELECT value FROM {tx.dialect.values('names')} AS r)",
        owner=worker_id,
        names=pack(sorted(names)),
    )
    for name, strategy in sorted(lacked.items()):
        tx.execute("UPDATE lanes SET needs = :needs WHERE name = :name", name=name, needs=strategy)


def keep_distance(tx: Tx, worker_id: str, until: Mapping[str, float]) -> None:
    """Have the next owner of these lanes wait, too: from one request to the next it is as long whoever sends them."""
    if until:
        tx.execute(
            "UPDATE lanes SET not_before = r.until "
            f"FROM {tx.dialect.rows('rows', [('name', 'TEXT'), ('until', 'DOUBLE PRECISION')])} AS r "
            "WHERE lanes.name = r.name AND owner = :owner AND not_before < r.until",
            rows=pack(sorted(until.items())),
            owner=worker_id,
        )


def owners(tx: Tx, names: Sequence[str]) -> set[str]:
    """The workers that own these lanes, for hints."""
    rows = tx.all(
        "SELECT DISTINCT owner FROM lanes WHERE owner IS NOT NULL AND name IN "
        f"(SELECT value FROM {tx.dialect.values('names')} AS r)",
        names=pack(sorted(names)),
    )
    return {row.owner for row in rows}


def owners_for(tx: Tx, run_ids: Sequence[str]) -> set[str]:
    """The workers that own lanes in which these runs stand, for hints."""
    rows = tx.all(
        "SELECT DISTINCT lanes.owner FROM stands JOIN lanes ON lanes.name = stands.lane WHERE lanes.owner IS NOT NULL "
        f"AND stands.run_id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack(sorted(run_ids)),
    )
    return {row.owner for row in rows}


def stands_of(tx: Tx, names: Sequence[str]) -> list[Stand]:
    """What waits in these lanes and may be worked on."""
    rows = tx.array(
        ["stands.lane", "stands.run_id", "stands.ready_at"],
        f"FROM runs {tx.dialect.looked_up('stands', 'stands.run_id = runs.id')} "
        "WHERE runs.status = 'running' AND stands.ready_at IS NOT NULL "
        f"AND stands.lane IN (SELECT value FROM {tx.dialect.values('names')} AS r)",
        names=pack(sorted(names)),
    )
    return [Stand(*row) for row in rows]


_ASKED = "CASE WHEN lanes.not_before > stands.ready_at THEN lanes.not_before ELSE stands.ready_at END"
# When the first page of a stand can be fetched: it is due, and its host is neither waited for nor left alone.
DUE = (
    f"CASE WHEN lanes.breaker_state = 'open' AND lanes.breaker_open_until > {_ASKED} THEN lanes.breaker_open_until "
    f"ELSE {_ASKED} END"
)


def next_ready(tx: Tx, run_id: str) -> float | None:
    """When the first pending page of a run is due, its host's own waiting included."""
    found: float | None = tx.value(
        f"SELECT min({DUE}) FROM stands JOIN lanes ON lanes.name = stands.lane WHERE stands.run_id = :run",
        run=run_id,
    )
    return found


def _lane(row: Row) -> Lane:
    breaker = Breaker(
        BreakerState(row.breaker_state), row.breaker_failures, row.breaker_open_until, row.breaker_failed_probes
    )
    return Lane(row.name, row.not_before, breaker, row.unclean_deaths, row.breaker_resets)
