"""Ends what a run will not do any more: its pending pages become skipped, a thousand at a time."""

from __future__ import annotations

from tarantella.domain.event import DEADLINE_REACHED, Event, Level
from tarantella.domain.outcome import Outcome
from tarantella.domain.page import Page, PageState, Skip
from tarantella.store import events
from tarantella.store.settle import Settled, settle
from tarantella.store.tx import Tx

AT_ONCE = 1_000
# For as long as this is so of a run, its pages are to be closed.
_WANTED = {Skip.CANCELLED: "wanted = 'cancel'", Skip.DEADLINE: "status = 'running' AND deadline_at <= :now"}


def close_pages(
    tx: Tx,
    run_id: str,
    reason: Skip,
    *,
    worker_id: str | None = None,
    lane: str | None = None,
    detail: str | None = None,
    waiting_at: float | None = None,
    max_running: int,
    now: float,
) -> Settled:
    """Skip up to a thousand pending pages of a run, in one lane or in all. Call it until it finds none.

    What a worker alone thinks, it may only do while it lives; a cancel or a deadline is anybody's to make true, for as
    long as it is wanted: whoever saw it a moment ago must not close what was brought back since. `waiting_at` leaves out
    what came after that time, and was not tried since.
    """
    # In the same statement as the pages: what it finds is still to be closed, or has another `tries` by then.
    wanted = f"AND EXISTS (SELECT 1 FROM runs WHERE id = :run AND {_WANTED[reason]}) " if reason in _WANTED else ""
    rows = tx.array(
        ["id", "fingerprint", "lane", "url", "depth", "tries", "charged", "strategy", "hops", "is_start"],
        "FROM pages WHERE state = 'pending' AND run_id = :run AND lane IN (SELECT lane FROM stands WHERE run_id = :run) "
        f"{'AND lane = :lane ' if lane is not None else ''}"
        f"{'AND (charged > 0 OR next_at <= :waiting_at) ' if waiting_at is not None else ''}{wanted}LIMIT {AT_ONCE}",
        run=run_id,
        lane=lane,
        waiting_at=waiting_at,
        now=now,
    )
    pages = [
        Page(id_, run_id, fingerprint, lane_, url, depth, tries, charged, strategy, hops, bool(start), None)
        for id_, fingerprint, lane_, url, depth, tries, charged, strategy, hops, start in rows
    ]
    outcomes = [Outcome(page, PageState.SKIPPED, reason=reason, detail=detail) for page in pages]
    return settle(tx, worker_id, outcomes, [], max_running=max_running, now=now)


def overdue(tx: Tx, now: float) -> list[tuple[str, Skip]]:
    """Live runs that must be closed now, and why."""
    # Two questions, each with an index: as one, it would be answered by looking at every run that is queued.
    rows = tx.all(
        f"SELECT id, wanted FROM runs WHERE {_WANTED[Skip.CANCELLED]} AND status IN ('queued', 'running', 'paused') "
        f"UNION ALL SELECT id, wanted FROM runs WHERE {_WANTED[Skip.DEADLINE]} AND wanted <> 'cancel'",
        now=now,
    )
    return [(row.id, Skip.CANCELLED if row.wanted == "cancel" else Skip.DEADLINE) for row in rows]


def announce(tx: Tx, run_id: str, reason: Skip, now: float) -> None:
    """Say in a run's history, once, that its time is up; a cancel speaks for itself when the run ends."""
    if reason is not Skip.DEADLINE:
        return
    first = tx.execute(
        f"UPDATE runs SET reason = :reason WHERE id = :id AND {_WANTED[reason]} AND (reason IS NULL OR reason <> :reason)",
        id=run_id,
        reason=reason,
        now=now,
    )
    if first:
        pending = tx.value("SELECT pending FROM runs WHERE id = :id", id=run_id)
        events.record(tx, run_id, [Event(DEADLINE_REACHED, Level.WARN, {"pending": pending})], now)
