"""The only writer of outcomes: many pages in one transaction, always in the same order of tables and rows.

Own worker row; own pages; new pages; records; attempts; stands and lanes; run rows last. The order keeps two workers
from waiting for each other, and makes the run's row the one place where counts are added and events get their numbers.
Everything follows from the pages that were still ours, so a settle whose commit is unknown is simply sent again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Row

from tarantella.domain.errors import WorkerDead
from tarantella.domain.event import MAX_PAGES_REACHED, RUN_CANCELLED, RUN_COMPLETED, RUN_FAILED, Event, Level
from tarantella.domain.outcome import LaneNews, Link, Outcome, Refused
from tarantella.domain.page import INCOMPLETE_SKIPS, PageState, Skip
from tarantella.domain.run import Counts, RunStatus, Wanted, terminal_status
from tarantella.store import admission, events
from tarantella.store.tx import Tx, pack

MAX_ROWS = 50_000
SAMPLES = 3


class NewPage(NamedTuple):
    """A page row that this settle inserted."""

    id: int
    run_id: str
    lane: str


@dataclass(slots=True)
class Settled:
    """What a settle did."""

    outcomes: Sequence[Outcome] = ()  # those that were still ours
    lost: int = 0
    ended: dict[str, RunStatus] = field(default_factory=dict)
    admitted: list[str] = field(default_factory=list)
    full: set[str] = field(default_factory=set)
    woken_lanes: set[str] = field(default_factory=set)

    @property
    def pages(self) -> int:
        return len(self.outcomes)


def settle(
    tx: Tx, worker_id: str | None, outcomes: Sequence[Outcome], news: Sequence[LaneNews], *, max_running: int, now: float
) -> Settled:
    """Store what became of these pages. Only a closing has no worker: it fetched nothing, and the pages are the fence."""
    if worker_id is not None:
        _check_alive(tx, worker_id)
    ours = _still_ours(tx, outcomes)
    ours = _without_duplicates(tx, ours)
    _move_pages(tx, ours)
    fresh = _insert_pages(tx, ours, now)
    _insert_records(tx, ours)
    _insert_attempts(tx, ours)
    touched = _touched_stands(ours, fresh)
    open_lanes(tx, touched)
    if worker_id is not None:
        _tell_lanes(tx, worker_id, news)
    result = Settled(ours, lost=len(outcomes) - len(ours))
    result.woken_lanes = {page.lane for page in fresh} | {o.move.lane for o in ours if o.move}
    surplus: list[int] = []
    changes = _changes_by_run(ours, fresh)
    rows = _lock_runs(tx, changes)
    for run_id in sorted(rows):
        surplus += _cut_surplus(rows[run_id], changes[run_id], result)
    _skip_surplus(tx, surplus)
    refresh_stands(tx, touched)
    for run_id in sorted(rows):
        _update_run(tx, rows[run_id], changes[run_id], result, now)
    if result.ended:
        result.admitted = admission.admit(tx, max_running, now)
    return result


def _check_alive(tx: Tx, worker_id: str) -> None:
    alive = tx.first(f"SELECT dead_at FROM workers WHERE id = :id {tx.dialect.for_update}", id=worker_id)
    if alive is None or alive.dead_at is not None:
        raise WorkerDead("This process was declared dead while it did not answer; its pages belong to others now.")


def _still_ours(tx: Tx, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those whose page is as it was when it was taken. The others are somebody else's now: what they found is dropped."""
    if not outcomes:
        return []
    rows = tx.dialect.rows("rows", [("id", "BIGINT"), ("tries", "BIGINT"), ("lane", "TEXT")])
    ids = tx.array(
        ["p.id"],
        f"FROM {rows} AS r JOIN pages AS p ON p.id = r.id "
        "WHERE p.state = 'pending' AND p.tries = r.tries AND p.lane = r.lane ORDER BY p.id " + tx.dialect.for_update,
        rows=pack([(o.page.id, o.page.tries, o.page.lane) for o in outcomes]),
    )
    valid = {row[0] for row in ids}
    kept = []
    for outcome in outcomes:
        if outcome.page.id in valid:
            valid.discard(outcome.page.id)  # the same page twice in one batch counts once
            kept.append(outcome)
    return kept


def _without_duplicates(tx: Tx, outcomes: list[Outcome]) -> list[Outcome]:
    """A page whose final address another finished page already has becomes `skipped(duplicate)`."""
    done = [o for o in outcomes if o.state is PageState.DONE]
    if not done:
        return outcomes
    claims = tx.dialect.rows("rows", [("id", "BIGINT"), ("run_id", "TEXT"), ("claim", "TEXT"), ("redirected", "BIGINT")])
    taken = tx.array(
        ["id"],
        f"FROM (SELECT r.id FROM {claims} AS r JOIN pages AS p ON p.run_id = r.run_id AND p.final_fingerprint = r.claim "
        "WHERE p.state = 'done' AND p.id <> r.id AND p.final_fingerprint IS NOT NULL "
        f"UNION SELECT r.id FROM {claims} AS r JOIN pages AS p ON p.run_id = r.run_id AND p.fingerprint = r.claim "
        "WHERE r.redirected = 1 AND p.state = 'done' AND p.id <> r.id AND p.final_fingerprint IS NULL) AS taken",
        rows=pack([(o.page.id, o.page.run_id, _claim(o), int(o.final_fingerprint is not None)) for o in done]),
    )
    duplicates = {row[0] for row in taken}
    claimed: set[tuple[str, str]] = set()
    for outcome in done:
        claim = (outcome.page.run_id, _claim(outcome))
        if claim in claimed:
            duplicates.add(outcome.page.id)
        elif outcome.page.id not in duplicates:
            claimed.add(claim)
    return [_as_duplicate(o) if o.page.id in duplicates else o for o in outcomes]


def _claim(outcome: Outcome) -> str:
    return outcome.final_fingerprint or outcome.page.fingerprint


def _as_duplicate(outcome: Outcome) -> Outcome:
    attempt = replace(outcome.attempt, decision="skipped: duplicate") if outcome.attempt else None
    return Outcome(
        page=outcome.page,
        state=PageState.SKIPPED,
        attempt=attempt,
        reason=Skip.DUPLICATE,
        detail=outcome.final_url or outcome.page.url,
        charged=outcome.charged,
        status=outcome.status,
        final_url=outcome.final_url,
        # Its links were taken out of the worker's memory of new ones: dropped here, nobody would find them again.
        links=outcome.links,
        refused=outcome.refused,
    )


_MOVED = [
    ("id", "BIGINT"),
    ("state", "TEXT"),
    ("reason", "TEXT"),
    ("detail", "TEXT"),
    ("charged", "BIGINT"),
    ("strategy", "TEXT"),
    ("next_at", "DOUBLE PRECISION"),
    ("url", "TEXT"),
    ("lane", "TEXT"),
    ("hops", "BIGINT"),
    ("cookies", "TEXT"),
    ("status", "BIGINT"),
    ("final_url", "TEXT"),
    ("final_fingerprint", "TEXT"),
]


def _move_pages(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    if not outcomes:
        return
    tx.execute(
        "UPDATE pages SET state = r.state, reason = r.reason, detail = r.detail, tries = tries + 1, "
        "charged = pages.charged + r.charged, strategy = coalesce(r.strategy, pages.strategy), "
        "next_at = coalesce(r.next_at, pages.next_at), url = coalesce(r.url, pages.url), lane = coalesce(r.lane, pages.lane), "
        "hops = coalesce(r.hops, pages.hops), cookies = r.cookies, status = r.status, final_url = r.final_url, "
        "final_fingerprint = r.final_fingerprint "
        f"FROM {tx.dialect.rows('rows', _MOVED)} AS r WHERE pages.id = r.id",
        rows=pack([_moved_row(o) for o in outcomes]),
    )


def _moved_row(o: Outcome) -> tuple[Any, ...]:
    move = o.move
    return (
        o.page.id,
        o.state,
        o.reason,
        o.detail,
        int(o.charged),
        o.strategy,
        o.next_at,
        move.url if move else None,
        move.lane if move else None,
        move.hops if move else None,
        move.cookies if move else None,
        o.status,
        o.final_url,
        o.final_fingerprint,
    )


_FOUND = [
    ("run_id", "TEXT"),
    ("fingerprint", "TEXT"),
    ("lane", "TEXT"),
    ("url", "TEXT"),
    ("depth", "BIGINT"),
    ("strategy", "TEXT"),
    ("found_on", "BIGINT"),
    ("is_start", "BIGINT"),
    ("next_at", "DOUBLE PRECISION"),
]


def _insert_pages(tx: Tx, outcomes: Sequence[Outcome], now: float) -> list[NewPage]:
    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for o in outcomes:
        for link in o.links:
            key = (o.page.run_id, link.fingerprint)
            if key not in found:
                found[key] = (*key, link.lane, link.url, link.depth, o.page.strategy, o.page.id, 0, now)
    return insert_pages(tx, [found[key] for key in sorted(found)])


def start_pages(run_id: str, links: Iterable[Link], strategy: str, now: float) -> list[tuple[Any, ...]]:
    """Rows for the addresses that a run starts from."""
    rows = {link.fingerprint: (run_id, link.fingerprint, link.lane, link.url, 1, strategy, None, 1, now) for link in links}
    return [rows[fingerprint] for fingerprint in sorted(rows)]


def insert_pages(tx: Tx, rows: Sequence[tuple[Any, ...]]) -> list[NewPage]:
    """Insert the pages that are new to their runs, and say which were."""
    if not rows:
        return []
    last = tx.value("SELECT coalesce(max(id), 0) FROM pages")
    names = ", ".join(name for name, _ in _FOUND)
    tx.execute(
        f"INSERT INTO pages ({names}, state) SELECT {names}, 'pending' FROM {tx.dialect.rows('rows', _FOUND)} AS r "
        "WHERE true ON CONFLICT (run_id, fingerprint) DO NOTHING",
        rows=pack(rows),
    )
    return [NewPage(*row) for row in tx.array(["id", "run_id", "lane"], "FROM pages WHERE id > :last", last=last)]


def _insert_records(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    rows = [
        {"run_id": o.page.run_id, "page_id": o.page.id, "ordinal": i, "data": data}
        for o in outcomes
        for i, data in enumerate(o.records)
    ]
    if rows:
        tx.insert("records", rows, conflict="(page_id, ordinal) DO NOTHING")
    kept = [
        {"page_id": o.page.id, "content_type": o.body.content_type, "body": o.body.compressed} for o in outcomes if o.body
    ]
    if kept:
        tx.insert("bodies", kept, conflict="(page_id) DO UPDATE SET content_type = excluded.content_type, body = excluded.body")


_TRIED = [
    ("page_id", "BIGINT"),
    ("n", "BIGINT"),
    ("strategy", "TEXT"),
    ("started_at", "DOUBLE PRECISION"),
    ("elapsed_ms", "BIGINT"),
    ("status", "BIGINT"),
    ("bytes", "BIGINT"),
    ("failure", "TEXT"),
    ("detail", "TEXT"),
    ("decision", "TEXT"),
]


def _insert_attempts(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    rows = [
        (o.page.id, o.page.tries + 1, a.strategy, a.started_at, a.elapsed_ms, a.status, a.bytes, a.failure, a.detail, a.decision)
        for o in outcomes
        if (a := o.attempt)
    ]
    if rows:
        names = ", ".join(name for name, _ in _TRIED)
        tx.execute(
            f"INSERT INTO attempts ({names}) SELECT {names} FROM {tx.dialect.rows('rows', _TRIED)} AS r "
            "WHERE true ON CONFLICT (page_id, n) DO NOTHING",
            rows=pack(rows),
        )


Stands = list[tuple[str, str]]


def _touched_stands(outcomes: Sequence[Outcome], fresh: Sequence[NewPage]) -> Stands:
    touched = {(o.page.run_id, o.page.lane) for o in outcomes}
    touched |= {(o.page.run_id, o.move.lane) for o in outcomes if o.move}
    touched |= {(page.run_id, page.lane) for page in fresh}
    return sorted(touched)


def open_lanes(tx: Tx, stands: Stands) -> None:
    if stands:
        tx.execute(
            f"INSERT INTO lanes (name) SELECT value FROM {tx.dialect.values('rows')} AS r WHERE true ON CONFLICT (name) DO NOTHING",
            rows=pack(sorted({lane for _, lane in stands})),
        )


def refresh_stands(tx: Tx, stands: Stands) -> None:
    """Recount when the first pending page of each of these stands is due."""
    if not stands:
        return
    tx.execute(
        "INSERT INTO stands (run_id, lane, ready_at) SELECT r.run_id, r.lane, (SELECT min(p.next_at) FROM pages AS p "
        "WHERE p.state = 'pending' AND p.lane = r.lane AND p.run_id = r.run_id) "
        f"FROM {tx.dialect.rows('rows', [('run_id', 'TEXT'), ('lane', 'TEXT')])} AS r "
        "WHERE true ON CONFLICT (run_id, lane) DO UPDATE SET ready_at = excluded.ready_at",
        rows=pack(stands),
    )


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


@dataclass(slots=True)
class Change:
    """What a settle adds to one run's row."""

    states: Counter[PageState] = field(default_factory=Counter)
    incomplete: int = 0
    fresh: list[int] = field(default_factory=list)
    surplus: int = 0
    records: int = 0
    requests: int = 0
    bytes: int = 0
    refused: dict[str, Refused] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    failure: tuple[str, str] | None = None


def _changes_by_run(outcomes: Sequence[Outcome], fresh: Sequence[NewPage]) -> dict[str, Change]:
    changes: dict[str, Change] = defaultdict(Change)
    for o in outcomes:
        change = changes[o.page.run_id]
        change.states[o.state] += 1
        change.incomplete += o.state is PageState.SKIPPED and o.reason in INCOMPLETE_SKIPS
        change.records += len(o.records)
        if o.attempt:
            change.requests += 1
            change.bytes += o.attempt.bytes
        for reason, refused in o.refused.items():
            change.refused[reason] = merged(change.refused.get(reason), refused)
        change.events += o.events
        if o.root:
            change.roots.append(o.root)
        if o.state is PageState.FAILED:
            change.failure = (o.reason or "unknown", o.detail or "")
    for page in fresh:
        changes[page.run_id].fresh.append(page.id)
    return dict(changes)


def merged(one: Refused | None, other: Refused) -> Refused:
    if one is None:
        return other
    return Refused(one.count + other.count, (*one.samples, *other.samples)[:SAMPLES])


def _lock_runs(tx: Tx, changes: Mapping[str, Change]) -> dict[str, Row[Any]]:
    if not changes:
        return {}
    found = tx.all(
        "SELECT * FROM runs WHERE id IN "
        f"(SELECT value FROM {tx.dialect.values('ids')} AS r) ORDER BY id {tx.dialect.for_update}",
        ids=pack(sorted(changes)),
    )
    return {row.id: row for row in found}


def _cut_surplus(run: Row[Any], change: Change, result: Settled) -> list[int]:
    """The new pages that are more than the run may have."""
    max_pages = orjson.loads(run.spec)["max_pages"]
    room = max(0, max_pages - (run.total - run.surplus))
    extra = sorted(change.fresh)[room:]
    if len(change.fresh) >= room:
        result.full.add(run.id)
    if extra:
        change.surplus = len(extra)
        if run.surplus == 0:
            change.events.append(
                Event(MAX_PAGES_REACHED, Level.WARN, {"max_pages": max_pages, "remedy": "raise --max-pages to get the rest"})
            )
    return extra


def _skip_surplus(tx: Tx, ids: Sequence[int]) -> None:
    if ids:
        tx.execute(
            "UPDATE pages SET state = 'skipped', reason = :reason, tries = tries + 1 "
            f"WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
            reason=Skip.MAX_PAGES,
            ids=pack(ids),
        )


def _update_run(tx: Tx, run: Row[Any], change: Change, result: Settled, now: float) -> None:
    left = sum(n for state, n in change.states.items() if state is not PageState.PENDING)
    counts = Counts(
        total=run.total + len(change.fresh),
        done=run.done + change.states[PageState.DONE],
        failed=run.failed + change.states[PageState.FAILED],
        skipped=run.skipped + change.states[PageState.SKIPPED] + change.surplus,
        pending=run.pending + len(change.fresh) - change.surplus - left,
        incomplete=run.incomplete + change.incomplete,
    )
    values: dict[str, Any] = {
        "records": run.records + change.records,
        "requests": run.requests + change.requests,
        "bytes": run.bytes + change.bytes,
        "surplus": run.surplus + change.surplus,
        "refused": _refused_json(run.refused, change.refused),
        "roots": _roots_json(run.roots, change.roots),
    }
    if change.failure:
        values["failure_code"], values["error_message"] = change.failure
    if counts.pending == 0 and run.status not in ("completed", "partial", "failed", "cancelled"):
        result.ended[run.id] = _end(tx, run, counts, values, change.events, now)
    for name in ("total", "done", "failed", "skipped", "pending", "incomplete"):
        values[name] = getattr(counts, name)
    values["last_event"] = events.append(tx, run.id, run.last_event, change.events, now)
    tx.execute(f"UPDATE runs SET {', '.join(f'{name} = :{name}' for name in values)} WHERE id = :run", run=run.id, **values)


def _end(
    tx: Tx, run: Row[Any], counts: Counts, values: dict[str, Any], history: list[Event], now: float
) -> RunStatus:
    """The run has no pending page left: write its terminal state, and clear what only a live run needs."""
    status = terminal_status(counts, Wanted(run.wanted), partial_ok=orjson.loads(run.spec)["partial_ok"])
    values["status"] = status
    values["finished_at"] = now
    if status is RunStatus.COMPLETED:
        values["failure_code"] = values["error_message"] = None
    history.append(_ending(status, counts, now - (run.started_at or run.created_at)))
    tx.execute("DELETE FROM stands WHERE run_id = :run", run=run.id)
    tx.execute("DELETE FROM run_workers WHERE run_id = :run", run=run.id)
    return status


def _ending(status: RunStatus, counts: Counts, seconds: float) -> Event:
    meta = {
        "status": status,
        "stats": {"total": counts.total, "done": counts.done, "failed": counts.failed, "skipped": counts.skipped},
        "seconds": round(seconds, 3),
    }
    if status is RunStatus.CANCELLED:
        return Event(RUN_CANCELLED, Level.WARN, meta)
    if status is RunStatus.FAILED:
        return Event(RUN_FAILED, Level.ERROR, meta)
    return Event(RUN_COMPLETED, Level.INFO if status is RunStatus.COMPLETED else Level.WARN, meta)


def _refused_json(stored: str, found: Mapping[str, Refused]) -> str:
    if not found:
        return stored
    total = {reason: Refused(entry["count"], tuple(entry["samples"])) for reason, entry in orjson.loads(stored).items()}
    for reason, refused in found.items():
        total[reason] = merged(total.get(reason), refused)
    return orjson.dumps({reason: {"count": r.count, "samples": r.samples} for reason, r in total.items()}).decode()


def _roots_json(stored: str, new: Sequence[str]) -> str:
    if not new:
        return stored
    return orjson.dumps(list(dict.fromkeys([*orjson.loads(stored), *new]))).decode()
