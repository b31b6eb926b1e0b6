"""Workflows: a row each, which is the lock of the workflow. Their steps are in workflow_tasks.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

import orjson

from tarantella.domain.errors import NotFound
from tarantella.domain.event import WORKFLOW_PAUSED, Event, Level
from tarantella.domain.struct import Frozen
from tarantella.domain.workflow import LIVE, Definition, WorkflowStatus
from tarantella.store import workflow_events
from tarantella.store.connection import Row
from tarantella.store.tx import Tx, pack

INTERRUPTED = "interrupted: the process that executed it is gone"


class Group(StrEnum):
    """Workflows that people ask for together."""

    ACTIVE = "active"
    FAILED = "failed"
    RECOVERABLE = "recoverable"


_GROUPS: Mapping[Group, str] = {
    Group.ACTIVE: "status IN ('running', 'recovering')",
    Group.FAILED: "status = 'failed'",
    Group.RECOVERABLE: "status = 'failed' AND recovery_attempts < max_recovery_attempts",
}


class Workflow(Frozen):
    """A workflow's row."""

    id: str
    job_id: str | None
    name: str
    template: str | None
    version: int | None
    status: WorkflowStatus
    current_step: int
    total_steps: int
    progress: int
    metadata: Mapping[str, Any]
    definition: Definition
    error_message: str | None
    reason: str | None
    is_local: bool
    keeper: str | None
    recovery_attempts: int
    max_recovery_attempts: int
    last_event: int
    started_at: float | None
    completed_at: float | None
    last_checkpoint: float | None
    created_at: float
    updated_at: float

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @classmethod
    def of(cls, row: Row) -> Self:
        values = row._mapping
        return cls(
            **{
                **values,
                "status": WorkflowStatus(row.status),
                "metadata": orjson.loads(row.metadata),
                "definition": Definition.from_json(orjson.loads(row.definition)),
                "is_local": bool(row.is_local),
            }
        )


def create(tx: Tx, workflow: Workflow) -> None:
    row = {
        **{name: getattr(workflow, name) for name in Workflow.__struct_fields__},
        "metadata": orjson.dumps(workflow.metadata).decode(),
        "definition": orjson.dumps(workflow.definition.to_json()).decode(),
        "is_local": int(workflow.is_local),
    }
    names = ", ".join(row)
    tx.execute(f"INSERT INTO workflow_states ({names}) VALUES ({', '.join(f':{name}' for name in row)})", **row)


def get(tx: Tx, workflow_id: str, locking: str = "") -> Workflow:
    row = tx.first(f"SELECT * FROM workflow_states WHERE id = :id {locking}", id=workflow_id)
    return Workflow.of(_there(row, workflow_id))


def standing(tx: Tx, workflow_id: str) -> tuple[WorkflowStatus, int]:
    """How a workflow stands, and the number of its last event, for those who look often."""
    row = tx.first("SELECT status, last_event FROM workflow_states WHERE id = :id", id=workflow_id)
    found = _there(row, workflow_id)
    return WorkflowStatus(found.status), found.last_event


def _there(row: Row | None, workflow_id: str) -> Row:
    if row is None:
        remedy = "GET /workflows, or `tarantella workflows list`, has those that there are."
        raise NotFound(f"There is no workflow {workflow_id!r}.", remedy=remedy)
    return row


def lock(tx: Tx, workflow_id: str) -> Workflow:
    """The workflow; nobody else changes anything of it before this transaction ends."""
    return get(tx, workflow_id, tx.dialect.for_update)


def listed(
    tx: Tx,
    *,
    status: WorkflowStatus | None = None,
    group: Group | None = None,
    job_id: str | None = None,
    limit: int = 50,
    before: tuple[float, str] | None = None,
) -> list[Workflow]:
    """The newest first."""
    created, workflow_id = before or (1e18, "")
    which = "".join(
        [
            " AND status = :status" if status is not None else "",
            f" AND {_GROUPS[group]}" if group is not None else "",
            " AND job_id IS NOT NULL AND job_id = :job" if job_id is not None else "",
        ]
    )
    values = {name: value for name, value in (("status", status), ("job", job_id)) if value is not None}
    rows = tx.all(
        f"SELECT * FROM workflow_states WHERE (created_at, id) < (:created, :id){which} "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        created=created,
        id=workflow_id,
        limit=limit,
        **values,
    )
    return [Workflow.of(row) for row in rows]


def update(tx: Tx, workflow: Workflow, said: Sequence[Event], now: float, **values: Any) -> None:
    """Change a workflow and go on with its history. For whoever holds its row."""
    values["last_event"] = workflow_events.append(tx, workflow.id, workflow.last_event, said, now)
    values["updated_at"] = now
    tx.execute(
        f"UPDATE workflow_states SET {', '.join(f'{name} = :{name}' for name in values)} WHERE id = :id",
        id=workflow.id,
        **values,
    )


def interrupt(tx: Tx, worker_id: str, now: float) -> None:
    """Somebody who executed workflows in a program of their own is gone: these wait until somebody executes them again."""
    kept = tx.all(
        f"SELECT * FROM workflow_states WHERE keeper IS NOT NULL AND keeper = :worker ORDER BY id {tx.dialect.for_update}",
        worker=worker_id,
    )
    for row in kept:
        workflow = Workflow.of(row)
        if workflow.status is WorkflowStatus.RUNNING:
            said = [Event(WORKFLOW_PAUSED, Level.WARN, {"reason": INTERRUPTED})]
            update(tx, workflow, said, now, keeper=None, status=WorkflowStatus.PAUSED, reason=INTERRUPTED)
        else:
            update(tx, workflow, [], now, keeper=None)


def live_of_job(tx: Tx, job_id: str) -> str | None:
    """A workflow of a job that is not over, if there is one."""
    found = tx.value(
        "SELECT id FROM workflow_states WHERE job_id IS NOT NULL AND job_id = :job "
        f"AND status IN (SELECT value FROM {tx.dialect.values('live')} AS r) LIMIT 1",
        job=job_id,
        live=pack(sorted(LIVE)),
    )
    return None if found is None else str(found)


def of_job(tx: Tx, job_id: str) -> list[str]:
    rows = tx.all("SELECT id FROM workflow_states WHERE job_id IS NOT NULL AND job_id = :job", job=job_id)
    return [row.id for row in rows]


def existing(tx: Tx, workflow_ids: Sequence[str]) -> set[str]:
    """Those of these workflows that there are."""
    rows = tx.all(
        f"SELECT id FROM workflow_states WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack(list(workflow_ids)),
    )
    return {row.id for row in rows}


def delete(tx: Tx, workflow_ids: Iterable[str]) -> None:
    """Remove workflows with all that belongs to them."""
    ids = pack(sorted(workflow_ids))
    for table in ("workflow_events", "workflow_tasks"):
        tx.execute(
            f"DELETE FROM {table} WHERE workflow_id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)", ids=ids
        )
    tx.execute(f"DELETE FROM workflow_states WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)", ids=ids)


def counts(tx: Tx) -> dict[str, int]:
    """How many workflows there are in each state."""
    rows = tx.all("SELECT status, count(*) AS n FROM workflow_states GROUP BY status")
    return {row.status: row.n for row in rows}
