"""A run's row: the one place of order, where counts are added, events numbered, limits decided and the end noticed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from tarantella.domain import cost, coverage
from tarantella.domain.cost import Cost, Costs
from tarantella.domain.coverage import Coverage, Lacking
from tarantella.domain.event import (
    MAX_PAGES_REACHED,
    RUN_CANCELLED,
    RUN_COMPLETED,
    RUN_FAILED,
    TRAP_STOPPED,
    Event,
    Level,
)
from tarantella.domain.field import Field
from tarantella.domain.outcome import FROM_CACHE, Attempt, Outcome
from tarantella.domain.page import INCOMPLETE_SKIPS, PageKind, PageState, Skip
from tarantella.domain.refused import NOTHING_REFUSED, Refused, summed
from tarantella.domain.run import TERMINAL, Counts, RunStatus, Wanted, room_for_pages, terminal_status
from tarantella.domain.struct import Mutable, field, replace
from tarantella.domain.trap import TrapNote
from tarantella.store import events, first_page, retrying
from tarantella.store.connection import Row
from tarantella.store.page_rows import NewPage
from tarantella.store.retrying import TakenBack
from tarantella.store.tx import Tx, pack

_PAGE = PageKind.PAGE.value
_DONE = PageState.DONE  # looking up a member of an enumeration takes longer than comparing with it
MOST_TRAPS = 200  # patterns that a run remembers and tells of; what it stopped is counted without end


class Change(Mutable):
    """What a settle adds to one run's row."""

    done: int = 0
    others: Counter[PageState] = field(default_factory=Counter)  # what is not done, by its state
    incomplete: int = 0
    fresh: list[int] = field(default_factory=list)
    sitemaps: int = 0  # of the new pages, those that are no content
    surplus: int = 0
    fills: bool = False  # the run has as many pages as it may
    records: int = 0
    requests: int = 0
    bytes: int = 0
    stored: int = 0
    refused: Mapping[str, Refused] = NOTHING_REFUSED
    events: list[Event] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    failure: tuple[str, str] | None = None
    traps: list[TrapNote] = field(default_factory=list)
    lacking: Lacking = field(default_factory=dict)
    costs: Costs = field(default_factory=dict)  # of strategies other than plain HTTP


def changes_by_run(outcomes: Sequence[Outcome], fresh: Sequence[NewPage]) -> dict[str, Change]:
    changes: dict[str, Change] = defaultdict(Change)
    by_run: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        by_run[o.page.run_id].append(o)
    for run_id, of_run in by_run.items():
        _count(changes[run_id], of_run)
    found: dict[str, list[NewPage]] = defaultdict(list)
    for page in fresh:
        found[page.run_id].append(page)
    for run_id, pages in found.items():
        change = changes[run_id]
        change.fresh = [page.id for page in pages if page.kind == _PAGE]
        change.sitemaps = len(pages) - len(change.fresh)
    return dict(changes)


def _count(change: Change, outcomes: Sequence[Outcome]) -> None:
    """Add up what all have, and what few have: of most pages there is little to tell."""
    records = [record for o in outcomes for record in o.records]
    change.records += len(records)
    change.stored += sum(map(len, records))
    done = requests = received = 0
    for o in outcomes:
        tried = o.attempt
        if tried is not None and tried.protocol != FROM_CACHE:
            requests += 1
            received += tried.bytes
            if tried.strategy != "http":
                change.costs = cost.summed(change.costs, {tried.strategy: _cost(tried, o.state)})
        if o.state is _DONE:
            done += 1
        else:
            _count_trouble(change, o)
        if o.events or o.traps or o.refused or o.lacking or o.body is not None or o.root:
            _count_rarities(change, o)
    change.done += done
    change.requests += requests
    change.bytes += received


def _count_rarities(change: Change, o: Outcome) -> None:
    if o.body is not None:
        change.stored += len(o.body.compressed)
    change.refused = summed(change.refused, o.refused)
    change.events += o.events
    change.traps += o.traps
    if o.root:
        change.roots.append(o.root)
    if o.lacking:
        change.lacking = coverage.added(change.lacking, o.lacking)


def _cost(attempt: Attempt, state: PageState) -> Cost:
    return Cost(int(state is _DONE), 1, attempt.bytes, attempt.elapsed_ms)


def _count_trouble(change: Change, o: Outcome) -> None:
    change.others[o.state] += 1
    if o.state is PageState.SKIPPED and o.reason in INCOMPLETE_SKIPS:
        change.incomplete += 1
    elif o.state is PageState.FAILED:
        change.failure = (o.reason or "unknown", o.detail or "")


def lock_runs(tx: Tx, run_ids: Iterable[str]) -> Sequence[Row]:
    """The rows of these runs, in the order in which everybody locks them; nobody else changes anything of them meanwhile."""
    return tx.all(
        "SELECT * FROM runs WHERE id IN "
        f"(SELECT value FROM {tx.dialect.values('ids')} AS r) ORDER BY id {tx.dialect.for_update}",
        ids=pack(sorted(set(run_ids))),
    )


def cut_surplus(run: Row, change: Change) -> list[int]:
    """The new pages that are more than the run may have."""
    max_pages = orjson.loads(run.spec)["max_pages"]
    room = room_for_pages(max_pages, total=run.total, surplus=run.surplus, sitemaps=run.sitemaps)
    extra = change.fresh[room:]
    change.fills = len(change.fresh) >= room
    change.surplus = len(extra)
    # A run that is full refuses links before they become pages; it says so as loudly.
    refused = Skip.MAX_PAGES in change.refused
    if (extra or refused) and run.surplus == 0 and Skip.MAX_PAGES not in orjson.loads(run.refused):
        change.events.append(max_pages_reached(max_pages))
    return extra


def max_pages_reached(max_pages: int) -> Event:
    meta = {"max_pages": max_pages, "remedy": "raise max_pages to get the rest"}
    return Event(MAX_PAGES_REACHED, Level.WARN, meta)


def skip_surplus(tx: Tx, ids: Sequence[int]) -> None:
    if ids:
        tx.execute(
            "UPDATE pages SET state = 'skipped', reason = :reason, tries = tries + 1 "
            f"WHERE id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r)",
            reason=Skip.MAX_PAGES,
            ids=pack(ids),
        )


def update_run(tx: Tx, run: Row, change: Change, now: float) -> RunStatus | None:
    """Add a change to the run; the status with which it ended, if it did."""
    left = change.done + change.others[PageState.FAILED] + change.others[PageState.SKIPPED]
    fresh = len(change.fresh) + change.sitemaps
    counts = Counts(
        total=run.total + fresh,
        done=run.done + change.done,
        failed=run.failed + change.others[PageState.FAILED],
        skipped=run.skipped + change.others[PageState.SKIPPED] + change.surplus,
        pending=run.pending + fresh - change.surplus - left,
        incomplete=run.incomplete + change.incomplete,
    )
    values: dict[str, Any] = {
        "records": run.records + change.records,
        "requests": run.requests + change.requests,
        "bytes": run.bytes + change.bytes,
        "stored": run.stored + change.stored,
        "surplus": run.surplus + change.surplus,
        "sitemaps": run.sitemaps + change.sitemaps,
        "refused": _refused_json(run.refused, change.refused),
        "roots": _roots_json(run.roots, change.roots),
    }
    if change.traps:
        values["traps"] = _note_traps(run.traps, change)
    if change.lacking:
        values["lacking"] = orjson.dumps(coverage.added(orjson.loads(run.lacking), change.lacking)).decode()
    if change.costs:
        costs = cost.summed(cost.costs_of(orjson.loads(run.costs)), change.costs)
        values["costs"] = orjson.dumps(cost.costs_json(costs)).decode()
    if change.failure:
        values["failure_code"], values["error_message"] = change.failure
    if counts.pending == 0 and run.retries_below is not None and run.wanted != Wanted.CANCEL:
        # It has not ended, however quick it was with those that were taken back so far.
        again = retrying.take_back(tx, run, now)
        counts = _without(counts, again)
        values["retries_below"] = again.below
    ended = None
    if counts.pending == 0 and RunStatus(run.status) not in TERMINAL:
        ended = _end(tx, run, counts, values, change.events, now)
    for name in ("total", "done", "failed", "skipped", "pending", "incomplete"):
        values[name] = getattr(counts, name)
    values["last_event"] = events.append(tx, run.id, run.last_event, change.events, now)
    tx.execute(
        f"UPDATE runs SET {', '.join(f'{name} = :{name}' for name in values)} WHERE id = :run",
        run=run.id,
        **values,
    )
    return ended


def _without(counts: Counts, again: TakenBack) -> Counts:
    return replace(
        counts,
        failed=counts.failed - again.failed,
        skipped=counts.skipped - again.skipped,
        pending=counts.pending + again.pages,
        incomplete=counts.incomplete - again.skipped,
    )


def _end(tx: Tx, run: Row, counts: Counts, values: dict[str, Any], history: list[Event], now: float) -> RunStatus:
    """The run has no pending page left: write its terminal state. Somebody has to `clear` it."""
    status = terminal_status(counts, Wanted(run.wanted), partial_ok=orjson.loads(run.spec)["partial_ok"])
    values["status"] = status
    values["finished_at"] = now
    values["retries_below"] = None
    if run.reason != Skip.DEADLINE:
        values["reason"] = None  # a pause that came too late, say
    if status is RunStatus.COMPLETED:
        values["failure_code"] = values["error_message"] = None
    values["attempt"], first = first_page.ending(tx, run.id)
    costs = cost.costs_of(orjson.loads(values.get("costs", run.costs)))
    first["cost"] = cost.told(values["requests"], values["bytes"], counts.done, costs)
    values["stats"] = orjson.dumps(first).decode()
    wanted = [Field.from_json(each) for each in orjson.loads(run.spec)["fields"]]
    lacking = orjson.loads(values.get("lacking", run.lacking))
    history += _coverage_events(tx, run, coverage.coverage_of(wanted, values["records"], lacking))
    history.append(_ending(status, counts, first, now - (run.started_at or run.created_at)))
    return status


def clear(tx: Tx, run_ids: Iterable[str]) -> None:
    """Remove what only live runs need, of runs that have ended."""
    ended = pack(sorted(run_ids))
    for table in ("stands", "run_workers"):
        tx.execute(
            f"DELETE FROM {table} WHERE run_id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)", ids=ended
        )


EARLIER_RUNS = 5


def _coverage_events(tx: Tx, run: Row, found: list[Coverage]) -> list[Event]:
    """What there is to say of the fields: those that must be there and are not, and those that fewer records have than used to."""
    missing = coverage.required_missing(found)
    said = [missing] if missing is not None else []
    if not found or run.job_id is None:
        return said
    rows = tx.all(
        "SELECT spec, records, lacking FROM runs WHERE job_id IS NOT NULL AND job_id = :job AND id <> :run "
        "AND status IN ('completed', 'partial') ORDER BY created_at DESC, id DESC LIMIT :limit",
        job=run.job_id,
        run=run.id,
        limit=EARLIER_RUNS,
    )
    earlier = [
        coverage.coverage_of(
            [Field.from_json(each) for each in orjson.loads(row.spec)["fields"]], row.records, orjson.loads(row.lacking)
        )
        for row in rows
    ]
    fallen = coverage.falls(found, earlier)
    return [*said, coverage.fell(fallen)] if fallen else said


def _ending(status: RunStatus, counts: Counts, first: Mapping[str, Any], seconds: float) -> Event:
    meta = {
        "status": status,
        "stats": {
            **first,
            "total": counts.total,
            "done": counts.done,
            "failed": counts.failed,
            "skipped": counts.skipped,
        },
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
    known = {reason: Refused(entry["count"], tuple(entry["samples"])) for reason, entry in orjson.loads(stored).items()}
    total = summed(known, found)
    return orjson.dumps({reason: {"count": r.count, "samples": r.samples} for reason, r in total.items()}).decode()


def _roots_json(stored: str, new: Sequence[str]) -> str:
    if not new:
        return stored
    return orjson.dumps(list(dict.fromkeys([*orjson.loads(stored), *new]))).decode()


def stored_traps(stored: str) -> tuple[TrapNote, ...]:
    """What the trap rules had to say of a run so far."""
    return tuple(TrapNote(*note) for note in orjson.loads(stored))


def _note_traps(stored: str, change: Change) -> str:
    """Add what the trap rules found out; a pattern that is stopped is told of once, whoever stopped it."""
    notes = {note.key: note for note in stored_traps(stored)}
    for note in change.traps:
        known = notes.get(note.key)
        if known is None and len(notes) >= MOST_TRAPS and not _make_room(notes, note):
            continue
        if known is None or (note.stopped, note.addresses) > (known.stopped, known.addresses):
            notes[note.key] = note
        if note.stopped and not (known is not None and known.stopped):
            change.events.append(_trap_stopped(note))
    return orjson.dumps([list(note) for note in notes.values()]).decode()


def _make_room(notes: dict[str, TrapNote], note: TrapNote) -> bool:
    """What is only counted gives way to what was stopped."""
    counted = next((key for key, known in notes.items() if not known.stopped), None)
    if not note.stopped or counted is None:
        return False
    del notes[counted]
    return True


def _trap_stopped(note: TrapNote) -> Event:
    meta = {"rule": note.rule, "pattern": note.pattern, "why": note.in_words, "example": note.sample}
    meta["remedy"] = f"the trap limit {note.let_through_by} lets it through"
    return Event(TRAP_STOPPED, Level.WARN, meta)
