"""The only writer of outcomes: many pages in one transaction, always in the same order of tables and rows.

Own worker row; own pages; lanes; run rows; each kind sorted, so that two workers never wait for each other. A run's row is
the one place of order: under its lock pages are moved and found, stands recounted, counts added, and records and events
numbered. Everything follows from the pages that were still ours, so a settle whose commit is unknown is simply sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.run import RunStatus
from tarantella.domain.struct import Mutable, field
from tarantella.store import admission, cookies, page_rows, recordings, run_row, workers
from tarantella.store.stands import open_lanes, refresh_stands
from tarantella.store.tx import Tx, pack

MAX_ROWS = 2_400  # five to ten milliseconds of the write lock, where nobody keeps the interpreter's from us


class Settled(Mutable):
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
    open_lanes(tx, _lanes_ahead(ours))
    if worker_id is not None:
        _tell_lanes(tx, worker_id, news)
    result = Settled(lost=len(outcomes) - len(ours))
    if ours:
        _settle_pages(tx, ours, result, now)
    if result.ended:
        result.admitted = admission.admit(tx, max_running, now)
    return result


def _lanes_ahead(outcomes: Sequence[Outcome]) -> set[str]:
    """Where pages go, or would if they are new."""
    return {o.move.lane for o in outcomes if o.move} | {link.lane for o in outcomes for link in o.links}


def _settle_pages(tx: Tx, outcomes: list[Outcome], result: Settled, now: float) -> None:
    """Write the pages and all that they brought, after deciding which of the new ones are more than their run may have."""
    runs = run_row.lock_runs(tx, {o.page.run_id for o in outcomes})
    outcomes = page_rows.without_duplicates(tx, outcomes)
    page_rows.move_pages(tx, outcomes)
    fresh = page_rows.insert_found(tx, outcomes, now)
    changes = run_row.changes_by_run(outcomes, fresh)
    surplus = [page for run in runs for page in run_row.cut_surplus(run, changes[run.id])]
    run_row.skip_surplus(tx, surplus)
    page_rows.insert_records(tx, outcomes)
    page_rows.insert_attempts(tx, outcomes)
    cookies.keep(tx, outcomes)
    recordings.keep(tx, runs, outcomes, now)
    woken = {(page.run_id, page.lane) for page in fresh} | {(o.page.run_id, o.move.lane) for o in outcomes if o.move}
    refresh_stands(tx, sorted(woken | {(o.page.run_id, o.page.lane) for o in outcomes}))
    for run in runs:
        change = changes[run.id]
        if change.fills:
            result.full.add(run.id)
        if (status := run_row.update_run(tx, run, change, now)) is not None:
            result.ended[run.id] = status
    if result.ended:
        run_row.clear(tx, result.ended)
    result.outcomes, result.woken = outcomes, woken


_NEWS = [
    ("name", "TEXT"),
    ("not_before", "DOUBLE PRECISION"),
    ("state", "TEXT"),
    ("failures", "BIGINT"),
    ("open_until", "DOUBLE PRECISION"),
    ("probes", "BIGINT"),
    ("clean", "BIGINT"),
]


def _tell_lanes(tx: Tx, worker_id: str, news: Sequence[LaneNews]) -> None:
    """Write what was learned of hosts. Only their owner does, so that nobody waits here for anybody."""
    if news:
        tx.execute(
            "UPDATE lanes SET not_before = r.not_before, breaker_state = r.state, breaker_failures = r.failures, "
            "breaker_open_until = r.open_until, breaker_failed_probes = r.probes, "
            "unclean_deaths = CASE WHEN r.clean = 1 THEN 0 ELSE unclean_deaths END "
            f"FROM {tx.dialect.rows('rows', _NEWS)} AS r WHERE lanes.name = r.name AND owner = :owner",
            rows=pack([_news_row(lane) for lane in news]),
            owner=worker_id,
        )


def _news_row(news: LaneNews) -> tuple[Any, ...]:
    breaker = news.breaker
    return (
        news.lane,
        news.not_before,
        breaker.state,
        breaker.failures,
        breaker.open_until,
        breaker.failed_probes,
        int(news.clean),
    )
