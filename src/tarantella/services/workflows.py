"""What a user asks of workflows; what leads them on is in conductor.py, what executes their handlers in stepper.py."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import orjson

from tarantella.domain.errors import Conflict, Gone, InvalidInput, NotFound
from tarantella.domain.event import (
    WORKFLOW_CANCELLED,
    WORKFLOW_CREATED,
    WORKFLOW_PAUSED,
    WORKFLOW_RECOVERING,
    WORKFLOW_RESUMED,
    WORKFLOW_STARTED,
    Event,
    Level,
)
from tarantella.domain.struct import Frozen
from tarantella.domain.workflow import MOST_PARAM_BYTES, Definition, StepStatus, WorkflowStatus, checked, taken_back
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.step_handlers import check_handler
from tarantella.store import jobs as stored_jobs
from tarantella.store import workflow_events, workflow_tasks, workflow_templates, workflows
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx
from tarantella.store.workflow_tasks import Task
from tarantella.store.workflow_templates import Template
from tarantella.store.workflows import Group, Workflow

__all__ = [
    "Detailed",
    "Draft",
    "Group",
    "Task",
    "Template",
    "Workflow",
    "cancel",
    "check",
    "create",
    "delete",
    "delete_template",
    "event_list",
    "find_task",
    "get",
    "keep_template",
    "listed",
    "of_job",
    "pause",
    "recover",
    "resume",
    "start",
    "status",
    "take_up",
    "template",
    "templates",
]

MOST_SHOWN_BYTES = 20_000  # of a result among those of other steps: all of them together can be a hundred megabytes
_RUNNING, _PAUSED = WorkflowStatus.RUNNING, WorkflowStatus.PAUSED


class Draft(Frozen):
    """A workflow as somebody described it, or the name of the template that does."""

    definition: Definition | None = None
    template: str | None = None
    job_id: str | None = None
    metadata: Mapping[str, Any] = {}
    is_local: bool = False  # its handlers are functions of the program that will execute it


class Detailed(Frozen):
    """A workflow and its steps."""

    workflow: Workflow
    tasks: Sequence[Task]


async def check(app: App, draft: Draft) -> Definition:
    """What would be made of a draft, if it can be; nothing is stored."""
    definition = draft.definition
    if definition is None and draft.template is not None:
        definition = (await template(app, draft.template)).definition
    if definition is None:
        raise InvalidInput("A workflow needs either steps or a template.", field="steps")
    _check_size("metadata", draft.metadata)
    _check(app, definition, is_local=draft.is_local)
    if draft.job_id is not None:
        await app.database.read(partial(stored_jobs.get, job_id=draft.job_id))
    await app.database.read(partial(_check_jobs, definition=definition))
    return definition


async def create(
    app: App, draft: Draft, *, start: bool = False, also: Callable[[Tx, Detailed], object] | None = None
) -> Detailed:
    """Store a workflow; nothing of it begins before it is started. `also` is done in the same transaction, or neither is."""
    if (draft.definition is None) == (draft.template is None):
        raise InvalidInput("A workflow needs either steps or a template.", field="steps")
    _check_size("metadata", draft.metadata)
    if draft.definition is not None:
        _check(app, draft.definition, is_local=draft.is_local)
    workflow_id, now = new_id(), app.now()

    def write(tx: Tx) -> Detailed:
        made_from = workflow_templates.get(tx, draft.template) if draft.template is not None else None
        definition = made_from.definition if made_from is not None else draft.definition
        assert definition is not None
        if made_from is not None:
            _check(app, definition, is_local=False)  # what is allowed may have changed since
        if draft.job_id is not None:
            stored_jobs.get(tx, draft.job_id, tx.dialect.for_update)
        _check_jobs(tx, definition)
        workflow = Workflow(
            id=workflow_id,
            job_id=draft.job_id,
            name=definition.name,
            template=made_from.name if made_from is not None else None,
            version=made_from.version if made_from is not None else None,
            status=WorkflowStatus.PENDING,
            current_step=0,
            total_steps=len(definition.steps),
            progress=0,
            metadata=draft.metadata,
            definition=definition,
            error_message=None,
            reason=None,
            is_local=draft.is_local,
            keeper=None,
            recovery_attempts=0,
            max_recovery_attempts=definition.max_recovery_attempts,
            last_event=0,
            started_at=None,
            completed_at=None,
            last_checkpoint=None,
            created_at=now,
            updated_at=now,
        )
        workflows.create(tx, workflow)
        workflow_tasks.create(tx, workflow_id, definition, now)
        workflows.update(tx, workflow, [Event(WORKFLOW_CREATED, meta={"steps": len(definition.steps)})], now)
        if start:
            _start(tx, workflow_id, now)
        created = _detailed(tx, workflow_id)
        if also is not None:
            also(tx, created)
        return created

    return await app.database.write(write, durable=True, name="workflow")


async def get(app: App, workflow_id: str, *, whole: bool = False) -> Detailed:
    """A workflow and its steps; without long results, if not `whole`."""
    return await app.database.read(partial(_detailed, workflow_id=workflow_id, whole=whole))


async def status(app: App, workflow_id: str) -> WorkflowStatus:
    """How it stands, for those who ask often."""
    return (await app.database.read(partial(workflows.standing, workflow_id=workflow_id)))[0]


async def of_job(app: App, job_id: str) -> Detailed | None:
    """The newest workflow of a job."""

    def look(tx: Tx) -> Detailed | None:
        stored_jobs.get(tx, job_id)
        found = workflows.listed(tx, job_id=job_id, limit=1)
        return _detailed(tx, found[0].id) if found else None

    return await app.database.read(look)


async def listed(
    app: App,
    *,
    status: WorkflowStatus | None = None,
    group: Group | None = None,
    job_id: str | None = None,
    limit: int = 50,
    before: tuple[float, str] | None = None,
) -> list[Workflow]:
    look = partial(workflows.listed, status=status, group=group, job_id=job_id, limit=limit, before=before)
    return await app.database.read(look)


async def find_task(app: App, text: str) -> Task:
    """A step by its id, or by that of one of its executions."""
    return await app.database.read(partial(workflow_tasks.find, text=text))


async def event_list(app: App, workflow_id: str, *, after: int = 0, limit: int = 1_000) -> list[dict[str, Any]]:
    def look(tx: Tx) -> list[dict[str, Any]]:
        workflows.get(tx, workflow_id)
        return workflow_events.listed(tx, workflow_id, after=after, limit=limit)

    return await app.database.read(look)


# -- what people want of one


async def start(app: App, workflow_id: str) -> Detailed:
    """Let its first steps begin."""
    return await _steer(app, workflow_id, partial(_start, now=app.now()))


async def pause(app: App, workflow_id: str, reason: str | None = None) -> Detailed:
    """Begin no further step; those that are being executed come to their end."""

    def write(tx: Tx, workflow_id: str) -> None:
        workflow = workflows.lock(tx, workflow_id)
        if workflow.status is _PAUSED:
            return
        _require(workflow, _RUNNING, "paused")
        meta = {"reason": reason} if reason else {}
        workflows.update(tx, workflow, [Event(WORKFLOW_PAUSED, meta=meta)], app.now(), status=_PAUSED, reason=reason)

    return await _steer(app, workflow_id, write)


async def resume(app: App, workflow_id: str) -> Detailed:
    """Go on where it was."""

    def write(tx: Tx, workflow_id: str) -> None:
        workflow = workflows.lock(tx, workflow_id)
        if workflow.status is _RUNNING:
            return
        _require(workflow, _PAUSED, "resumed")
        if workflow.is_local:
            raise Conflict(
                "The handlers of this workflow are functions of a program.",
                remedy="Execute it again in that program, with `execute_workflow`.",
            )
        workflows.update(tx, workflow, [Event(WORKFLOW_RESUMED)], app.now(), status=_RUNNING, reason=None)

    return await _steer(app, workflow_id, write)


async def take_up(app: App, workflow_id: str, keeper: str) -> Detailed:
    """Execute it in this program from here on: start it, or go on where it was."""

    def write(tx: Tx, workflow_id: str) -> None:
        workflow = workflows.lock(tx, workflow_id)
        if workflow.keeper not in (None, keeper):
            raise Conflict(
                "Another process executes the workflow.",
                remedy="Wait for it. One that is gone on another machine is missed after a minute.",
            )
        if workflow.status is WorkflowStatus.PENDING:
            _start(tx, workflow_id, app.now(), keeper)
            return
        if workflow.status not in (_RUNNING, _PAUSED):
            remedy = "Recover it first, with `recover_workflow`." if workflow.status is WorkflowStatus.FAILED else None
            raise Conflict(f"The workflow is {workflow.status}.", field="status", remedy=remedy)
        said = [Event(WORKFLOW_RESUMED)] if workflow.status is _PAUSED else []
        workflows.update(tx, workflow, said, app.now(), status=_RUNNING, reason=None, keeper=keeper)

    return await _steer(app, workflow_id, write)


async def cancel(app: App, workflow_id: str, reason: str | None = None) -> Detailed:
    """End it for good. What is being executed is stopped within a second or two."""
    awaited: list[str] = []

    def write(tx: Tx, workflow_id: str) -> None:
        workflow = workflows.lock(tx, workflow_id)
        if workflow.status is WorkflowStatus.CANCELLED:
            return
        if not workflow.is_live:
            raise Conflict(f"The workflow is {workflow.status}: there is nothing to cancel.", field="status")
        now = app.now()
        awaited[:] = workflow_tasks.cancel_all(tx, workflow_id, now)
        values = {"status": WorkflowStatus.CANCELLED, "completed_at": now, "reason": reason, "keeper": None}
        meta = {"reason": reason} if reason else {}
        workflows.update(tx, workflow, [Event(WORKFLOW_CANCELLED, Level.WARN, meta)], now, **values)

    found = await _steer(app, workflow_id, write)
    for run_id in awaited:
        with suppress(NotFound, Gone):
            await runs.cancel(app, run_id)  # which is wanted already: here nobody has to wait for an engine
    return found


async def recover(app: App, workflow_id: str, *, from_step: int | None = None, reason: str | None = None) -> Detailed:
    """Go on with a workflow that failed: from the step that did, or from another; steps before it are not done again."""

    def write(tx: Tx, workflow_id: str) -> None:
        workflow = workflows.lock(tx, workflow_id)
        _require(workflow, WorkflowStatus.FAILED, "recovered")
        most = workflow.max_recovery_attempts
        if workflow.recovery_attempts >= most:
            raise Conflict(
                f"The workflow has been recovered {workflow.recovery_attempts} times, which is as often as it may.",
                field="max_recovery_attempts",
                limit=most,
                remedy="See why it fails; then make a new one.",
            )
        tasks = workflow_tasks.standing(tx, workflow_id)
        depend = [step.dependencies for step in workflow.definition.steps]
        again = taken_back([task.status for task in tasks], depend, from_step)
        now = app.now()
        meta = {"from_step": min(again), "steps": sorted(again), **({"reason": reason} if reason else {})}
        workflows.update(
            tx,
            workflow,
            [Event(WORKFLOW_RECOVERING, Level.WARN, {**meta, "attempt": workflow.recovery_attempts + 1})],
            now,
            status=WorkflowStatus.RECOVERING,
            recovery_attempts=workflow.recovery_attempts + 1,
            reason=reason,
            error_message=None,
            completed_at=None,
        )
        workflow_tasks.take_back(tx, [tasks[number] for number in sorted(again)], now)
        # One whose handlers live in a program waits for that.
        status = _PAUSED if workflow.is_local else _RUNNING
        workflow_tasks.go_on(tx, workflows.get(tx, workflow_id), [], now, status=status)

    return await _steer(app, workflow_id, write)


async def delete(app: App, workflow_id: str) -> None:
    """Remove a workflow that is over, with its history and its folder. Runs that it made stay with their jobs."""

    def write(tx: Tx) -> None:
        workflow = workflows.lock(tx, workflow_id)
        if workflow.is_live:
            raise Conflict(f"The workflow is {workflow.status}.", field="status", remedy="Cancel it first.")
        workflows.delete(tx, [workflow_id])

    await app.database.write(write, durable=True, name="workflow")
    await asyncio.to_thread(shutil.rmtree, app.settings.workspaces_dir / workflow_id, ignore_errors=True)


# -- templates


async def keep_template(app: App, name: str, definition: Definition) -> Template:
    """Keep a definition under a name. Workflows that were made from it keep what they were made from."""
    _check(app, definition, is_local=False)
    keep = partial(workflow_templates.keep, name=name, definition=definition, now=app.now())
    return await app.database.write(keep, durable=True, name="workflow")


async def template(app: App, name: str) -> Template:
    return await app.database.read(partial(workflow_templates.get, name=name))


async def templates(app: App, *, limit: int = 50, after: str = "") -> list[Template]:
    return await app.database.read(partial(workflow_templates.listed, limit=limit, after=after))


async def delete_template(app: App, name: str) -> None:
    await app.database.write(partial(workflow_templates.delete, name=name), durable=True, name="workflow")


# -- what they share


def _check(app: App, definition: Definition, *, is_local: bool) -> None:
    checked(definition)
    for number, step in enumerate(definition.steps):
        _check_size(f"steps.{number}.params", step.params)
        if step.handler is not None and not is_local:
            check_handler(app.settings, step.handler, f"steps.{number}.handler")


def _check_size(field: str, value: Mapping[str, Any]) -> None:
    try:
        size = len(orjson.dumps(value))
        # As deep as it stands in what is stored and told: there is a depth at which JSON ends.
        orjson.dumps([[[[value]]]])
    except TypeError as error:
        raise InvalidInput(f"{field} can't be stored: {error}.", field=field) from None
    if size > MOST_PARAM_BYTES:
        told = f"{field} has {size:,} bytes; {MOST_PARAM_BYTES:,} are the most."
        raise InvalidInput(told, field=field, limit=MOST_PARAM_BYTES)


def _check_jobs(tx: Tx, definition: Definition) -> None:
    wanted = {step.job: number for number, step in enumerate(definition.steps) if step.job is not None}
    for missing in wanted.keys() - {job.id for job in stored_jobs.some(tx, sorted(wanted))}:
        told = f"There is no job {missing[:100]!r} that step {wanted[missing]} could run."
        raise InvalidInput(told, field=f"steps.{wanted[missing]}.job", remedy="GET /jobs lists those that there are.")


def _start(tx: Tx, workflow_id: str, now: float, keeper: str | None = None) -> None:
    workflow = workflows.lock(tx, workflow_id)
    _require(workflow, WorkflowStatus.PENDING, "started")
    if workflow.is_local and keeper is None:
        raise Conflict(
            "The handlers of this workflow are functions of a program.",
            remedy="Execute it in that program, with `execute_workflow`.",
        )
    values = {"status": _RUNNING, "started_at": now, "keeper": keeper}
    workflow_tasks.go_on(tx, workflow, [Event(WORKFLOW_STARTED)], now, **values)


def _require(workflow: Workflow, status: WorkflowStatus, done: str) -> None:
    if workflow.status is not status:
        told = f"The workflow is {workflow.status}; only one that is {status} can be {done}."
        raise Conflict(told, field="status")


async def _steer(app: App, workflow_id: str, write: Callable[[Tx, str], object]) -> Detailed:
    def both(tx: Tx) -> Detailed:
        write(tx, workflow_id)
        return _detailed(tx, workflow_id)

    return await app.database.write(both, durable=True, name="workflow")


def _detailed(tx: Tx, workflow_id: str, whole: bool = False) -> Detailed:
    longest = None if whole else MOST_SHOWN_BYTES
    return Detailed(workflows.get(tx, workflow_id), workflow_tasks.of_workflow(tx, workflow_id, longest))


def counted(tasks: Sequence[Task], *statuses: StepStatus) -> int:
    """How many of these steps are in one of these states."""
    return sum(task.status in statuses for task in tasks)
