"""The only writer of outcomes: many pages in one transaction, always in the same order of tables and rows.

Own worker row; own pages; new pages; records; attempts; cookies; stands and lanes; run rows last. The order keeps two workers
from waiting for each other, and makes the run's row the one place where counts are added and events get their numbers.
Everything follows from the pages that were still ours, so a settle whose commit is unknown is simply sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.run import RunStatus
from tarantella.store import admission, cookies, page_rows, run_row, workers
from tarantella.store.page_rows import NewPage
from tarantella.store.stands import Stands, open_lanes, refresh_stands
from tarantella.store.tx import Tx

MAX_ROWS = 50_000


@dataclass(slots=True)
class Settled:
    """What a settle did."""

    outcomes: Sequence[Outcome] = ()  # those that were still ours
    lost: int = 0
    ended: dict[str, RunStatus] = field(default_factory=dict)
    admitted: list[str] = field(default_factory=list)
    full: set[str] = field(default_factory=set)
    woken: set[tuple[str, str]] = field(default_factory=set)  # (run, lane) pairs that have new pages

    @property
    def woken_lanes(self) -> set[str]:
        return {lane for _, lane in self.woken}

    @property
    def pages(self) -> int:
        return len(self.outcomes)


def settle(
    tx: Tx,
    worker_id: str | None,
    outcomes: Sequence[Outcome],
    news: Sequence[LaneNews],
    *,
    max_running: int,
    now: float,
) -> Settled:
    """Store what became of these pages. Only a closing has no worker: it fetched nothing, and the pages are the fence."""
    if worker_id is not None:
        workers.check_alive(tx, worker_id)
    ours = page_rows.still_ours(tx, outcomes)
    ours = page_rows.without_duplicates(tx, ours)
    page_rows.move_pages(tx, ours)
    fresh = page_rows.insert_found(tx, ours, now)
    page_rows.insert_records(tx, ours)
    page_rows.insert_attempts(tx, ours)
    cookies.keep(tx, ours)
    touched = _touched_stands(ours, fresh)
    open_lanes(tx, touched)
    if worker_id is not None:
        _tell_lanes(tx, worker_id, news)
    result = Settled(ours, lost=len(outcomes) - len(ours))
    result.woken = {(page.run_id, page.lane) for page in fresh}
    result.woken |= {(o.page.run_id, o.move.lane) for o in ours if o.move}
    _settle_runs(tx, ours, fresh, touched, result, now)
    if result.ended:
        result.admitted = admission.admit(tx, max_running, now)
    return result


def _settle_runs(
    tx: Tx,
    outcomes: Sequence[Outcome],
    fresh: Sequence[NewPage],
    touched: Stands,
    result: Settled,
    now: float,
) -> None:
    """Add everything to the runs' rows, after deciding which of the new pages are more than their run may have."""
    changes = run_row.changes_by_run(outcomes, fresh)
    runs = run_row.lock_runs(tx, changes)
    surplus = [page for run in runs for page in run_row.cut_surplus(run, changes[run.id])]
    run_row.skip_surplus(tx, surplus)
    refresh_stands(tx, touched)
    for run in runs:
        change = changes[run.id]
        if change.fills:
            result.full.add(run.id)
        if (status := run_row.update_run(tx, run, change, now)) is not None:
            result.ended[run.id] = status


def _touched_stands(outcomes: Sequence[Outcome], fresh: Sequence[NewPage]) -> Stands:
    touched = {(o.page.run_id, o.page.lane) for o in outcomes}
    touched |= {(o.page.run_id, o.move.lane) for o in outcomes if o.move}
    touched |= {(page.run_id, page.lane) for page in fresh}
    return sorted(touched)


def _tell_lanes(tx: Tx, worker_id: str, news: Sequence[LaneNews]) -> None:
    for lane in sorted(news, key=lambda n: n.lane):
        tx.execute(
            "UPDATE lanes SET not_before = :not_before, breaker_state = :state, breaker_failures = :failures, "
            "breaker_open_until = :open_until, breaker_failed_probes = :probes, "
            "unclean_deaths = CASE WHEN :clean = 1 THEN 0 ELSE unclean_deaths END WHERE name = :name AND owner = :owner",
            not_before=lane.not_before,
            state=lane.breaker.state,
            failures=lane.breaker.failures,
            open_until=lane.breaker.open_until,
            probes=lane.breaker.failed_probes,
            clean=int(lane.clean),
            name=lane.lane,
            owner=worker_id,
        )
