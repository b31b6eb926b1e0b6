"""Runs: their rows, submitted, found, listed and deleted. What people want of them is in steering.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Self

import orjson

from tarantella.domain.cost import Costs, costs_of, told
from tarantella.domain.coverage import Coverage, Lacking, coverage_of
from tarantella.domain.errors import Conflict, Gone, NotFound, WorkerDead
from tarantella.domain.event import RUN_CREATED, Event
from tarantella.domain.outcome import Link
from tarantella.domain.page import PageKind
from tarantella.domain.run import TERMINAL, Counts, RunStatus, Wanted, admission_rank, room_for_pages
from tarantella.domain.spec import Spec
from tarantella.domain.struct import Frozen, field
from tarantella.domain.trap import TrapNote
from tarantella.store import admission, events, page_rows, run_row
from tarantella.store.connection import Row
from tarantella.store.ids import HIGHEST, LENGTH, SHOWN
from tarantella.store.stands import open_lanes, refresh_stands
from tarantella.store.tx import Tx, pack

SUBMITTING = "submitting"
DELETING = "deleting"
UNSEEN = (SUBMITTING, DELETING)  # half of a run is none; what a command left so when it died, the duties remove
IS_SEEN = f"(reason IS NULL OR reason NOT IN {UNSEEN})"
INTERRUPTED = "interrupted"
CLI, SCRAPING, JOB = "cli", "scraping", "job"  # who asks for runs
KNOWN_SPECS = 256
BYTES_PER_PAGE = 700  # a page, its attempt and their index entries, as measured


@lru_cache(maxsize=KNOWN_SPECS)
def _spec(text: str, secrets: str | None) -> Spec:
    """A run's spec never changes, and is read whenever somebody looks at the run."""
    return Spec.from_json(orjson.loads(text), orjson.loads(secrets) if secrets else None)


class Run(Frozen):
    """A run's row."""

    id: str
    status: RunStatus
    wanted: Wanted
    reason: str | None
    spec: Spec
    roots: tuple[str, ...]
    keeper: str | None
    counts: Counts
    surplus: int
    records: int
    requests: int
    bytes: int
    refused: dict[str, Any]
    last_event: int
    failure_code: str | None
    error_message: str | None
    created_at: float
    started_at: float | None
    paused_at: float | None
    deadline_at: float | None
    finished_at: float | None
    stored: int = 0
    sitemaps: int = 0
    traps: tuple[TrapNote, ...] = ()
    source: str = CLI
    job_id: str | None = None
    snapshot: dict[str, Any] | None = None
    requested_strategy: str | None = None
    resolved_strategy: str | None = None
    attempt: int = 1
    stats: dict[str, Any] = field(default_factory=dict)
    export_format: str | None = None
    lacking: Lacking = field(default_factory=dict)
    costs: Costs = field(default_factory=dict)

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(
            id=row.id,
            status=RunStatus(row.status),
            wanted=Wanted(row.wanted),
            reason=row.reason,
            spec=_spec(row.spec, row.secrets),
            roots=tuple(orjson.loads(row.roots)),
            keeper=row.keeper,
            counts=Counts(row.total, row.done, row.failed, row.skipped, row.pending, row.incomplete),
            surplus=row.surplus,
            records=row.records,
            requests=row.requests,
            bytes=row.bytes,
            stored=row.stored,
            refused=orjson.loads(row.refused),
            last_event=row.last_event,
            failure_code=row.failure_code,
            error_message=row.error_message,
            created_at=row.created_at,
            started_at=row.started_at,
            paused_at=row.paused_at,
            deadline_at=row.deadline_at,
            finished_at=row.finished_at,
            sitemaps=row.sitemaps,
            traps=run_row.stored_traps(row.traps),
            source=row.source,
            job_id=row.job_id,
            snapshot=orjson.loads(row.snapshot) if row.snapshot else None,
            requested_strategy=row.requested_strategy,
            resolved_strategy=row.resolved_strategy,
            attempt=row.attempt,
            stats=orjson.loads(row.stats),
            export_format=row.export_format,
            lacking=orjson.loads(row.lacking),
            costs=costs_of(orjson.loads(row.costs)),
        )

    @property
    def cost(self) -> dict[str, Any]:
        """What it took so far: requests, bytes, a browser's time, and how many pages were had with which strategy."""
        return told(self.requests, self.bytes, self.counts.done, self.costs)

    @property
    def coverage(self) -> list[Coverage]:
        """The share of its records that have each field."""
        return coverage_of(self.spec.fields, self.records, self.lacking)

    @property
    def is_over(self) -> bool:
        return self.status in TERMINAL

    @property
    def is_full(self) -> bool:
        return self.room == 0

    @property
    def room(self) -> int:
        """How many more pages it may have."""
        return room_for_pages(
            self.spec.max_pages, total=self.counts.total, surplus=self.surplus, sitemaps=self.sitemaps
        )

    @property
    def disk_bytes(self) -> int:
        """Roughly how much room it takes: its records and kept bodies, and what every page needs."""
        return self.stored + BYTES_PER_PAGE * self.counts.total


def create(tx: Tx, run_id: str, spec: Spec, roots: Sequence[str], *, keeper: str | None, now: float) -> None:
    """Write the row of a run whose pages are still to come; nobody starts it before `seal`."""
    secrets = spec.secrets_json() if spec.secrets != Spec().secrets else None
    tx.execute(
        "INSERT INTO runs (id, status, wanted, reason, spec, secrets, roots, keeper, rank, created_at) "
        "VALUES (:id, 'queued', 'pause', :reason, :spec, :secrets, :roots, :keeper, :rank, :now)",
        id=run_id,
        reason=SUBMITTING,
        spec=orjson.dumps(spec.to_json()).decode(),
        secrets=orjson.dumps(secrets).decode() if secrets else None,
        roots=orjson.dumps(list(roots)).decode(),
        keeper=keeper,
        rank=admission_rank(now, spec.priority),
        now=now,
    )


def add_start_pages(tx: Tx, run_id: str, links: Iterable[Link], strategy: str, now: float) -> None:
    """Add addresses to start from."""
    run = _still_submitting(tx, run_id)
    fresh = page_rows.insert_pages(tx, page_rows.start_pages(run_id, links, strategy, now))
    pages = [page for page in fresh if page.kind == PageKind.PAGE]
    surplus = [page.id for page in pages[run.room :]]
    run_row.skip_surplus(tx, surplus)
    lanes = {page.lane for page in fresh}
    open_lanes(tx, lanes)
    refresh_stands(tx, sorted((run_id, lane) for lane in lanes))
    tx.execute(
        "UPDATE runs SET total = total + :n, pending = pending + :n - :surplus, skipped = skipped + :surplus, "
        "surplus = surplus + :surplus, sitemaps = sitemaps + :sitemaps WHERE id = :id",
        n=len(fresh),
        sitemaps=len(fresh) - len(pages),
        surplus=len(surplus),
        id=run_id,
    )


def seal(tx: Tx, run_id: str, *, max_running: int, now: float) -> None:
    """All its start pages are there: from this commit on the run exists for everybody."""
    check_keeper(tx, get(tx, run_id).keeper)
    run = _still_submitting(tx, run_id)
    tx.execute(
        "UPDATE runs SET wanted = 'run', reason = :why WHERE id = :id",
        id=run_id,
        why=admission.WAITS_FOR_A_SLOT.format(limit=max_running),
    )
    start_urls = run.counts.total - run.sitemaps
    history = [Event(RUN_CREATED, meta={"resolved_strategy": run.spec.strategy, "start_urls": start_urls})]
    if run.surplus:
        history.append(run_row.max_pages_reached(run.spec.max_pages))
    events.record(tx, run_id, history, now)
    admission.admit(tx, max_running, now)


def _still_submitting(tx: Tx, run_id: str) -> Run:
    """The run, unless somebody thought its command dead and began to remove what it had submitted."""
    run = _locked(tx, run_id)
    if run.reason != SUBMITTING:
        raise Conflict("The submission was given up meanwhile.", remedy="Submit it again.")
    return run


def get(tx: Tx, run_id: str) -> Run:
    return Run.of(_row(tx, run_id))


def seen(tx: Tx, run_id: str) -> Run:
    """A run that exists for users; one that is half there, or half gone, doesn't."""
    run = get(tx, run_id)
    if run.reason in UNSEEN:
        raise _no_run(run_id)
    return run


def still_there(tx: Tx, run_id: str) -> None:
    """Raises Gone where a run that was there is being deleted: of what is left of it, nobody should think it is all."""
    if not tx.value(f"SELECT 1 FROM runs WHERE id = :id AND {IS_SEEN}", id=run_id):
        raise Gone(f"The run {run_id} was deleted meanwhile.")


def _locked(tx: Tx, run_id: str) -> Run:
    """The run as it is, and as it stays until this transaction changes it or ends."""
    return Run.of(_row(tx, run_id, tx.dialect.for_update))


def whole(tx: Tx, run_id: str) -> Run:
    """A run that exists for users: all of it is there, and stays there."""
    run = _locked(tx, run_id)
    if run.reason == SUBMITTING:
        raise Conflict("The run is still being submitted.", remedy="Try again when it is there.")
    if run.reason == DELETING:
        raise Conflict("The run is being deleted.", remedy="Scrape its addresses again.")
    return run


def check_keeper(tx: Tx, keeper: str | None) -> None:
    """A command that was declared dead must not keep a run: nobody would ever notice that it is gone.

    Before the run's row is locked: whoever declares it dead takes the two in this order.
    """
    alive = f"SELECT 1 FROM workers WHERE id = :id AND dead_at IS NULL {tx.dialect.for_update}"
    if keeper is not None and tx.value(alive, id=keeper) is None:
        raise WorkerDead("This process was declared dead while it did not answer.", remedy="Start the command again.")


def lock(tx: Tx, run_ids: Iterable[str]) -> list[Run]:
    """The same for some of them, in the order in which everybody locks them."""
    return [Run.of(row) for row in run_row.lock_runs(tx, run_ids)]


def find(tx: Tx, prefix: str) -> str:
    """The id of the run that this text is the beginning or the end of, or the beginning of what is shown of it; `latest` is the newest."""
    if prefix == "latest":
        found = tx.all(
            f"SELECT id FROM runs WHERE {IS_SEEN} ORDER BY created_at DESC, id DESC LIMIT 1",
        )
    else:
        part = prefix.lower()
        found = tx.all("SELECT id FROM runs WHERE id = :id", id=part) or tx.all(
            "SELECT id FROM runs WHERE (id >= :part AND id < :above) OR substr(id, :place) = :part "
            "OR substr(id, :shown, :length) = :part LIMIT 2",
            part=part,
            above=part + HIGHEST,
            place=max(1, LENGTH + 1 - len(part)),
            shown=LENGTH + 1 - SHOWN,
            length=len(part),
        )
    if not found:
        raise _no_run(prefix)
    if len(found) > 1:
        raise Conflict(f"More than one run begins or ends with {prefix!r}.", remedy="Write more of its id.")
    return str(found[0].id)


def listed(
    tx: Tx,
    *,
    status: RunStatus | None = None,
    source: str | None = None,
    job_id: str | None = None,
    limit: int = 50,
    before: tuple[float, str] | None = None,
) -> list[Run]:
    """The newest runs first."""
    created, run_id = before or (1e18, "")
    filters = {"status": status, "source": source, "job_id": job_id}
    given = {name: value for name, value in filters.items() if value is not None}
    rows = tx.all(
        f"SELECT * FROM runs WHERE (created_at, id) < (:created, :id) AND {IS_SEEN} "
        f"{''.join(f'AND {name} = :{name} ' for name in given)}ORDER BY created_at DESC, id DESC LIMIT :limit",
        **{"created": created, "id": run_id, "limit": limit, **given},
    )
    return [Run.of(row) for row in rows]


def served(tx: Tx, ids: Sequence[str]) -> list[Run]:
    """The runs with these ids, as they are now."""
    rows = tx.all(
        f"SELECT * FROM runs WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)", ids=pack(sorted(ids))
    )
    return [Run.of(row) for row in rows]


def existing(tx: Tx, run_ids: Sequence[str]) -> set[str]:
    """Those of these runs that there still are."""
    rows = tx.all(
        f"SELECT id FROM runs WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS v)", ids=pack(list(run_ids))
    )
    return {row.id for row in rows}


def delete_some(tx: Tx, run_id: str, *, limit: int = 1_000, unacknowledged: bool = False) -> bool:
    """Delete part of a run that is over; True when nothing of it is left. In slices, so that nobody waits for long."""
    run = tx.first(f"SELECT status FROM runs WHERE id = :id {tx.dialect.for_update}", id=run_id)
    if run is not None and RunStatus(run.status) not in TERMINAL and not unacknowledged:
        raise Conflict(f"The run is still {run.status}.", remedy=f"`tarantella runs cancel {run_id}` ends it first.")
    ids = [row[0] for row in tx.array(["id"], "FROM pages WHERE run_id = :run LIMIT :limit", run=run_id, limit=limit)]
    if ids:
        chosen = f"(SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r)"
        for table, column in (("attempts", "page_id"), ("records", "page_id"), ("bodies", "page_id"), ("pages", "id")):
            tx.execute(f"DELETE FROM {table} WHERE {column} IN {chosen}", ids=pack(ids))
        # From the first slice on it is as good as gone, also if the command dies before the last.
        tx.execute("UPDATE runs SET reason = :why, keeper = NULL WHERE id = :id", why=DELETING, id=run_id)
        return False
    for table in ("run_events", "stands", "cookies", "run_workers", "wakes"):
        tx.execute(f"DELETE FROM {table} WHERE run_id = :run", run=run_id)
    tx.execute("DELETE FROM runs WHERE id = :run", run=run_id)
    return True


def _row(tx: Tx, run_id: str, locking: str = "") -> Row:
    row = tx.first(f"SELECT * FROM runs WHERE id = :id {locking}", id=run_id)
    if row is None:
        raise _no_run(run_id)
    return row


def _no_run(text: str) -> NotFound:
    return NotFound(f"There is no run {text!r}.", remedy="`tarantella runs list` shows those that there are.")
