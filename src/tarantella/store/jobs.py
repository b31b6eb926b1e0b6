"""Jobs: what to collect, as often as somebody asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import orjson

from tarantella.domain.errors import Conflict, NotFound
from tarantella.domain.field import Field
from tarantella.domain.job import JobStatus, Wish
from tarantella.domain.struct import Frozen
from tarantella.store.connection import Row
from tarantella.store.runs import DELETING
from tarantella.store.tx import Tx, pack

_IS_SEEN = f"status <> '{JobStatus.DELETING}'"


class Job(Frozen):
    """A job's row."""

    id: str
    target_url: str
    fields: tuple[Field, ...]
    requires_auth: bool
    frequency: str
    strategy: Wish
    options: Mapping[str, Any]
    created_at: float
    updated_at: float
    status: JobStatus = JobStatus.VALIDATED
    version: int = 1
    name: str | None = None
    secrets: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    keep_seconds: float | None = None

    @property
    def zone(self) -> str:
        """By the clock of which place it runs."""
        return str(self.options.get("timezone", "UTC"))

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(
            id=row.id,
            target_url=row.target_url,
            fields=tuple(Field.from_json(field) for field in orjson.loads(row.fields)),
            requires_auth=bool(row.requires_auth),
            frequency=row.frequency,
            strategy=Wish(row.strategy),
            options=orjson.loads(row.options),
            created_at=row.created_at,
            updated_at=row.updated_at,
            status=JobStatus(row.status),
            version=row.version,
            name=row.name,
            secrets=orjson.loads(row.secrets) if row.secrets else None,
            warnings=tuple(orjson.loads(row.warnings)),
            keep_seconds=row.keep_seconds,
        )


def _row(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "version": job.version,
        "name": job.name,
        "target_url": job.target_url,
        "fields": orjson.dumps([field.to_json() for field in job.fields]).decode(),
        "requires_auth": int(job.requires_auth),
        "frequency": job.frequency,
        "strategy": job.strategy,
        "status": job.status,
        "options": orjson.dumps(job.options).decode(),
        "secrets": orjson.dumps(job.secrets).decode() if job.secrets else None,
        "warnings": orjson.dumps(job.warnings).decode(),
        "keep_seconds": job.keep_seconds,
        "created_at": job.created_at,
        "updated_at": job.updated_at,
    }


def create(tx: Tx, job: Job) -> None:
    row = _row(job)
    tx.execute(f"INSERT INTO jobs ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})", **row)
    _wind_up(tx, job)


def get(tx: Tx, job_id: str, locking: str = "") -> Job:
    row = tx.first(f"SELECT * FROM jobs WHERE id = :id AND {_IS_SEEN} {locking}", id=job_id)
    if row is None:
        raise NotFound(f"There is no job {job_id!r}.", remedy="GET /jobs lists those that there are.")
    return Job.of(row)


def listed(tx: Tx, *, limit: int, before: tuple[float, str] | None = None) -> list[Job]:
    """The newest jobs first."""
    created, job_id = before or (1e18, "")
    rows = tx.all(
        f"SELECT * FROM jobs WHERE (created_at, id) < (:created, :id) AND {_IS_SEEN} "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        created=created,
        id=job_id,
        limit=limit,
    )
    return [Job.of(row) for row in rows]


def some(tx: Tx, job_ids: Sequence[str]) -> list[Job]:
    """Those of these jobs that there are."""
    rows = tx.all(
        f"SELECT * FROM jobs WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r) AND {_IS_SEEN}",
        ids=pack(job_ids),
    )
    return [Job.of(row) for row in rows]


def replace(tx: Tx, job: Job, *, was: int) -> None:
    """Write a job anew, if it is still at the version that the change was made for."""
    before = get(tx, job.id, tx.dialect.for_update)
    row = _row(job)
    changed = tx.execute(
        f"UPDATE jobs SET {', '.join(f'{name} = :{name}' for name in row if name != 'id')} "
        f"WHERE id = :id AND version = :was AND {_IS_SEEN}",
        **row,
        was=was,
    )
    if not changed:
        raise Conflict("Somebody else changed the job at the same moment.", remedy="Read it again, then change it.")
    if (job.frequency, job.zone) != (before.frequency, before.zone):
        _wind_up(tx, job)


def _wind_up(tx: Tx, job: Job) -> None:
    """Let its schedule follow a job that is new, or runs at other times from now on."""
    from tarantella.store import schedules  # by whoever changes jobs: a crawl has nothing to do with times of day

    schedules.follow(tx, job.id, job.frequency, job.zone, now=job.updated_at)


def begin_delete(tx: Tx, job_id: str) -> None:
    """From here on the job is gone for everybody. One that has a run under way stays."""
    get(tx, job_id, tx.dialect.for_update)
    live = tx.value(
        "SELECT id FROM runs WHERE job_id = :job AND status IN ('queued', 'running', 'paused') LIMIT 1", job=job_id
    )
    if live is not None:
        raise Conflict(
            f"The job has a run that is not over ({live}).",
            remedy=f"Wait for it, or end it with POST /jobs/runs/{live}/cancel.",
        )
    from tarantella.store import workflows

    if (workflow := workflows.live_of_job(tx, job_id)) is not None:
        raise Conflict(
            f"The job has a workflow that is not over ({workflow}).",
            remedy=f"Wait for it, or end it with POST /workflows/{workflow}/cancel.",
        )
    tx.execute("UPDATE jobs SET status = :deleting WHERE id = :job", deleting=JobStatus.DELETING, job=job_id)
    tx.execute("DELETE FROM schedules WHERE job_id = :job", job=job_id)


def delete_some(tx: Tx, job_id: str, limit: int = 500) -> bool:
    """Let some runs of a deleted job go; True when none is left and the job is gone. The duties remove what they stored."""
    rows = tx.all(
        "SELECT id FROM runs WHERE job_id = :job AND (reason IS NULL OR reason <> :deleting) LIMIT :limit "
        f"{tx.dialect.for_update}",
        job=job_id,
        deleting=DELETING,
        limit=limit,
    )
    if rows:
        tx.execute(
            f"UPDATE runs SET reason = :deleting, keeper = NULL WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
            deleting=DELETING,
            ids=pack([row.id for row in rows]),
        )
        return False
    from tarantella.store import workflows

    workflows.delete(tx, workflows.of_job(tx, job_id))
    tx.execute("DELETE FROM recordings WHERE job_id = :job", job=job_id)
    tx.execute("DELETE FROM jobs WHERE id = :job AND status = :deleting", job=job_id, deleting=JobStatus.DELETING)
    return True


def half_deleted(tx: Tx) -> list[str]:
    """Jobs that somebody began to delete, and did not finish."""
    rows = tx.all("SELECT id FROM jobs WHERE status = :deleting LIMIT 100", deleting=JobStatus.DELETING)
    return [row.id for row in rows]
