"""Workflows from Python: defined as objects, their handlers functions of the program that executes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from tarantella.domain.errors import Conflict, InvalidInput
from tarantella.domain.workflow import Definition, Step, StepStatus, WorkflowStatus, checked, numbered
from tarantella.services import workflows
from tarantella.services.app import App
from tarantella.services.conductor import Conductor
from tarantella.services.probe import Prober
from tarantella.services.python_options import path_of
from tarantella.services.step_handlers import Handler, StepContext, call
from tarantella.services.step_process import execute
from tarantella.services.stepper import Stepper
from tarantella.services.workflows import Detailed, Draft, Group, Workflow
from tarantella.store.workflow_tasks import Claimed, Task, Verdict

LOOK_SECONDS = 0.1
_BY_FUNCTION = "a function of the program"  # where a handler's name would stand


class WorkflowStep:
    """A step: a run of the job `job`, or a `handler`, which is a function or the name of one (`module:function`)."""

    def __init__(
        self,
        name: str,
        task_type: str = "task",
        handler: Handler | str | None = None,
        max_retries: int = 3,
        dependencies: Sequence[int | str] | str | None = None,
        timeout: float | None = None,
        estimated_duration: float | None = None,
        *,
        job: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.task_type = task_type
        self.handler = handler
        self.max_retries = max_retries
        self.dependencies = (dependencies,) if isinstance(dependencies, str) else tuple(dependencies or ())
        self.timeout = timeout
        self.estimated_duration = estimated_duration
        self.job = job
        self.params = dict(params or {})


class WorkflowDefinition:
    """Steps in an order in which each stands behind all that it depends on."""

    def __init__(self, name: str, steps: Sequence[WorkflowStep], max_recovery_attempts: int = 3) -> None:
        self.name = name
        self.steps = list(steps)
        self.max_recovery_attempts = max_recovery_attempts

    def validate(self) -> bool:
        """Raise InvalidInput where it makes no sense, and say where; True otherwise."""
        self.definition()
        return True

    def definition(self) -> Definition:
        names = [step.name for step in self.steps]
        steps = tuple(
            Step(
                name=step.name,
                task_type=step.task_type,
                job=step.job,
                handler=_name_of(step.handler),
                params=step.params,
                dependencies=numbered(step.dependencies, names, number),
                max_retries=step.max_retries,
                timeout=step.timeout,
                estimated_duration=step.estimated_duration,
            )
            for number, step in enumerate(self.steps)
        )
        return checked(Definition(self.name, steps, self.max_recovery_attempts))

    @property
    def functions(self) -> dict[str, Handler]:
        """The handlers that are functions, by the names of their steps."""
        return {step.name: step.handler for step in self.steps if callable(step.handler)}


def _name_of(handler: Handler | str | None) -> str | None:
    return _BY_FUNCTION if callable(handler) else handler


class WorkflowOrchestrator:
    """Makes, executes and steers workflows in one database. Whatever dies meanwhile, they go on where they were."""

    open_app: ClassVar[Callable[..., App]]  # by bootstrap

    def __init__(self, *, data_dir: str | Path | None = None, database_url: str | None = None) -> None:
        self._place = {"data_dir": path_of(data_dir, "data_dir"), "database_url": database_url}
        self._opened: App | None = None

    @property
    def _app(self) -> App:
        if self._opened is None:
            self._opened = type(self).open_app(**self._place)
        return self._opened

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- making and finding

    async def create_workflow(
        self,
        job_id: str | None = None,
        workflow_def: WorkflowDefinition | None = None,
        *,
        template: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Workflow:
        """Store a workflow, for a job or for none; nothing of it begins before it is started or executed."""
        draft = Draft(
            definition=workflow_def.definition() if workflow_def is not None else None,
            template=template,
            job_id=job_id,
            metadata=dict(metadata or {}),
            is_local=workflow_def is not None and bool(workflow_def.functions),
        )
        return (await workflows.create(self._app, draft)).workflow

    async def get_workflow(self, workflow_id: str) -> Workflow:
        return (await workflows.get(self._app, workflow_id)).workflow

    async def get_workflow_by_job(self, job_id: str) -> Workflow | None:
        """The newest workflow of a job."""
        found = await workflows.of_job(self._app, job_id)
        return found.workflow if found is not None else None

    async def get_workflow_progress(self, workflow_id: str) -> dict[str, Any]:
        """How far it is, step by step."""
        return progress_of(await workflows.get(self._app, workflow_id))

    async def get_active_workflows(self, limit: int = 100) -> list[Workflow]:
        return await workflows.listed(self._app, group=Group.ACTIVE, limit=limit)

    async def get_failed_workflows(self, limit: int = 100) -> list[Workflow]:
        return await workflows.listed(self._app, group=Group.FAILED, limit=limit)

    async def get_recoverable_workflows(self, limit: int = 100) -> list[Workflow]:
        return await workflows.listed(self._app, group=Group.RECOVERABLE, limit=limit)

    # -- steering

    async def start_workflow(self, workflow_id: str) -> Workflow:
        """Have the engines of a server execute it; `execute_workflow` does it here."""
        return (await workflows.start(self._app, workflow_id)).workflow

    async def pause_workflow(self, workflow_id: str, reason: str | None = None) -> Workflow:
        return (await workflows.pause(self._app, workflow_id, reason)).workflow

    async def resume_workflow(self, workflow_id: str) -> Workflow:
        """Have the engines go on with it; one that has functions goes on with `execute_workflow`."""
        return (await workflows.resume(self._app, workflow_id)).workflow

    async def cancel_workflow(self, workflow_id: str, reason: str | None = None) -> Workflow:
        return (await workflows.cancel(self._app, workflow_id, reason)).workflow

    async def recover_workflow(
        self, workflow_id: str, from_step: int | None = None, reason: str | None = None
    ) -> Workflow:
        """Take a failed workflow back to a step; one that has functions goes on with `execute_workflow`."""
        return (await workflows.recover(self._app, workflow_id, from_step=from_step, reason=reason)).workflow

    # -- executing

    async def execute_workflow(
        self, workflow_id: str, workflow_def: WorkflowDefinition | None = None
    ) -> dict[str, Any]:
        """Start a workflow or go on with it, until it has ended or is paused: its progress then, and the results of its steps.

        Runs that it makes are worked on in this process, too. When the process dies, execute it again: what is completed
        stays so, and what was under way is done again.
        """
        found = await workflows.get(self._app, workflow_id)
        if found.workflow.status is WorkflowStatus.COMPLETED:
            return await self._outcome(workflow_id)
        functions = _fitting_functions(found, workflow_def)
        tools = self._app.make_tools()
        try:
            worker = self._app.make_worker(tools, None)
            await worker.start()
            work = asyncio.create_task(worker.run())
            try:
                await workflows.take_up(self._app, workflow_id, worker.id)
                await self._conduct(workflow_id, worker.id, functions, work)
            finally:
                worker.stop()
                await work
        finally:
            await tools.close()
        return await self._outcome(workflow_id)

    async def _outcome(self, workflow_id: str) -> dict[str, Any]:
        found = await workflows.get(self._app, workflow_id, whole=True)
        results = {task.task_name: task.result for task in found.tasks if task.status is StepStatus.COMPLETED}
        return {**progress_of(found), "error_message": found.workflow.error_message, "results": results}

    async def _conduct(
        self, workflow_id: str, worker_id: str, functions: Mapping[str, Handler], work: asyncio.Task[None]
    ) -> None:
        """Do its steps until it is not to go on any more and nothing is being executed."""
        prober, bell = Prober(self._app.make_tools), self._app.make_bell()
        stepper = Stepper(self._app, worker_id, partial(self._do, functions=functions), keeper=worker_id)
        conductor = Conductor(self._app, prober, bell, keeper=worker_id)
        chores = {asyncio.create_task(each.run()) for each in (stepper, conductor)}
        try:
            while True:
                status = await workflows.status(self._app, workflow_id)
                if status is not WorkflowStatus.RUNNING and stepper.is_idle:
                    return
                done, _ = await asyncio.wait({work, *chores}, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                for ended in done:
                    ended.result()
                    raise Conflict("The process that executes the workflow was told to end.")
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            await prober.close()
            await bell.close()

    async def _do(self, claimed: Claimed, functions: Mapping[str, Handler]) -> Verdict:
        function = functions.get(claimed.step.name)
        if function is None:
            return await execute(self._app, claimed)
        return await call(function, StepContext.of(claimed, self._app.settings.workspaces_dir.absolute()))


def _fitting_functions(found: Detailed, workflow_def: WorkflowDefinition | None) -> dict[str, Handler]:
    """The functions of a definition, if it is the one that the workflow was made from."""
    functions = workflow_def.functions if workflow_def is not None else {}
    missing = [
        step.name
        for step in found.workflow.definition.steps
        if step.handler == _BY_FUNCTION and step.name not in functions
    ]
    if missing:
        raise InvalidInput(
            f"The step {missing[0]!r} is a function, and none is given for it.",
            field="workflow_def",
            remedy="Give the definition that the workflow was made from.",
        )
    return functions


def progress_of(found: Detailed) -> dict[str, Any]:
    """How far a workflow is, in the words that its users know."""
    workflow, tasks = found.workflow, found.tasks
    return {
        "workflow_id": workflow.id,
        "job_id": workflow.job_id,
        "status": str(workflow.status),
        "progress": workflow.progress,
        "current_step": workflow.current_step,
        "total_steps": workflow.total_steps,
        "completed_tasks": workflows.counted(tasks, StepStatus.COMPLETED),
        "failed_tasks": workflows.counted(tasks, StepStatus.FAILED),
        "running_tasks": workflows.counted(tasks, StepStatus.RUNNING),
        "total_tasks": len(tasks),
        "recovery_attempts": workflow.recovery_attempts,
        "max_recovery_attempts": workflow.max_recovery_attempts,
        "started_at": workflow.started_at,
        "completed_at": workflow.completed_at,
        "tasks": [_task(task) for task in tasks],
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "name": task.task_name,
        "type": task.task_type,
        "status": str(task.status),
        "retry_count": task.retry_count,
        "error_message": task.error_message,
    }
