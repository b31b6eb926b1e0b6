"""Kept bodies: read page by page, to look for something else in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from tarantella.domain import coverage
from tarantella.domain.coverage import Lacking
from tarantella.domain.event import RUN_COMPLETED, RUN_CREATED, Event
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.store import events, page_rows, runs
from tarantella.store.tx import Tx

_COPIED = (
    *(
        "fingerprint",
        "lane",
        "url",
        "depth",
        "strategy",
        "is_start",
        "asked_url",
        "status",
        "final_url",
        "final_fingerprint",
    ),
)


class Kept(NamedTuple):
    """A page whose body was kept, with what its record said of how it was fetched."""

    page_id: int
    columns: tuple[Any, ...]
    content_type: str
    compressed: bytes
    record: dict[str, Any]


class Reread(NamedTuple):
    """A page that was read again."""

    columns: tuple[Any, ...]
    records: tuple[str, ...]
    lacking: Lacking


def count(tx: Tx, run_id: str) -> int:
    """How many bodies of a run were kept."""
    found = "SELECT count(*) FROM bodies JOIN pages ON pages.id = bodies.page_id WHERE pages.run_id = :run AND state = 'done'"
    return int(tx.value(found, run=run_id) or 0)


def after(tx: Tx, run_id: str, last: int, limit: int = 20) -> list[Kept]:
    """The next pages of a run that have a body, behind this one."""
    rows = tx.all(
        f"SELECT p.id, {', '.join(f'p.{name}' for name in _COPIED)}, b.content_type, b.body, r.data FROM pages AS p "
        "JOIN bodies AS b ON b.page_id = p.id LEFT JOIN records AS r ON r.page_id = p.id AND r.ordinal = 0 "
        "WHERE p.run_id = :run AND p.id > :last AND p.state = 'done' ORDER BY p.id LIMIT :limit",
        run=run_id,
        last=last,
        limit=limit,
    )
    return [
        Kept(
            row.id,
            tuple(getattr(row, name) for name in _COPIED),
            row.content_type,
            bytes(row.body),
            orjson.loads(row.data) if row.data else {},
        )
        for row in rows
    ]


def add(tx: Tx, run_id: str, pages: Sequence[Reread], now: float) -> None:
    """Store pages that were read again as done pages of a run that nobody sees yet."""
    if not pages:
        return
    columns = ("run_id", *_COPIED, "state", "tries", "charged", "next_at", "kind")
    rows = [(run_id, *page.columns, "done", 1, 0, now, "page") for page in pages]
    new = tx.insert_new("pages", columns, rows, key=("run_id", "fingerprint"), returned=("fingerprint",))
    ids = {fingerprint: page_id for page_id, fingerprint in new}
    mark = _COPIED.index("fingerprint")
    # A page that is there already was stored by a commit of which nobody heard: then so were its records.
    fresh = [page for page in pages if page.columns[mark] in ids]
    records = [
        (run_id, ids[page.columns[mark]], ordinal, data) for page in fresh for ordinal, data in enumerate(page.records)
    ]
    page_rows.insert_record_rows(tx, records)
    lacking: Lacking = orjson.loads(tx.value("SELECT lacking FROM runs WHERE id = :id", id=run_id))
    for page in fresh:
        lacking = coverage.added(lacking, page.lacking)
    tx.execute(
        "UPDATE runs SET total = total + :n, done = done + :n, records = records + :records, stored = stored + :bytes, "
        "lacking = :lacking, created_at = :now WHERE id = :id",  # what goes on for long is not taken for left behind
        id=run_id,
        now=now,
        n=len(fresh),
        records=len(records),
        bytes=sum(len(data) for *_, data in records),
        lacking=orjson.dumps(lacking).decode(),
    )


def finish(tx: Tx, run_id: str, source: str, now: float) -> None:
    """All is there: from this commit on the run exists for everybody, and is over."""
    run = runs.get(tx, run_id)
    history = [Event(RUN_CREATED, meta={"reextracted_from": source, "pages": run.counts.done})]
    if (missing := coverage.required_missing(run.coverage)) is not None:
        history.append(missing)
    history.append(
        Event(
            RUN_COMPLETED,
            meta={"status": RunStatus.COMPLETED, "stats": {"total": run.counts.total, "done": run.counts.done}},
        )
    )
    tx.execute(
        "UPDATE runs SET status = 'completed', wanted = 'run', reason = NULL, started_at = created_at, finished_at = :now WHERE id = :id",
        id=run_id,
        now=now,
    )
    events.record(tx, run_id, history, now)


def begin(tx: Tx, run_id: str, spec: Spec, roots: Sequence[str], now: float) -> None:
    """A run that nobody sees until it is finished; should we die before, the duties remove it."""
    runs.create(tx, run_id, spec, roots, keeper=None, now=now)
