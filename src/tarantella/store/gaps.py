"""Gaps as they are filled: taken in from a file, executed by one worker each, and what came of it.

A gap is known again by its fingerprint. Every change to one is made only while it is as it was when it was taken: `tries` grows
with every execution, so what somebody else does now is nobody else's to end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

import orjson

from tarantella.domain.errors import InvalidInput, NotFound
from tarantella.domain.gap import Gap
from tarantella.domain.run import Priority
from tarantella.domain.scraper import Retry
from tarantella.domain.script_end import Ended, ScriptFailure, again_after
from tarantella.domain.struct import Frozen, replace
from tarantella.store.connection import Row
from tarantella.store.dialect.contract import Point
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx, pack

# When what waits for nothing may be begun: no moment, which would still be ahead after a clock is set back.
AT_ONCE = 0.0
MOST_DEATHS = 3  # of processes that executed it, in a row


class GapStatus(StrEnum):
    """Filled is what a scan finds filled; what a script says of itself is only `completed`."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    RESOLVED = "resolved"


class StoredGap(Frozen):
    """A gap's row, without what its script said."""

    id: str
    queue: str
    name: str
    priority: Priority
    position: int
    source: str
    scraper: str
    params: Mapping[str, Any]
    estimated_minutes: float | None
    reason: str | None
    status: GapStatus
    failure: ScriptFailure | None
    detail: str | None
    tries: int
    retry_count: int
    deaths: int
    next_at: float  # when it may be tried again; AT_ONCE where nothing is waited for
    owner: str | None
    host: str | None
    exit_code: int | None
    records: int | None
    seconds: float | None
    started_at: float | None
    finished_at: float | None
    created_at: float
    updated_at: float

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(
            **{
                **{name: getattr(row, name) for name in cls.__struct_fields__},
                "priority": Priority(row.priority),
                "params": orjson.loads(row.params),
                "status": GapStatus(row.status),
                "failure": ScriptFailure(row.failure) if row.failure is not None else None,
            }
        )

    @property
    def gap(self) -> Gap:
        return Gap(
            self.name, self.priority, self.source, self.scraper, self.params, self.estimated_minutes, self.reason
        )


_COLUMNS = ", ".join(StoredGap.__struct_fields__)
_TOLD = ("name", "priority", "position", "estimated_minutes", "reason", "scanned_at")  # that a file may say anew
_KNOWN = ("id", "fingerprint", "status", *_TOLD)
_CREATED = (
    *("id", "queue", "fingerprint", "source", "scraper", "params"),
    *_TOLD,
    *("status", "next_at", "created_at", "updated_at"),
)
_CHANGED = [
    *(("id", "TEXT"), ("status", "TEXT"), ("anew", "BIGINT"), ("name", "TEXT"), ("priority", "BIGINT")),
    *(("position", "BIGINT"), ("estimated_minutes", "DOUBLE PRECISION"), ("reason", "TEXT"), ("scanned_at", "TEXT")),
]


class TakenIn(Frozen):
    """What a file brought."""

    new: int = 0
    again: int = 0  # that were over, and are still missing after a later scan
    gone: int = 0  # that the file does not have any more
    doubled: Sequence[str] = ()  # names of those that say the same as one before them


# -- taking in


def take_in(
    tx: Tx, queue: str, gaps: Sequence[Gap], *, unread: Collection[str], scanned_at: str | None, now: float
) -> TakenIn:
    """Make the queue what its file says, whatever it says again.

    What is there already stays as it is; what is over and still missing after a later scan is to be done again; what is missing
    no more is resolved. `unread` are names of those that can't be understood: they stay as they were.
    """
    known = {
        row.fingerprint: row
        for row in tx.all(f"SELECT {', '.join(_KNOWN)} FROM gaps WHERE queue = :queue", queue=queue)
    }
    rows, changed, seen, again, doubled = [], [], set(), 0, []
    for position, gap in enumerate(gaps):
        fingerprint = gap.fingerprint
        if fingerprint in seen:
            doubled.append(gap.id)
            continue
        seen.add(fingerprint)
        told = (gap.id, int(gap.priority), position, gap.estimated_minutes, gap.reason, scanned_at)
        before = known.get(fingerprint)
        if before is None:
            packed = orjson.dumps(gap.params).decode()
            made = (new_id(), queue, fingerprint, gap.source, gap.scraper, packed)
            rows.append((*made, *told, "pending", AT_ONCE, now, now))
            continue
        later = scanned_at is not None and scanned_at != before.scanned_at
        over = before.status in (GapStatus.COMPLETED, GapStatus.FAILED)
        anew = before.status == GapStatus.RESOLVED or (later and over)
        again += anew
        if anew or told != tuple(getattr(before, name) for name in _TOLD):
            changed.append((before.id, before.status, int(anew), *told))
    _change(tx, changed, now)
    tx.insert("gaps", _CREATED, rows, conflict="(queue, fingerprint) DO NOTHING")
    gone = [
        row.id
        for row in known.values()
        if row.fingerprint not in seen and row.name not in unread and row.status not in ("running", "resolved")
    ]
    tx.execute(
        # What its script said is of no use any more, and would stay for good.
        "UPDATE gaps SET status = 'resolved', stdout = NULL, stderr = NULL, "
        "finished_at = coalesce(finished_at, :now), updated_at = :now "
        f"WHERE status NOT IN ('running', 'resolved') AND id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack(gone),
        now=now,
    )
    return TakenIn(len(rows), again, len(gone), tuple(doubled))


def _change(tx: Tx, changed: Sequence[tuple[Any, ...]], now: float) -> None:
    tx.execute(
        f"UPDATE gaps SET {', '.join(f'{name} = r.{name}' for name in _TOLD)}, updated_at = :now, "
        "status = CASE WHEN r.anew = 1 THEN 'pending' ELSE gaps.status END, "
        "retry_count = CASE WHEN r.anew = 1 THEN 0 ELSE gaps.retry_count END, "
        "deaths = CASE WHEN r.anew = 1 THEN 0 ELSE gaps.deaths END, "
        f"next_at = CASE WHEN r.anew = 1 THEN {AT_ONCE} ELSE gaps.next_at END "
        f"FROM {tx.dialect.rows('rows', _CHANGED)} AS r WHERE gaps.id = r.id AND gaps.status = r.status",
        rows=pack(changed),
        now=now,
    )


# -- what there is


def get(tx: Tx, gap_id: str) -> StoredGap:
    row = tx.first(f"SELECT {_COLUMNS} FROM gaps WHERE id = :id", id=gap_id)
    if row is None:
        raise NotFound(f"There is no gap {gap_id!r}.")
    return StoredGap.of(row)


def said(tx: Tx, gap_id: str) -> tuple[str, str]:
    """The end of what its script said last, on stdout and on stderr."""
    row = tx.first("SELECT stdout, stderr FROM gaps WHERE id = :id", id=gap_id)
    return (row.stdout or "", row.stderr or "") if row is not None else ("", "")


class Which(Frozen):
    """Some gaps."""

    queue: str | None = None
    name: str | None = None
    status: GapStatus | None = None
    priority: Priority | None = None
    scraper: str | None = None
    source: str | None = None
    failure: ScriptFailure | None = None

    def where(self) -> tuple[str, dict[str, Any]]:
        values = {
            name: int(value) if isinstance(value, Priority) else str(value)
            for name in self.__struct_fields__
            if (value := getattr(self, name)) is not None
        }
        return " AND ".join(["1 = 1", *(f"{name} = :{name}" for name in values)]), values


def listed(tx: Tx, which: Which, limit: int, after: tuple[int, int, str] | None = None) -> list[StoredGap]:
    """In the order in which they are filled; those behind a priority, a position and an id."""
    where, values = which.where()
    if after is not None:
        where += " AND (priority, position, id) > (:after_priority, :after_position, :after_id)"
        values |= dict(zip(("after_priority", "after_position", "after_id"), after, strict=True))
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM gaps WHERE {where} ORDER BY priority, position, id LIMIT :limit", limit=limit, **values
    )
    return [StoredGap.of(row) for row in rows]


def counted(tx: Tx, which: Which) -> list[Row]:
    """How many there are of each queue, status and failure."""
    where, values = which.where()
    return list(
        tx.all(
            "SELECT queue, status, failure, count(*) AS n FROM gaps "
            f"WHERE {where} GROUP BY queue, status, failure ORDER BY queue",
            **values,
        )
    )


class Left(Frozen):
    """What there is still to be done."""

    waiting: int
    expected_seconds: float  # of those
    running: int
    next_at: float | None  # when the first of those that wait may be begun


def left(tx: Tx, queue: str, priority: Priority | None) -> Left:
    rows = tx.all(
        "SELECT status, count(*) AS n, coalesce(sum(estimated_minutes), 0) AS minutes, min(next_at) AS next_at FROM gaps "
        f"WHERE queue = :queue AND status IN ('pending', 'running'){_of(priority)} GROUP BY status",
        queue=queue,
        **_value(priority),
    )
    by_status = {row.status: row for row in rows}
    waiting, running = by_status.get("pending"), by_status.get("running")
    at_hand = running.n if running else 0
    return Left(waiting.n, waiting.minutes * 60, at_hand, waiting.next_at) if waiting else Left(0, 0.0, at_hand, None)


# -- who does what


def next_due(tx: Tx, queue: str, priority: Priority | None, busy: Collection[str], now: float) -> StoredGap | None:
    """The most urgent one that may be executed now, the first in its file; none of a scraper that is busy."""
    row = tx.first(
        f"SELECT {_COLUMNS} FROM gaps WHERE queue = :queue AND status = 'pending' AND next_at <= :now{_of(priority)} "
        f"AND scraper NOT IN (SELECT value FROM {tx.dialect.values('busy')} AS r) "
        "ORDER BY priority, position, id LIMIT 1",
        queue=queue,
        now=now,
        busy=pack(sorted(busy)),
        **_value(priority),
    )
    return StoredGap.of(row) if row is not None else None


def _of(priority: Priority | None) -> str:
    return " AND priority = :priority" if priority is not None else ""


def _value(priority: Priority | None) -> dict[str, int]:
    return {"priority": int(priority)} if priority is not None else {}


def running(tx: Tx) -> dict[str, int]:
    """How many of each scraper's gaps are being executed, in whatever queue and by whomever."""
    rows = tx.all("SELECT scraper, count(*) AS n FROM gaps WHERE status = 'running' GROUP BY scraper")
    return {row.scraper: row.n for row in rows}


def begin(tx: Tx, gap: StoredGap, *, owner: str, host: str, now: float, limit: int | None = None) -> bool:
    """Take a gap; False where somebody else has, or where as many of its scraper are being executed as may be."""
    if limit is not None:
        # Two that count at the same moment would both find room for one more.
        tx.serialise(Point.SCRAPERS)
        if running(tx).get(gap.scraper, 0) >= limit:
            return False
    return bool(
        tx.execute(
            "UPDATE gaps SET status = 'running', owner = :owner, host = :host, tries = tries + 1, started_at = :now, "
            "finished_at = NULL, updated_at = :now WHERE id = :id AND status = 'pending' AND tries = :tries",
            id=gap.id,
            tries=gap.tries,
            owner=owner,
            host=host,
            now=now,
        )
    )


def settle(tx: Tx, gap: StoredGap, ended: Ended, retry: Retry, now: float) -> GapStatus | None:
    """Store what came of an execution, and whether it is tried again; None where it was nobody's to end any more.

    `gap` is as it was when it was taken.
    """
    delay = again_after(ended.failure, gap.retry_count + 1, retry) if ended.failure is not None else None
    if delay is not None:
        status = GapStatus.PENDING
    else:
        status = GapStatus.COMPLETED if ended.failure is None else GapStatus.FAILED
    changed = tx.execute(
        "UPDATE gaps SET status = :status, failure = :failure, detail = :detail, retry_count = :retry_count, deaths = 0, "
        "next_at = :next_at, owner = NULL, exit_code = :exit_code, records = :records, seconds = :seconds, "
        "stdout = :stdout, stderr = :stderr, finished_at = :now, updated_at = :now "
        "WHERE id = :id AND status = 'running' AND tries = :tries",
        id=gap.id,
        tries=gap.tries + 1,
        now=now,
        status=str(status),
        failure=str(ended.failure) if ended.failure is not None else None,
        detail=ended.detail,
        exit_code=ended.exit_code,
        records=ended.records,
        seconds=ended.seconds,
        stdout=ended.stdout,
        stderr=ended.stderr,
        retry_count=gap.retry_count + (delay is not None),
        next_at=now + delay if delay is not None else AT_ONCE,
    )
    return status if changed else None


def release(tx: Tx, gap: StoredGap, now: float) -> None:
    """Put a gap back that is being executed: whoever is at it ends, and that costs nothing."""
    tx.execute(
        f"UPDATE gaps SET status = 'pending', owner = NULL, next_at = {AT_ONCE}, updated_at = :now "
        "WHERE id = :id AND status = 'running' AND tries = :tries",
        id=gap.id,
        tries=gap.tries + 1,
        now=now,
    )


def orphans(tx: Tx, queue: str) -> list[StoredGap]:
    """Those whose process is gone."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM gaps WHERE queue = :queue AND status = 'running' "
        "AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.id = gaps.owner AND dead_at IS NULL) ORDER BY id",
        queue=queue,
    )
    return [StoredGap.of(row) for row in rows]


def take_back(tx: Tx, gap: StoredGap, now: float) -> None:
    """Have a gap executed again whose process died. It costs no attempt, unless it is the one that kills them."""
    kills = gap.deaths + 1 >= MOST_DEATHS
    tx.execute(
        "UPDATE gaps SET status = :status, failure = :failure, detail = :detail, owner = NULL, deaths = :deaths, "
        f"next_at = {AT_ONCE}, updated_at = :now WHERE id = :id AND status = 'running' AND tries = :tries",
        id=gap.id,
        tries=gap.tries,
        now=now,
        deaths=gap.deaths + 1,
        status=str(GapStatus.FAILED if kills else GapStatus.PENDING),
        failure=str(ScriptFailure.CRASH) if kills else gap.failure,
        detail=f"{gap.deaths + 1} processes died at it" if kills else gap.detail,
    )


def retry(tx: Tx, which: Which, now: float) -> int:
    """Have gaps done again that are over; how many."""
    if which.status not in (None, GapStatus.FAILED, GapStatus.COMPLETED):
        raise InvalidInput("Only what has failed or is completed can be done again.", field="status")
    where, values = replace(which, status=which.status or GapStatus.FAILED).where()
    return tx.execute(
        f"UPDATE gaps SET status = 'pending', retry_count = 0, deaths = 0, next_at = {AT_ONCE}, updated_at = :now "
        f"WHERE {where}",
        now=now,
        **values,
    )
