"""What a workflow and its steps wait for, in words: that nothing happens must never be a riddle."""

from __future__ import annotations

from collections.abc import Sequence

from tarantella.domain.url import redact
from tarantella.domain.workflow import StepStatus, WorkflowStatus
from tarantella.services.workflows import Task, Workflow
from tarantella.store.workflow_tasks import Kind

_S, _W = StepStatus, WorkflowStatus
TO_BE_STARTED = "somebody who starts it"
ITS_PROGRAM = "its program, whose functions its handlers are: execute it again there"


def of_workflow(workflow: Workflow, tasks: Sequence[Task]) -> str | None:
    """Why nothing of it is being executed; nothing where something is, or where it is over."""
    if workflow.status is _W.PENDING:
        return ITS_PROGRAM if workflow.is_local else TO_BE_STARTED
    if workflow.status is _W.PAUSED:
        return _of_paused(workflow)
    if not workflow.is_live or any(task.status is _S.RUNNING for task in tasks):
        return None
    next_one = min((task for task in tasks if task.next_at is not None), key=_when, default=None)
    if next_one is None:
        return None
    return f"{of_task(workflow, next_one, tasks)}, to do step {_named(next_one)}"


def of_task(workflow: Workflow, task: Task, tasks: Sequence[Task]) -> str | None:
    """What has to happen before this step goes on."""
    if not workflow.is_live:
        return None
    if task.status is _S.RUNNING:
        return f"its run {task.run_id}" if task.run_id is not None else None
    if workflow.status is _W.PENDING:
        return "somebody who starts the workflow"
    if task.status is _S.PENDING:
        by_id = {each.id: each for each in tasks}
        needed = [by_id[each] for each in task.dependencies if each in by_id]
        left = [_named(each) for each in needed if each.status is not _S.COMPLETED]
        return f"step {', '.join(left)}" if left else None
    if task.status not in (_S.QUEUED, _S.RETRYING):
        return None
    if workflow.status is _W.PAUSED:
        return "somebody who resumes the workflow"
    if task.status is _S.RETRYING:
        return f"the time of its retry {task.retry_count} of {task.max_retries}"
    if workflow.keeper is not None:
        return "the program that executes the workflow"
    return "a server that makes its run" if task.kind is Kind.JOB else "an engine that is free"


def _of_paused(workflow: Workflow) -> str:
    why = f" ({redact(workflow.reason)})" if workflow.reason else ""
    return f"{ITS_PROGRAM if workflow.is_local else 'somebody who resumes it'}{why}"


def _when(task: Task) -> float:
    return task.next_at or 0.0


def _named(task: Task) -> str:
    return f"{task.step_index} ({task.task_name})"
