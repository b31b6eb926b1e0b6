"""The steps of workflows: who may do one, what came of it, and what follows.

Every change is made under the lock of the workflow's row, and only while the step is as it was when it was taken: `tries`
grows with every execution, so what somebody else does now is nobody else's to end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Any, Self

import orjson

from tarantella.domain.errors import Gone, NotFound
from tarantella.domain.event import (
    STEP_COMPLETED,
    STEP_FAILED,
    STEP_REQUEUED,
    STEP_RETRIED,
    STEP_SKIPPED,
    STEP_STARTED,
    WORKFLOW_COMPLETED,
    WORKFLOW_FAILED,
    Event,
    Level,
)
from tarantella.domain.run import TERMINAL
from tarantella.domain.struct import Frozen
from tarantella.domain.url import redact
from tarantella.domain.workflow import (
    LONGEST_DELAY,
    MOST_DEATHS,
    Definition,
    Step,
    StepStatus,
    WorkflowStatus,
    current_step,
    onward,
    progress,
    retry_delay,
    without_secrets,
)
from tarantella.store import steering, workflow_sums, workflows
from tarantella.store.connection import Row
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx, pack
from tarantella.store.workflows import Workflow

MOST_ERROR = 2_000  # characters
UNDER_WAY = "status IN ('queued', 'retrying', 'running')"  # word for word as in their index


class Kind(StrEnum):
    """Whose work a step is: a run's, or a handler's."""

    JOB = "job"
    HANDLER = "handler"


class Task(Frozen):
    """A step's row."""

    id: str
    workflow_id: str
    task_name: str
    task_type: str
    status: StepStatus
    step_index: int
    kind: Kind
    celery_task_id: str | None
    retry_count: int
    max_retries: int
    dependencies: tuple[str, ...]
    result: Mapping[str, Any] | None  # None where it was too long to be read along
    error_message: str | None
    next_at: float | None
    owner: str | None
    tries: int
    deaths: int
    run_id: str | None
    deadline_at: float | None
    started_at: float | None
    completed_at: float | None
    estimated_duration: float | None
    actual_duration: float | None
    created_at: float
    updated_at: float

    @classmethod
    def of(cls, row: Row) -> Self:
        values = row._mapping
        return cls(
            **{
                **values,
                "status": StepStatus(row.status),
                "kind": Kind(row.kind),
                "dependencies": tuple(orjson.loads(row.dependencies)),
                "result": orjson.loads(row.result) if row.result is not None else None,
            }
        )


class Verdict(Frozen):
    """What came of an execution: a result, or what went wrong, and whether that would be the same the next time."""

    result: Mapping[str, Any] | None = None
    error: str | None = None
    final: bool = False
    ends_run: bool = False  # the run that is waited for has taken too long


class Claimed(Frozen):
    """A step that somebody is to execute, and what those before it gave."""

    task: Task
    step: Step
    workflow: Workflow
    results: Mapping[str, Any]  # by the names of the steps


_CREATED = (
    *("id", "workflow_id", "task_name", "task_type", "status", "step_index", "kind", "max_retries", "dependencies"),
    *("estimated_duration", "created_at", "updated_at"),
)


def create(tx: Tx, workflow_id: str, definition: Definition, now: float) -> None:
    ids = [new_id() for _ in definition.steps]
    rows = [
        (
            ids[number],
            workflow_id,
            step.name,
            step.task_type,
            str(StepStatus.PENDING),
            number,
            str(Kind.HANDLER if step.job is None else Kind.JOB),
            step.max_retries,
            orjson.dumps([ids[other] for other in step.dependencies]).decode(),
            step.estimated_duration,
            now,
            now,
        )
        for number, step in enumerate(definition.steps)
    ]
    tx.insert("workflow_tasks", _CREATED, rows, conflict="(id) DO NOTHING")


# -- what there is


def get(tx: Tx, task_id: str) -> Task:
    row = tx.first("SELECT * FROM workflow_tasks WHERE id = :id", id=task_id)
    if row is None:
        raise NotFound(f"There is no step {task_id!r}.", remedy="GET /workflows/{id}/tasks lists those of a workflow.")
    return Task.of(row)


def find(tx: Tx, text: str) -> Task:
    """A step by its id, or by that of one of its executions."""
    row = tx.first(
        "SELECT * FROM workflow_tasks WHERE celery_task_id IS NOT NULL AND celery_task_id = :id LIMIT 1", id=text
    )
    return get(tx, text) if row is None else Task.of(row)


def of_workflow(tx: Tx, workflow_id: str, longest: int | None = None) -> list[Task]:
    """Its steps in their order, with results of so many characters at most."""
    result = "result" if longest is None else "CASE WHEN length(result) <= :longest THEN result END AS result"
    return _steps(tx, workflow_id, result, **({} if longest is None else {"longest": longest}))


def standing(tx: Tx, workflow_id: str) -> list[Task]:
    """The same without their results: where only it counts how they stand."""
    return _steps(tx, workflow_id, "NULL AS result")


def _steps(tx: Tx, workflow_id: str, result: str, **values: Any) -> list[Task]:
    columns = ", ".join(name for name in Task.__struct_fields__ if name != "result")
    sql = f"SELECT {columns}, {result} FROM workflow_tasks WHERE workflow_id = :id ORDER BY step_index"
    return [Task.of(row) for row in tx.all(sql, id=workflow_id, **values)]


# -- who may do what


def due(tx: Tx, kind: Kind, keeper: str | None, now: float, limit: int) -> list[Task]:
    """Steps that may begin, those that wait longest first: of workflows that this process executes, or that anybody may."""
    whose = "workflow_states.keeper IS NULL AND is_local = 0" if keeper is None else "workflow_states.keeper = :keeper"
    rows = tx.all(
        "SELECT workflow_tasks.* FROM workflow_tasks JOIN workflow_states ON workflow_states.id = workflow_id "
        "WHERE workflow_tasks.status IN ('queued', 'retrying', 'running') AND workflow_tasks.status <> 'running' "
        # What is queued has nothing to wait for, and no retry waits so long: the clock was ahead when that was said.
        "AND (workflow_tasks.status = 'queued' OR next_at <= :now OR next_at > :wrong) "
        f"AND kind = :kind AND workflow_states.status = 'running' AND {whose} "
        "ORDER BY next_at, workflow_id, step_index LIMIT :limit",
        now=now,
        wrong=now + LONGEST_DELAY,
        kind=str(kind),
        limit=limit,
        **({} if keeper is None else {"keeper": keeper}),
    )
    return [Task.of(row) for row in rows]


def begin(tx: Tx, task: Task, *, owner: str | None, run_id: str | None, now: float) -> Claimed | None:
    """Start to execute a step; nothing, where it is not to be begun any more or somebody else has begun."""
    workflow = workflows.lock(tx, task.workflow_id)
    steps = of_workflow(tx, workflow.id)
    now_it_is = steps[task.step_index]
    unchanged = (now_it_is.status, now_it_is.tries) == (task.status, task.tries)
    if workflow.status is not WorkflowStatus.RUNNING or not unchanged:
        return None
    if task.status is StepStatus.RETRYING:
        _update(tx, task, now, status=StepStatus.QUEUED)
    step = workflow.definition.steps[task.step_index]
    _update(
        tx,
        task,
        now,
        status=StepStatus.RUNNING,
        deadline_at=now + step.timeout if step.timeout is not None else None,
        owner=owner,
        run_id=run_id,
        tries=task.tries + 1,
        next_at=None,
        started_at=now,
        completed_at=None,
        celery_task_id=new_id(),
    )
    said = Event(
        STEP_STARTED, meta=_about(task, attempt=task.retry_count + 1, **({"run_id": run_id} if run_id else {}))
    )
    workflows.update(tx, workflow, [said], now)
    results = {each.task_name: each.result for each in steps if each.status is StepStatus.COMPLETED}
    return Claimed(get(tx, task.id), step, workflow, results)


def settle(tx: Tx, task: Task, verdict: Verdict, now: float) -> bool:
    """Store what came of an execution, and what follows; False where it was nobody's to end any more."""
    workflow = workflows.lock(tx, task.workflow_id)
    current = get(tx, task.id)
    if (current.status, current.tries) != (StepStatus.RUNNING, task.tries):
        return False
    _settle(tx, workflow, current, verdict, now)
    return True


def _settle(tx: Tx, workflow: Workflow, task: Task, verdict: Verdict, now: float) -> None:
    seconds = round(max(0.0, now - (task.started_at or now)), 3)  # clocks may be put back
    over: dict[str, Any] = {"owner": None, "actual_duration": seconds, "completed_at": now}
    error = _storable(verdict.error or "", workflow.definition.steps[task.step_index].params)
    if verdict.ends_run and task.run_id is not None:
        _let_end(tx, task.run_id)
    if verdict.error is None:
        stored = orjson.dumps(verdict.result or {}).decode()
        _update(tx, task, now, **over, status=StepStatus.COMPLETED, result=stored, error_message=None)
        workflow_sums.add(tx, task.task_type, StepStatus.COMPLETED, seconds)
        said = Event(STEP_COMPLETED, meta=_about(task, seconds=seconds))
    elif verdict.final or task.retry_count >= task.max_retries:
        _update(tx, task, now, **over, status=StepStatus.FAILED, error_message=error)
        workflow_sums.add(tx, task.task_type, StepStatus.FAILED, seconds)
        said = Event(STEP_FAILED, Level.ERROR, _about(task, error=error, attempts=task.retry_count + 1))
    else:
        delay = retry_delay(task.retry_count + 1)
        again = {"status": StepStatus.RETRYING, "retry_count": task.retry_count + 1, "next_at": now + delay}
        _update(tx, task, now, **over, **again, error_message=error)
        said = Event(
            STEP_RETRIED, Level.WARN, _about(task, error=error, retry=task.retry_count + 1, delay_seconds=delay)
        )
    go_on(tx, workflow, [said], now)


def _storable(error: str, params: Mapping[str, Any]) -> str:
    """What went wrong, without secrets, and as far as it is text: names of files, say, need not be any."""
    told = redact(without_secrets(error[: 20 * MOST_ERROR], params))  # it can be as long as a handler likes
    return told.replace("\0", "")[:MOST_ERROR].encode("utf-8", "replace").decode()


def go_on(tx: Tx, workflow: Workflow, said: Sequence[Event], now: float, **values: Any) -> None:
    """Let steps follow that may begin now, and end the workflow where none can. For whoever holds its row."""
    steps = standing(tx, workflow.id)
    depend = [step.dependencies for step in workflow.definition.steps]
    follows = onward([step.status for step in steps], depend)
    told = list(said)
    for number in follows.queued:
        _update(tx, steps[number], now, status=StepStatus.QUEUED, next_at=now)
    for number in follows.skipped:
        _update(tx, steps[number], now, status=StepStatus.SKIPPED, completed_at=now)
        told.append(
            Event(STEP_SKIPPED, Level.WARN, _about(steps[number], why="a step that it needs has not been completed"))
        )
    now_they_are = standing(tx, workflow.id)
    statuses = [step.status for step in now_they_are]
    values |= {"progress": progress(statuses), "current_step": current_step(statuses), "last_checkpoint": now}
    if follows.status is not None:
        values |= {"status": follows.status, "completed_at": now, "keeper": None, "reason": None}
        if follows.status is WorkflowStatus.FAILED:
            first = next(step for step in now_they_are if step.status is not StepStatus.COMPLETED)
            values["error_message"] = f"{first.task_name}: {first.error_message or first.status}"[:MOST_ERROR]
            told.append(Event(WORKFLOW_FAILED, Level.ERROR, {"error": values["error_message"]}))
        else:
            values["error_message"] = None
            told.append(Event(WORKFLOW_COMPLETED, meta={"steps": len(steps)}))
    workflows.update(tx, workflow, told, now, **values)


# -- when nobody ends what was begun


def orphans(tx: Tx, limit: int) -> list[Task]:
    """Steps whose process is gone."""
    rows = tx.all(
        f"SELECT * FROM workflow_tasks WHERE {UNDER_WAY} AND status = 'running' AND owner IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.id = workflow_tasks.owner AND dead_at IS NULL) "
        "ORDER BY workflow_id, step_index LIMIT :limit",
        limit=limit,
    )
    return [Task.of(row) for row in rows]


def requeue(tx: Tx, task: Task, now: float) -> None:
    """Have a step executed again whose process died. It costs no attempt, unless it is the step that kills them."""
    workflow = workflows.lock(tx, task.workflow_id)
    current = get(tx, task.id)
    if (current.status, current.tries) != (StepStatus.RUNNING, task.tries):
        return
    deaths = task.deaths + 1
    if deaths >= MOST_DEATHS:
        _update(tx, task, now, deaths=deaths)
        _settle(tx, workflow, current, Verdict(error=f"crash: {deaths} processes died at it", final=True), now)
        return
    _update(tx, task, now, status=StepStatus.QUEUED, owner=None, next_at=now, deaths=deaths)
    workflows.update(tx, workflow, [Event(STEP_REQUEUED, Level.WARN, _about(task, deaths=deaths))], now)


def still_ours(tx: Tx, tasks: Sequence[Task]) -> set[str]:
    """Those of these executions that are still wanted."""
    rows = tx.all(
        "SELECT id, tries FROM workflow_tasks WHERE status = 'running' "
        f"AND id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack([task.id for task in tasks]),
    )
    now = {row.id: row.tries for row in rows}
    return {task.id for task in tasks if now.get(task.id) == task.tries}


def release(tx: Tx, task: Task, now: float) -> None:
    """Put a step back that is being executed: whoever is at it ends, and that costs nothing."""
    workflow = workflows.lock(tx, task.workflow_id)
    if task.id in still_ours(tx, [task]):
        _update(tx, task, now, status=StepStatus.QUEUED, owner=None, next_at=now)
        workflows.update(tx, workflow, [Event(STEP_REQUEUED, meta=_about(task, why="its worker ends"))], now)


def take_back(tx: Tx, tasks: Sequence[Task], now: float) -> None:
    """Forget what came of these steps: they are to be done again."""
    for task in tasks:
        _update(
            tx,
            task,
            now,
            status=StepStatus.PENDING,
            result="{}",
            error_message=None,
            retry_count=0,
            deaths=0,
            run_id=None,
            started_at=None,
            completed_at=None,
            actual_duration=None,
        )


def cancel_all(tx: Tx, workflow_id: str, now: float) -> list[str]:
    """End what has not ended, and the runs that are waited for: which those are. Handlers are stopped by whoever is at them."""
    awaited = [
        task.run_id
        for task in standing(tx, workflow_id)
        if task.status is StepStatus.RUNNING and task.run_id is not None
    ]
    for run_id in awaited:
        _let_end(tx, run_id)
    tx.execute(
        "UPDATE workflow_tasks SET status = 'cancelled', owner = NULL, next_at = NULL, completed_at = :now, updated_at = :now "
        "WHERE workflow_id = :workflow AND status IN ('pending', 'queued', 'running', 'retrying')",
        workflow=workflow_id,
        now=now,
    )
    return awaited


# -- runs that steps wait for


def _let_end(tx: Tx, run_id: str) -> None:
    """Nobody waits for this run any more."""
    with suppress(NotFound, Gone):
        steering.want_cancel(tx, run_id)


def with_runs_to_end(tx: Tx, now: float, limit: int) -> list[tuple[Task, Row | None]]:
    """Steps whose run is over, deleted, or takes too long; each with what there is to say of its run."""
    rows = tx.all(
        "SELECT workflow_tasks.* FROM workflow_tasks LEFT JOIN runs ON runs.id = run_id "
        "WHERE workflow_tasks.status IN ('queued', 'retrying', 'running') AND workflow_tasks.status = 'running' AND kind = 'job' "
        f"AND (runs.id IS NULL OR runs.status IN (SELECT value FROM {tx.dialect.values('over')} AS r) "
        "OR workflow_tasks.deadline_at <= :now) ORDER BY workflow_tasks.id LIMIT :limit",
        over=pack(sorted(TERMINAL)),
        now=now,
        limit=limit,
    )
    found = tx.all(
        "SELECT id, status, error_message, reason, total, done, failed, skipped, records FROM runs "
        f"WHERE id IN (SELECT value FROM {tx.dialect.values('ids')} AS r)",
        ids=pack([row.run_id for row in rows if row.run_id is not None]),
    )
    by_id = {run.id: run for run in found}
    return [(Task.of(row), by_id.get(row.run_id)) for row in rows]


def _update(tx: Tx, task: Task, now: float, **values: Any) -> None:
    values["updated_at"] = now
    tx.execute(
        f"UPDATE workflow_tasks SET {', '.join(f'{name} = :{name}' for name in values)} WHERE id = :id",
        id=task.id,
        **{name: str(value) if isinstance(value, StrEnum) else value for name, value in values.items()},
    )


def _about(task: Task, **more: Any) -> dict[str, Any]:
    return {"step": task.step_index, "name": task.task_name, "task_id": task.id, **more}
