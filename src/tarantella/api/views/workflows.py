"""Workflows, their steps and their templates, as clients describe and see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

import orjson
from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema

from tarantella.api.plane import checked_id
from tarantella.api.views import workflow_waits as waits
from tarantella.api.views.base import EXAMPLE_ID, Flag, Number, Said, Told, Whole, moment
from tarantella.domain.errors import InvalidInput
from tarantella.domain.event import Level
from tarantella.domain.url import redact
from tarantella.domain.workflow import (
    LEAST_SECONDS,
    LONGEST_HANDLER,
    LONGEST_NAME,
    LONGEST_TYPE,
    MOST_RECOVERIES,
    MOST_RETRIES,
    MOST_SECONDS,
    MOST_STEPS,
    Definition,
    Step,
    StepStatus,
    WorkflowStatus,
    numbered,
)
from tarantella.services.workflows import MOST_SHOWN_BYTES, Detailed, Draft, Task, Template, Workflow, counted
from tarantella.store.workflow_tasks import Kind

LONGEST_REASON = 1_000
TEMPLATE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_S = StepStatus

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_REASON, pattern=r"^[^\x00]*$")]
Seconds = Annotated[Number, Field(ge=LEAST_SECONDS, le=MOST_SECONDS)]
JobReference = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]


def _number_or_name(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("Input should be the number of a step, or its name")
    return value


# A union would say of everything that is wrong that it is neither a number nor a text.
StepReference = Annotated[
    Any,
    BeforeValidator(_number_or_name),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}),
]


class StepSet(Said):
    """A step: a run of a job, or a handler that is called."""

    name: Name = Field(description="Results are found by it: each has its own.", examples=["Collect"])
    task_type: str = Field(
        "task", min_length=1, max_length=LONGEST_TYPE, description="What you call such steps.", examples=["download"]
    )
    job: JobReference | None = Field(None, description="The id of a job: the step is a run of it.")
    handler: str | None = Field(
        None,
        min_length=1,
        max_length=LONGEST_HANDLER,
        description="Instead: `export`, `clean_up`, or a function as `module:function` that the server allows.",
        examples=["export"],
    )
    params: dict[str, Any] = Field(
        {}, description="What the handler is told. Shown as it was given: nothing secret belongs here."
    )
    dependencies: list[StepReference] = Field(
        [],
        max_length=MOST_STEPS,
        description="Steps that must be completed first, which stand before it: by number, from 0 on, or by name.",
        examples=[[0]],
    )
    max_retries: Whole = Field(
        3, ge=0, le=MOST_RETRIES, description="How often it is tried again: after 1, 2, 4, 8 … seconds."
    )
    timeout: Seconds | None = Field(None, description="Seconds that one attempt may take.")
    estimated_duration: Seconds | None = Field(None, description="Seconds that you expect it to take.")


class DefinitionSet(Said):
    """What workflows consist of, to be kept as a template."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Nightly",
                    "steps": [
                        {"name": "Export", "handler": "export", "params": {"format": "csv"}},
                        {"name": "Clean up", "handler": "clean_up", "dependencies": ["Export"]},
                    ],
                }
            ]
        }
    )

    name: Name | None = Field(None, description="What its workflows are called; as the template, if nothing is said.")
    steps: list[StepSet] = Field(min_length=1, max_length=MOST_STEPS, description="Each behind those that it needs.")
    max_recovery_attempts: Whole = Field(
        3, ge=1, le=MOST_RECOVERIES, description="How often one that failed may be recovered."
    )

    def definition(self, name: str) -> Definition:
        return _definition(self.name or name, self.steps, self.max_recovery_attempts)


class WorkflowCreate(Said):
    """A workflow: a name and steps, or the template that has them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Build the dataset",
                    "steps": [
                        {
                            "name": "Export",
                            "task_type": "export",
                            "handler": "export",
                            "params": {"format": "csv"},
                            "max_retries": 2,
                            "timeout": 600,
                            "estimated_duration": 60,
                        },
                        {"name": "Clean up", "handler": "clean_up", "dependencies": [0]},
                    ],
                    "metadata": {"season": "2026"},
                },
                {"template": "nightly", "start": True},
            ]
        }
    )

    name: Name | None = Field(None, description="What it is called; with steps, it needs one.")
    steps: list[StepSet] | None = Field(
        None, min_length=1, max_length=MOST_STEPS, description="Each behind those that it needs."
    )
    max_recovery_attempts: Whole | None = Field(
        None, ge=1, le=MOST_RECOVERIES, description="How often it may be recovered when it has failed; 3 as usual."
    )
    template: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)] | None = Field(
        None, description="Instead of a name and steps: the template that has them.", examples=["nightly"]
    )
    job_id: Annotated[str, StringConstraints(min_length=1, max_length=36)] | None = Field(
        None, description="The job that it belongs to, and goes with when that is deleted."
    )
    metadata: dict[str, Any] = Field(
        {}, description="Whatever you want to know of it; handlers see it. Shown as it was given."
    )
    start: Flag = Field(False, description="Whether it begins at once.")

    def draft(self) -> Draft:
        """The workflow that is meant; raises InvalidInput for one that contradicts itself."""
        job_id = checked_id(self.job_id, "job") if self.job_id is not None else None
        if self.template is not None:
            for field in ("name", "steps", "max_recovery_attempts"):
                if getattr(self, field) is not None:
                    told = f"The template says that: {field} can't be said beside it."
                    raise InvalidInput(told, field=field, remedy=f"Leave out {field}, or the template.")
            if "\0" in self.template:
                raise InvalidInput("template has a character in it that no name has.", field="template")
            return Draft(template=self.template, job_id=job_id, metadata=self.metadata)
        for field in ("steps", "name"):
            if getattr(self, field) is None:
                raise InvalidInput(f"{field}: Field required.", field=field, remedy=f"Send {field}, or a template.")
        definition = _definition(self.name or "", self.steps or [], self.max_recovery_attempts or 3)
        return Draft(definition=definition, job_id=job_id, metadata=self.metadata)


def _definition(name: str, steps: Sequence[StepSet], max_recovery_attempts: int) -> Definition:
    names = [step.name for step in steps]
    made = tuple(
        Step(
            name=step.name,
            task_type=step.task_type,
            job=step.job.lower() if step.job is not None else None,
            handler=step.handler,
            params=step.params,
            dependencies=numbered(step.dependencies, names, number),
            max_retries=step.max_retries,
            timeout=step.timeout,
            estimated_duration=step.estimated_duration,
        )
        for number, step in enumerate(steps)
    )
    return Definition(name, made, max_recovery_attempts)


class WhySaid(Said):
    """Why; it can be left out, and so can the body."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the shop is being rebuilt"}]})

    reason: Reason | None = Field(None, description="For whoever asks later.")


class RecoverySaid(WhySaid):
    """From where a workflow goes on; all of it can be left out, and so can the body."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"from_step": 1, "reason": "the disk has room again"}]})

    from_step: StepReference | None = Field(
        None, description="The number or the name of a step; the first that failed, if nothing is said."
    )


# -- what clients are told


class StepFacts(Told):
    """A step as it was described."""

    name: str
    task_type: str
    job: str | None = Field(description="The job that it is a run of.")
    handler: str | None = Field(description="Or the handler that it calls.")
    params: dict[str, Any]
    dependencies: list[int] = Field(description="Numbers of the steps that must be completed first.")
    max_retries: int
    timeout: float | None
    estimated_duration: float | None


def _facts(step: Step) -> dict[str, Any]:
    return {**{name: getattr(step, name) for name in StepFacts.model_fields}, "dependencies": list(step.dependencies)}


class DefinitionView(Told):
    """What a workflow consists of."""

    name: str
    steps: list[StepFacts]
    max_recovery_attempts: int
    order: list[list[int]] = Field(
        description="The steps that can be executed together: first these, then those that need them.",
        examples=[[[0], [1, 2], [3]]],
    )

    @classmethod
    def of(cls, definition: Definition) -> Self:
        return cls(
            name=definition.name,
            steps=[StepFacts(**_facts(step)) for step in definition.steps],
            max_recovery_attempts=definition.max_recovery_attempts,
            order=_order(definition.steps),
        )


def _order(steps: Sequence[Step]) -> list[list[int]]:
    """Steps by how many stand one behind the other before them."""
    rank: list[int] = []
    for step in steps:
        rank.append(1 + max((rank[other] for other in step.dependencies), default=-1))
    return [[number for number, each in enumerate(rank) if each == wanted] for wanted in range(max(rank) + 1)]


class TemplateView(Told):
    """A definition that is kept under a name."""

    name: str = Field(examples=["nightly"])
    version: int = Field(description="Grows with every change; workflows keep the one that they were made from.")
    definition: DefinitionView
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, template: Template) -> Self:
        return cls(
            name=template.name,
            version=template.version,
            definition=DefinitionView.of(template.definition),
            created_at=moment(template.created_at),
            updated_at=moment(template.updated_at),
        )


class StepView(StepFacts):
    """A step, and what came of it so far."""

    id: str = Field(examples=[EXAMPLE_ID])
    workflow_id: str
    step_index: int = Field(description="Its number, from 0 on.")
    kind: Kind = Field(description="Whether it is a run of a job, or calls a handler.")
    status: StepStatus = Field(
        description="`queued`: it can begin. `retrying`: it failed and is tried again at `next_at`. `skipped`: a step that it "
        "needs was not completed."
    )
    retry_count: int = Field(description="How often it was tried again.")
    deaths: int = Field(description="How often a process died that was at it.")
    celery_task_id: str | None = Field(description="The id of its last execution; `/workflows/tasks/{id}` takes it.")
    run_id: str | None = Field(description="The run that it is, or was the last time.")
    waits_for: str | None = Field(description="What has to happen before it goes on, in words.")
    result: dict[str, Any] | None = Field(
        description=f"What it gave. Among other steps, one of more than {MOST_SHOWN_BYTES:,} bytes is null: "
        "`/workflows/tasks/{id}` has it."
    )
    error_message: str | None = Field(description="What went wrong the last time.")
    next_at: datetime | None = Field(description="When it may begin, or is tried again.")
    deadline_at: datetime | None = Field(description="When its attempt has taken too long.")
    started_at: datetime | None
    completed_at: datetime | None
    actual_duration: float | None = Field(description="Seconds that its last attempt took.")

    @classmethod
    def of(cls, found: Detailed, task: Task, *, whole: bool = False) -> Self:
        return cls(
            **_facts(found.workflow.definition.steps[task.step_index]),
            id=task.id,
            workflow_id=task.workflow_id,
            step_index=task.step_index,
            kind=task.kind,
            status=task.status,
            retry_count=task.retry_count,
            deaths=task.deaths,
            celery_task_id=task.celery_task_id,
            run_id=task.run_id,
            waits_for=waits.of_task(found.workflow, task, found.tasks),
            result=dict(task.result) if task.result is not None and (whole or _is_short(task.result)) else None,
            error_message=_readable(task.error_message),
            next_at=moment(task.next_at),
            deadline_at=moment(task.deadline_at) if task.status is _S.RUNNING else None,
            started_at=moment(task.started_at),
            completed_at=moment(task.completed_at),
            actual_duration=task.actual_duration,
        )


def _is_short(result: Mapping[str, Any]) -> bool:
    return len(orjson.dumps(result)) <= MOST_SHOWN_BYTES


def _readable(text: str | None) -> str | None:
    """What went wrong can have an address in it, and that a password."""
    return redact(text) if text else None


class WorkflowView(Told):
    """A workflow as a whole."""

    id: str = Field(examples=[EXAMPLE_ID])
    job_id: str | None
    name: str
    status: WorkflowStatus
    current_step: int = Field(description="The first step that is not completed; behind the last when all are.")
    total_steps: int
    progress: int = Field(description="Steps that are completed, in percent.")
    template: str | None = Field(description="The template that it was made from.")
    template_version: int | None = Field(description="Which version of it: that does not change any more.")
    metadata: dict[str, Any]
    error_message: str | None = Field(description="Why it failed.")
    reason: str | None = Field(description="Why it was paused, cancelled or recovered.")
    is_local: bool = Field(description="Its handlers are functions of a program, which alone can execute it.")
    recovery_attempts: int
    max_recovery_attempts: int
    is_recoverable: bool = Field(description="It failed, and may be recovered.")
    started_at: datetime | None
    completed_at: datetime | None
    last_checkpoint: datetime | None = Field(description="When what came of a step was last stored.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        return cls(**_of_workflow(workflow))


def _of_workflow(workflow: Workflow) -> dict[str, Any]:
    left = workflow.recovery_attempts < workflow.max_recovery_attempts
    times = ("started_at", "completed_at", "last_checkpoint", "created_at", "updated_at")
    same = ("id", "job_id", "name", "status", "current_step", "total_steps", "progress", "template", "is_local")
    return {
        **{name: getattr(workflow, name) for name in (*same, "recovery_attempts", "max_recovery_attempts")},
        **{name: moment(getattr(workflow, name)) for name in times},
        "template_version": workflow.version,
        "metadata": dict(workflow.metadata),
        "error_message": _readable(workflow.error_message),
        "reason": _readable(workflow.reason),
        "is_recoverable": workflow.status is WorkflowStatus.FAILED and left,
    }


class WorkflowDetail(WorkflowView):
    """A workflow with its steps."""

    waits_for: str | None = Field(description="Why nothing of it is being executed, in words.")
    steps: list[StepView]

    @classmethod
    def of_detailed(cls, found: Detailed) -> Self:
        return cls(
            **_of_workflow(found.workflow),
            waits_for=waits.of_workflow(found.workflow, found.tasks),
            steps=[StepView.of(found, task) for task in found.tasks],
        )


class TaskProgress(Told):
    """How a step stands."""

    id: str
    name: str
    type: str
    status: StepStatus
    retry_count: int
    error_message: str | None
    waits_for: str | None = Field(description="What has to happen before it goes on, in words.")


class WorkflowProgressView(Told):
    """How far a workflow is."""

    workflow_id: str
    job_id: str | None
    status: WorkflowStatus
    progress: int = Field(description="Steps that are completed, in percent.")
    current_step: int
    total_steps: int
    completed_tasks: int
    failed_tasks: int
    running_tasks: int
    total_tasks: int
    recovery_attempts: int
    max_recovery_attempts: int
    started_at: datetime | None
    completed_at: datetime | None
    waits_for: str | None = Field(description="Why nothing of it is being executed, in words.")
    tasks: list[TaskProgress]

    @classmethod
    def of(cls, found: Detailed) -> Self:
        workflow, tasks = found.workflow, found.tasks
        return cls(
            workflow_id=workflow.id,
            job_id=workflow.job_id,
            status=workflow.status,
            progress=workflow.progress,
            current_step=workflow.current_step,
            total_steps=workflow.total_steps,
            completed_tasks=counted(tasks, _S.COMPLETED),
            failed_tasks=counted(tasks, _S.FAILED),
            running_tasks=counted(tasks, _S.RUNNING),
            total_tasks=len(tasks),
            recovery_attempts=workflow.recovery_attempts,
            max_recovery_attempts=workflow.max_recovery_attempts,
            started_at=moment(workflow.started_at),
            completed_at=moment(workflow.completed_at),
            waits_for=waits.of_workflow(workflow, tasks),
            tasks=[
                TaskProgress(
                    id=task.id,
                    name=task.task_name,
                    type=task.task_type,
                    status=task.status,
                    retry_count=task.retry_count,
                    error_message=_readable(task.error_message),
                    waits_for=waits.of_task(workflow, task, tasks),
                )
                for task in tasks
            ],
        )


class TaskFilter(StrEnum):
    """Steps that people ask for: in one state, or those that may be tried again."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    RETRYABLE = "retryable"

    def fits(self, task: Task) -> bool:
        if self is TaskFilter.RETRYABLE:
            has_failed = task.status is _S.FAILED and task.retry_count < task.max_retries
            return has_failed or task.status is _S.RETRYING
        return task.status.value == self.value


class WorkflowEventView(Told):
    """One line of the history of a workflow."""

    workflow_id: str
    sequence: int = Field(description="Its number, from 1 on and without gaps.")
    level: Level
    message: str = Field(examples=["Step completed"])
    meta: dict[str, Any] = Field(examples=[{"step": 0, "name": "Export", "seconds": 1.5}])
    created_at: datetime

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        meta = {name: redact(value) if isinstance(value, str) else value for name, value in event["meta"].items()}
        return cls(**{**event, "meta": meta, "created_at": moment(event["created_at"])})
