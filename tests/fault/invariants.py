"""What must hold of a data directory at every commit, recounted row by row from the database itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import psycopg

from tarantella.domain.event import (
    RUN_CANCELLED,
    RUN_COMPLETED,
    RUN_CREATED,
    RUN_FAILED,
    RUN_PAUSED,
    RUN_REQUEUED,
    RUN_RESUMED,
    RUN_STARTED,
)
from tarantella.domain.page import INCOMPLETE_SKIPS, Skip
from tarantella.domain.run import RUN_TRANSITIONS, TERMINAL, RunStatus
from tests.fault.places import database_url

ENDINGS = (RUN_COMPLETED, RUN_FAILED, RUN_CANCELLED)
UNDER_WAY = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})  # a run moves between these two without an event
SUBMITTING = "submitting"
DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class Crawled:
    """A run as its rows tell it."""

    id: str
    status: str
    reason: str | None
    counts: dict[str, int]
    pages: dict[str, tuple[str, str | None, str | None]]  # address → state, reason, detail
    records: dict[str, dict[str, Any]]  # address → record
    events: list[str]

    @property
    def done(self) -> set[str]:
        return {url for url, (state, _, _) in self.pages.items() if state == "done"}


def check(data_dir: Path, *, at_rest: bool = False) -> None:
    """Fail with everything that is wrong; at rest no process is left that could own something."""
    wrong = list(broken(data_dir, at_rest=at_rest))
    assert not wrong, "\n".join(wrong)


def broken(data_dir: Path, *, at_rest: bool = False) -> Iterator[str]:
    """Each invariant that doesn't hold, in a sentence."""
    with closing(open_to_read(data_dir)) as db:
        if isinstance(db, sqlite3.Connection):
            for (answer,) in db.execute("PRAGMA integrity_check"):
                if answer != "ok":
                    yield f"integrity_check: {answer}"
        for run in db.execute("SELECT * FROM runs WHERE coalesce(reason, '') <> ? ORDER BY id", (DELETING,)).fetchall():
            for sentence in _of_run(db, run):
                yield f"run {run['id']} ({run['status']}): {sentence}"
        yield from _of_workers(db)
        if at_rest:
            for row in db.execute("SELECT name, owner FROM lanes WHERE owner IS NOT NULL"):
                yield f"lane {row['name']} is owned by {row['owner']}, and nobody is there"
            for row in db.execute("SELECT id FROM workers WHERE dead_at IS NULL"):
                yield f"worker {row['id']} is called alive, and nobody is there"
            for row in db.execute("SELECT id, reason FROM runs WHERE reason IN (?, ?)", (SUBMITTING, DELETING)):
                yield f"half a run was left: {row['id']} is {row['reason']}"
            for left in sorted(data_dir.glob("workers*/*")):
                yield f"{left.name} was left behind"


class Moment(Protocol):
    """A database as it is at one moment; rows can be asked by number and by name."""

    def execute(self, sql: str, values: Sequence[object] = (), /) -> Any: ...

    def close(self) -> None: ...


def open_to_read(data_dir: Path) -> Moment:
    """One read transaction: everything that is read is of the same moment."""
    if (url := database_url(data_dir)) is not None:
        return PostgresMoment(url)
    connection = sqlite3.connect(
        f"file:{data_dir / 'tarantella.db'}?mode=ro", uri=True, isolation_level=None, timeout=30
    )
    connection.row_factory = sqlite3.Row
    connection.execute("BEGIN")
    return connection


class PostgresMoment:
    """The same of a PostgreSQL database, in the same words."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, row_factory=_named_row)
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

    def execute(self, sql: str, values: Sequence[object] = (), /) -> Any:
        return self._connection.execute(sql.replace("%", "%%").replace("?", "%s").encode(), values)

    def close(self) -> None:
        self._connection.close()


class NamedRow(tuple[Any, ...]):
    """A row that can be asked by number and by name, as those of SQLite can."""

    __slots__ = ()
    names: ClassVar[tuple[str, ...]]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.names.index(key) if isinstance(key, str) else key)


def _named_row(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], NamedRow]:
    return type("Row", (NamedRow,), {"names": tuple(column.name for column in cursor.description or ())})


def read_runs(data_dir: Path) -> list[Crawled]:
    """All runs that exist for users, the oldest first."""
    with closing(open_to_read(data_dir)) as db:
        rows = db.execute(
            "SELECT * FROM runs WHERE coalesce(reason, '') NOT IN (?, ?) ORDER BY created_at, id",
            (SUBMITTING, DELETING),
        )
        return [_crawled(db, row) for row in rows.fetchall()]


def read_run(data_dir: Path, run_id: str | None = None) -> Crawled:
    """One run: the one with this id, or the only one."""
    found = [run for run in read_runs(data_dir) if run_id in (None, run.id)]
    assert len(found) == 1, f"There are {len(found)} such runs."
    return found[0]


def one_value(data_dir: Path, sql: str, *values: object) -> Any:
    """The first value that a query finds."""
    with closing(open_to_read(data_dir)) as db:
        row = db.execute(sql, values).fetchone()
        return row[0] if row else None


def _crawled(db: Moment, row: Any) -> Crawled:
    pages = db.execute("SELECT id, url, state, reason, detail FROM pages WHERE run_id = ?", (row["id"],)).fetchall()
    urls = {page["id"]: page["url"] for page in pages}
    records = db.execute("SELECT page_id, data FROM records WHERE run_id = ?", (row["id"],)).fetchall()
    events = db.execute("SELECT message FROM run_events WHERE run_id = ? ORDER BY sequence", (row["id"],)).fetchall()
    return Crawled(
        id=row["id"],
        status=row["status"],
        reason=row["reason"],
        counts={name: row[name] for name in ("total", "done", "failed", "skipped", "pending")},
        pages={page["url"]: (page["state"], page["reason"], page["detail"]) for page in pages},
        records={urls[record["page_id"]]: json.loads(record["data"]) for record in records},
        events=[event["message"] for event in events],
    )


def _of_run(db: Moment, run: Any) -> Iterator[str]:
    yield from _counts(db, run)
    yield from _pages(db, run)
    yield from _attempts(db, run)
    yield from _stands(db, run)
    yield from _history(db, run)
    if RunStatus(run["status"]) in TERMINAL:
        if run["pending"]:
            yield f"{run['pending']} pages are pending after the end"
        if run["finished_at"] is None:
            yield "it has no time of its end"
        for table in ("stands", "run_workers"):
            if left := _one(db, f"SELECT count(*) FROM {table} WHERE run_id = ?", run["id"]):
                yield f"{left} rows in {table} after the end"


def _counts(db: Moment, run: Any) -> Iterator[str]:
    states = dict(
        db.execute("SELECT state, count(*) FROM pages WHERE run_id = ? GROUP BY state", (run["id"],)).fetchall()
    )
    reasons = dict(
        db.execute(
            "SELECT reason, count(*) FROM pages WHERE run_id = ? AND state = 'skipped' GROUP BY reason", (run["id"],)
        ).fetchall()
    )
    requests, size = db.execute(
        "SELECT count(*), coalesce(sum(a.bytes), 0) FROM attempts AS a JOIN pages AS p ON p.id = a.page_id WHERE p.run_id = ?",
        (run["id"],),
    ).fetchone()
    recounted = {
        "total": sum(states.values()),
        **{state: states.get(state, 0) for state in ("done", "failed", "skipped", "pending")},
        "incomplete": sum(reasons.get(str(reason), 0) for reason in INCOMPLETE_SKIPS),
        "surplus": reasons.get(str(Skip.MAX_PAGES), 0),
        "sitemaps": _one(db, "SELECT count(*) FROM pages WHERE kind <> 'page' AND run_id = ?", run["id"]),
        "records": _one(db, "SELECT count(*) FROM records WHERE run_id = ?", run["id"]),
        "requests": requests,
        "bytes": size,
    }
    for name, count in recounted.items():
        if run[name] != count:
            yield f"{name} is {run[name]}, recounted {count}"
    if run["total"] != run["done"] + run["failed"] + run["skipped"] + run["pending"]:
        yield "its counts don't add up"


def _pages(db: Moment, run: Any) -> Iterator[str]:
    twice = "SELECT fingerprint FROM pages WHERE run_id = ? GROUP BY fingerprint HAVING count(*) > 1"
    for row in db.execute(twice, (run["id"],)):
        yield f"the page {row['fingerprint']} is there twice"
    rows = db.execute(
        "SELECT p.id, coalesce(p.asked_url, p.url) AS url, p.state, p.reason, count(r.id) AS records, min(r.data) AS data, min(r.run_id) AS run_of_record "
        "FROM pages AS p LEFT JOIN records AS r ON r.page_id = p.id WHERE p.run_id = ? GROUP BY p.id",
        (run["id"],),
    )
    for page in rows:
        if page["records"] != (page["state"] == "done"):
            yield f"{page['url']} is {page['state']} and has {page['records']} records"
        elif page["records"] and (json.loads(page["data"])["url"] != page["url"] or page["run_of_record"] != run["id"]):
            yield f"{page['url']} has the record of another page"
        if (page["reason"] is None) != (page["state"] == "done") and page["state"] != "pending":
            yield f"{page['url']} is {page['state']} for the reason {page['reason']!r}"
    orphans = "SELECT count(*) FROM records WHERE run_id = ? AND page_id NOT IN (SELECT id FROM pages)"
    if orphaned := _one(db, orphans, run["id"]):
        yield f"{orphaned} records belong to no page"


def _attempts(db: Moment, run: Any) -> Iterator[str]:
    rows = db.execute(
        "SELECT p.url, p.state, p.tries, p.charged, count(a.n) AS attempts, min(a.n) AS first, max(a.n) AS last, "
        "sum(CASE WHEN a.decision = 'done' THEN 1 ELSE 0 END) AS done FROM pages AS p LEFT JOIN attempts AS a ON a.page_id = p.id WHERE p.run_id = ? GROUP BY p.id",
        (run["id"],),
    )
    for page in rows:
        told = f"{page['url']} ({page['state']}) has {page['attempts']} attempts, {page['tries']} tries, {page['charged']} charged"
        if page["attempts"] > page["tries"] or page["charged"] > page["tries"]:
            yield told
        if page["attempts"] and not 1 <= page["first"] <= page["last"] <= page["tries"]:
            yield f"{told}, numbered {page['first']} to {page['last']}"
        if (page["done"] or 0) != (page["state"] == "done"):
            yield f"{told}, of which {page['done']} say done"
        if page["state"] == "done" and page["last"] != page["tries"]:
            yield f"{told}; the last one is not the one that counted"


def _stands(db: Moment, run: Any) -> Iterator[str]:
    """A pending page that no stand tells of would never be fetched."""
    rows = db.execute(
        "SELECT p.lane, min(p.next_at) AS due, min(s.ready_at) AS ready_at FROM pages AS p LEFT JOIN stands AS s ON s.run_id = p.run_id AND s.lane = p.lane "
        "WHERE p.run_id = ? AND p.state = 'pending' GROUP BY p.lane",
        (run["id"],),
    )
    for row in rows:
        if row["ready_at"] != row["due"]:
            yield f"in lane {row['lane']} a page is due at {row['due']}, and its stand says {row['ready_at']}"
        if not _one(db, "SELECT count(*) FROM lanes WHERE name = ?", row["lane"]):
            yield f"there is no lane {row['lane']}"


def _history(db: Moment, run: Any) -> Iterator[str]:
    events = db.execute(
        "SELECT sequence, message, meta FROM run_events WHERE run_id = ? ORDER BY sequence", (run["id"],)
    ).fetchall()
    if [event["sequence"] for event in events] != list(range(1, run["last_event"] + 1)):
        yield f"its events are numbered {[event['sequence'] for event in events]}, the last should be {run['last_event']}"
    if run["reason"] == SUBMITTING:
        if events:
            yield "it has a history, though it was never submitted"
        return
    if not events or events[0]["message"] != RUN_CREATED:
        yield "its history does not begin with its creation"
        return
    could_be: frozenset[RunStatus] = UNDER_WAY & {RunStatus.QUEUED}
    for event in events[1:]:
        leads_to = _leads_to(event)
        if leads_to is None:
            continue
        before = could_be | UNDER_WAY if could_be & UNDER_WAY else could_be
        # To withdraw a pause that was not actual yet is no move.
        still = event["message"] == RUN_RESUMED and bool(before & UNDER_WAY)
        if not still and not any(leads_to & RUN_TRANSITIONS[state] for state in before):
            yield f"event {event['sequence']} {event['message']!r} can't follow {sorted(could_be)}"
        could_be = leads_to
    if RunStatus(run["status"]) not in (could_be | UNDER_WAY if could_be & UNDER_WAY else could_be):
        yield f"its history ends with {sorted(could_be)}"


def _leads_to(event: Any) -> frozenset[RunStatus] | None:
    if event["message"] in ENDINGS:
        return frozenset({RunStatus(json.loads(event["meta"])["status"])})
    return {
        RUN_STARTED: frozenset({RunStatus.RUNNING}),
        RUN_PAUSED: frozenset({RunStatus.PAUSED}),
        RUN_RESUMED: UNDER_WAY,
        RUN_REQUEUED: frozenset({RunStatus.QUEUED}),
    }.get(event["message"])


def _of_workers(db: Moment) -> Iterator[str]:
    living = "SELECT id FROM workers WHERE dead_at IS NULL"
    for row in db.execute(f"SELECT name, owner FROM lanes WHERE owner IS NOT NULL AND owner NOT IN ({living})"):
        yield f"lane {row['name']} is owned by {row['owner']}, who is dead"
    for row in db.execute(f"SELECT run_id, worker_id FROM run_workers WHERE worker_id NOT IN ({living})"):
        yield f"{row['worker_id']} is dead and holds slots of run {row['run_id']}"
    kept = f"SELECT id, status, keeper FROM runs WHERE status IN ('queued', 'running', 'paused') AND wanted <> 'cancel' AND keeper IS NOT NULL AND keeper NOT IN ({living})"
    for row in db.execute(f"{kept} AND coalesce(reason, '') <> '{SUBMITTING}'"):
        yield f"run {row['id']} is {row['status']} and kept by {row['keeper']}, who is dead"
    shared = "SELECT r.id, r.spec, sum(w.slots) AS slots FROM runs AS r JOIN run_workers AS w ON w.run_id = r.id GROUP BY r.id"
    for row in db.execute(shared):
        if row["slots"] > json.loads(row["spec"])["concurrency"]:
            yield f"{row['slots']} slots of run {row['id']} are held, more than it has"


def _one(db: Moment, sql: str, *values: object) -> Any:
    return db.execute(sql, values).fetchone()[0]
