"""How much there is of everything, for whoever looks at the whole."""

from __future__ import annotations

from typing import Any

from tarantella.domain.struct import Frozen
from tarantella.store.duties import LANE as DUTIES
from tarantella.store.overview import runs_by_status
from tarantella.store.runs import IS_SEEN
from tarantella.store.schedules import Timekeeping, timekeeping
from tarantella.store.tx import Tx


def jot(tx: Tx) -> None:
    """Write something down and take it away again: the commit writes, and nothing is left of it."""
    tx.execute("INSERT INTO counters (name, value) VALUES ('', 0) ON CONFLICT (name) DO NOTHING")
    tx.execute("DELETE FROM counters WHERE name = ''")


class Lanes(Frozen):
    """Hosts, by what they are doing."""

    known: int
    owned: int  # somebody works on them
    waiting: int  # asked to be left alone for a while
    broken: int  # their breaker is not closed
    paused: int  # by people


class Census(Frozen):
    """The whole at one moment."""

    runs: dict[str, int]  # by status
    pending_pages: int
    oldest_queued_at: float | None
    lanes: Lanes
    schedules: Timekeeping


def census(tx: Tx, now: float) -> Census:
    live = f"status IN ('queued', 'running', 'paused') AND {IS_SEEN}"
    return Census(
        runs_by_status(tx),
        int(tx.value(f"SELECT coalesce(sum(pending), 0) FROM runs WHERE {live}")),
        # One that has begun and gave its slot back, or is tried again, does not wait since it was made.
        tx.value("SELECT min(created_at) FROM runs WHERE status = 'queued' AND wanted = 'run' AND started_at IS NULL"),
        _lanes(tx, now),
        timekeeping(tx, now),
    )


def _lanes(tx: Tx, now: float) -> Lanes:
    row = tx.first(
        "SELECT count(*) AS known, count(owner) AS owned, "
        "coalesce(sum(CASE WHEN not_before > :now THEN 1 ELSE 0 END), 0) AS waiting, "
        "coalesce(sum(CASE WHEN breaker_state <> 'closed' THEN 1 ELSE 0 END), 0) AS broken "
        "FROM lanes WHERE name <> :duties AND host IS NULL",
        now=now,
        duties=DUTIES,
    )
    assert row is not None
    paused = tx.value("SELECT count(*) FROM sites WHERE paused = 1")
    return Lanes(int(row.known), int(row.owned), int(row.waiting), int(row.broken), int(paused))


def waiting_runs(tx: Tx, limit: int) -> list[dict[str, Any]]:
    """Runs that don't run although they are not over, those that will be admitted next first, with the reason."""
    rows = tx.all(
        "SELECT id, status, wanted, reason, created_at, paused_at, pending FROM runs WHERE status IN ('queued', 'paused') "
        f"AND {IS_SEEN} ORDER BY CASE status WHEN 'queued' THEN 0 ELSE 1 END, rank, id LIMIT :limit",
        limit=limit,
    )
    return [dict(row._mapping) for row in rows]
