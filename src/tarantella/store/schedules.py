"""The clockwork of jobs that run by themselves: when the next time is, and what came of the last one."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any, Self

from tarantella.domain.errors import NotFound
from tarantella.domain.schedule import WRONG_SECONDS, Came, next_time, rhythm_of
from tarantella.domain.struct import Frozen
from tarantella.store.connection import Row
from tarantella.store.tx import Tx

_NEVER = 1e18
_COUNTED = {Came.RUN: "runs", Came.SKIPPED: "skipped", Came.MISSED: "missed", Came.REFUSED: "refused"}


class Last(Frozen):
    """A time that is over, and what came of it."""

    at: float
    came: Came
    detail: str | None


class Schedule(Frozen):
    """A schedule's row."""

    job_id: str
    next_at: float | None
    since: float
    paused: bool
    last: Last | None
    last_run_id: str | None
    runs: int
    skipped: int
    missed: int
    refused: int

    @property
    def place(self) -> tuple[float, str]:
        """Where it stands among all."""
        return (_NEVER if self.next_at is None else self.next_at), self.job_id

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(
            job_id=row.job_id,
            next_at=row.next_at,
            since=row.since,
            paused=bool(row.paused),
            last=Last(row.last_at, Came(row.last_came), row.last_detail) if row.last_came is not None else None,
            last_run_id=row.last_run_id,
            runs=row.runs,
            skipped=row.skipped,
            missed=row.missed,
            refused=row.refused,
        )


class Timekeeping(Frozen):
    """How many schedules there are, and how long the one that has waited longest is late."""

    active: int
    paused: int
    overdue: int
    late_seconds: float


def follow(tx: Tx, job_id: str, frequency: str, zone: str, *, now: float) -> None:
    """Wind the clockwork of a job up for these times, or take it away. For whoever holds the job's row."""
    rhythm = rhythm_of(frequency, zone)
    if rhythm is None:
        tx.execute("DELETE FROM schedules WHERE job_id = :job", job=job_id)
        return
    since = float(floor(now))
    tx.execute(
        "INSERT INTO schedules (job_id, next_at, since) VALUES (:job, :next_at, :since) "
        "ON CONFLICT (job_id) DO UPDATE SET next_at = excluded.next_at, since = excluded.since",
        job=job_id,
        next_at=next_time(rhythm, now, since),
        since=since,
    )


def get(tx: Tx, job_id: str) -> Schedule:
    row = tx.first("SELECT * FROM schedules WHERE job_id = :job", job=job_id)
    if row is None:
        raise NotFound(
            f"The job {job_id!r} has no schedule.", remedy="Say when it is to run with its `frequency`.", field="job_id"
        )
    return Schedule.of(row)


def listed(tx: Tx, *, limit: int, after: tuple[float, str] | None = None) -> list[Schedule]:
    """Those whose time comes first; those that have none come last."""
    at, job_id = after or (-1.0, "")
    rows = tx.all(
        f"SELECT * FROM schedules WHERE (coalesce(next_at, {_NEVER}), job_id) > (:at, :job) "
        f"ORDER BY coalesce(next_at, {_NEVER}), job_id LIMIT :limit",
        at=at,
        job=job_id,
        limit=limit,
    )
    return [Schedule.of(row) for row in rows]


def pause(tx: Tx, job_id: str) -> None:
    """From now on nothing comes of its times."""
    tx.execute("UPDATE schedules SET paused = 1 WHERE job_id = :job", job=job_id)


def resume(tx: Tx, job_id: str, next_at: float | None) -> None:
    """Go on with the next time; those that passed meanwhile were not to be kept."""
    tx.execute("UPDATE schedules SET paused = 0, next_at = :next_at WHERE job_id = :job", job=job_id, next_at=next_at)


def due(tx: Tx, now: float, limit: int) -> list[Schedule]:
    """Those whose time has come, the earliest first."""
    rows = tx.all(
        "SELECT * FROM schedules WHERE next_at <= :now AND paused = 0 ORDER BY next_at, job_id LIMIT :limit",
        now=now,
        limit=limit,
    )
    return [Schedule.of(row) for row in rows]


def astray(tx: Tx, now: float, limit: int) -> list[Schedule]:
    """Those that were wound up while the clock was far ahead: they would wait until it is that late again."""
    rows = tx.all(
        "SELECT * FROM schedules WHERE coalesce(last_at, since) > :wrong OR since > :wrong ORDER BY job_id LIMIT :limit",
        wrong=now + WRONG_SECONDS,
        limit=limit,
    )
    return [Schedule.of(row) for row in rows]


def set_right(tx: Tx, schedule: Schedule, *, next_at: float | None, since: float) -> None:
    """Wind one up anew whose clock was wrong."""
    tx.execute(
        "UPDATE schedules SET next_at = :next_at, since = :since, last_at = NULL, last_came = NULL, last_detail = NULL "
        "WHERE job_id = :job AND since = :was",
        job=schedule.job_id,
        next_at=next_at,
        since=since,
        was=schedule.since,
    )


def is_over(tx: Tx, schedule: Schedule, at: float, *, next_at: float | None) -> bool:
    """Go on to the next time, if this one is still to be kept: of all who see that it has come, one does."""
    changed = tx.execute(
        "UPDATE schedules SET next_at = :next_at, last_at = :at WHERE job_id = :job AND next_at = :was AND paused = 0",
        job=schedule.job_id,
        was=schedule.next_at,
        at=at,
        next_at=next_at,
    )
    return bool(changed)


def came(tx: Tx, job_id: str, came: Came, *, detail: str | None, run_id: str | None, missed: int) -> None:
    """What came of the time that is over, and how many before it were missed."""
    counted = _COUNTED[came]
    values: dict[str, Any] = {"job": job_id, "came": came, "detail": detail, "run": run_id, "missed": missed}
    tx.execute(
        f"UPDATE schedules SET last_came = :came, last_detail = :detail, last_run_id = coalesce(:run, last_run_id), "
        f"{counted} = {counted} + 1 WHERE job_id = :job",
        **values,
    )
    if missed:
        tx.execute("UPDATE schedules SET missed = missed + :missed WHERE job_id = :job", **values)


def live_run(tx: Tx, job_id: str) -> str | None:
    """A run of the job that is not over, if there is one."""
    found = tx.value(
        "SELECT id FROM runs WHERE job_id = :job AND status IN ('queued', 'running', 'paused') "
        "ORDER BY created_at DESC, id DESC LIMIT 1",
        job=job_id,
    )
    return None if found is None else str(found)


def timekeeping(tx: Tx, now: float) -> Timekeeping:
    rows: Sequence[Row] = tx.all(
        "SELECT paused, count(*) AS n, sum(CASE WHEN next_at <= :now THEN 1 ELSE 0 END) AS overdue, min(next_at) AS first "
        "FROM schedules GROUP BY paused",
        now=now,
    )
    by_paused = {bool(row.paused): row for row in rows}
    active = by_paused.get(False)
    late = 0.0 if active is None or active.first is None else max(0.0, now - active.first)
    return Timekeeping(
        active=active.n if active is not None else 0,
        paused=by_paused[True].n if True in by_paused else 0,
        overdue=active.overdue if active is not None else 0,
        late_seconds=late,
    )
