"""A workflow: steps that wait for one another, the states of both, and what follows when one of them ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from tarantella.domain.errors import Conflict, InvalidInput
from tarantella.domain.struct import Frozen, asdict
from tarantella.domain.url import names_a_secret

MOST_STEPS = 100
LONGEST_NAME, LONGEST_TYPE, LONGEST_HANDLER, LONGEST_JOB = 100, 50, 200, 36
MOST_RETRIES = 10
MOST_RECOVERIES = 10
LEAST_SECONDS, MOST_SECONDS = 1.0, 7 * 86_400.0
MOST_PARAM_BYTES = 65_536
MOST_RESULT_BYTES = 1_000_000
MOST_DEATHS = 3  # of processes that were at a step, before it counts as the one that kills them
LONGEST_DELAY = 300.0
SHORTEST_SECRET = 4  # characters; what is shorter could be part of any word
NO_SECRETS = frozenset({"key", "code"})  # in an address they are: here they are names of columns, and numbers


class WorkflowStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RECOVERING = "recovering"


class StepStatus(StrEnum):
    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # no database stores it

_W = WorkflowStatus
WORKFLOW_TRANSITIONS: Mapping[WorkflowStatus, frozenset[WorkflowStatus]] = {
    _W.PENDING: frozenset({_W.RUNNING, _W.CANCELLED}),
    _W.RUNNING: frozenset({_W.PAUSED, _W.COMPLETED, _W.FAILED, _W.CANCELLED}),
    # What was running when it was paused may be the last of it.
    _W.PAUSED: frozenset({_W.RUNNING, _W.COMPLETED, _W.FAILED, _W.CANCELLED}),
    _W.FAILED: frozenset({_W.RECOVERING}),
    # One whose handlers live in somebody's program waits for that.
    _W.RECOVERING: frozenset({_W.RUNNING, _W.PAUSED}),
    _W.COMPLETED: frozenset(),
    _W.CANCELLED: frozenset(),
}
_S = StepStatus
STEP_TRANSITIONS: Mapping[StepStatus, frozenset[StepStatus]] = {
    _S.PENDING: frozenset({_S.QUEUED, _S.SKIPPED, _S.CANCELLED}),
    # One whose job is gone fails before it ever runs.
    _S.QUEUED: frozenset({_S.RUNNING, _S.FAILED, _S.RETRYING, _S.CANCELLED}),
    # Back to queued where the process that was at it died: nobody is charged for that.
    _S.RUNNING: frozenset({_S.COMPLETED, _S.FAILED, _S.RETRYING, _S.QUEUED, _S.CANCELLED}),
    _S.RETRYING: frozenset({_S.QUEUED, _S.CANCELLED}),
    # Only a recovery takes them back.
    _S.COMPLETED: frozenset({_S.PENDING}),
    _S.FAILED: frozenset({_S.PENDING}),
    _S.SKIPPED: frozenset({_S.PENDING}),
    _S.CANCELLED: frozenset(),
}
LIVE = frozenset({_W.PENDING, _W.RUNNING, _W.PAUSED, _W.RECOVERING})
OVER = frozenset({_S.COMPLETED, _S.FAILED, _S.SKIPPED, _S.CANCELLED})
_IN_VAIN = frozenset({_S.FAILED, _S.SKIPPED, _S.CANCELLED})


class Step(Frozen):
    """One step: a run of a job, or a handler that is called."""

    name: str
    task_type: str = "task"  # what people call such steps
    job: str | None = None
    handler: str | None = None
    params: Mapping[str, Any] = {}
    dependencies: tuple[int, ...] = ()
    max_retries: int = 3
    timeout: float | None = None
    estimated_duration: float | None = None


class Definition(Frozen):
    """What a workflow consists of."""

    name: str
    steps: tuple[Step, ...]
    max_recovery_attempts: int = 3

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "steps": [asdict(step) for step in self.steps]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Definition:
        """One that was checked before."""
        steps = tuple(Step(**{**step, "dependencies": tuple(step["dependencies"])}) for step in value["steps"])
        return cls(value["name"], steps, value["max_recovery_attempts"])


def checked(definition: Definition) -> Definition:
    """The definition, if it makes sense; what does not is named by where it stands."""
    _text("name", definition.name, LONGEST_NAME)
    _between("max_recovery_attempts", definition.max_recovery_attempts, 1, MOST_RECOVERIES, whole=True)
    steps = definition.steps
    if not steps:
        raise InvalidInput("A workflow needs at least one step.", field="steps", limit=1)
    if len(steps) > MOST_STEPS:
        told = f"A workflow has at most {MOST_STEPS} steps, not {len(steps):,}."
        raise InvalidInput(told, field="steps", limit=MOST_STEPS, remedy="Make several workflows of it.")
    names: dict[str, int] = {}
    for number, step in enumerate(steps):
        _check_step(step, number)
        if (other := names.setdefault(step.name, number)) != number:
            told = f"The steps {other} and {number} have the same name, {step.name!r}."
            raise InvalidInput(told, field=f"steps.{number}.name", remedy="Results are found by it: choose another.")
    return definition


def numbered(dependencies: Sequence[int | str], names: Sequence[str], number: int) -> tuple[int, ...]:
    """Dependencies as numbers of steps; they may be given by name."""
    found = []
    for each in dependencies:
        if isinstance(each, str) and each not in names:
            told = f"There is no step {each!r} that step {number} could depend on."
            raise InvalidInput(told, field=f"steps.{number}.dependencies", remedy="Give the name or the number of one.")
        found.append(names.index(each) if isinstance(each, str) else each)
    return tuple(found)


def _check_step(step: Step, number: int) -> None:
    where = f"steps.{number}"
    _text(f"{where}.name", step.name, LONGEST_NAME)
    _text(f"{where}.task_type", step.task_type, LONGEST_TYPE)
    if (step.job is None) == (step.handler is None):
        told = f"Step {number} ({step.name}) must have either a job or a handler."
        raise InvalidInput(told, field=f"{where}.handler", remedy="Say with one of the two what it does.")
    if step.handler is not None:
        _text(f"{where}.handler", step.handler, LONGEST_HANDLER)
    if step.job is not None:
        _text(f"{where}.job", step.job, LONGEST_JOB)
    _between(f"{where}.max_retries", step.max_retries, 0, MOST_RETRIES, whole=True)
    for name, seconds in (("timeout", step.timeout), ("estimated_duration", step.estimated_duration)):
        if seconds is not None:
            _between(f"{where}.{name}", seconds, LEAST_SECONDS, MOST_SECONDS)
    for other in step.dependencies:
        if isinstance(other, bool) or not isinstance(other, int):
            told = f"Step {number} ({step.name}) depends on {str(other)[:40]!r}, which is neither a number nor a name."
            raise InvalidInput(told, field=f"{where}.dependencies", remedy="Give the name or the number of a step.")
        if not 0 <= other < number:
            why = "itself" if other == number else f"step {other}, which does not come before it"
            told = f"Step {number} ({step.name}) depends on {why}."
            remedy = "Steps may depend on those before them, so that none waits in a circle."
            raise InvalidInput(told, field=f"{where}.dependencies", remedy=remedy)


def _text(field: str, value: object, longest: int) -> None:
    # Python's callers can give anything.
    if not isinstance(value, str) or not value.strip() or len(value) > longest or _NO_TEXT.search(value):
        told = f"{field} should have between 1 and {longest} characters."
        raise InvalidInput(told, field=field, limit=longest)


def _between(field: str, value: object, least: float, most: float, *, whole: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        told = f"{field} should be a {'whole ' if whole else ''}number, not {str(value)[:40]!r}."
        raise InvalidInput(told, field=field)
    if not least <= value <= most:
        raise InvalidInput(f"{field} should be between {least:g} and {most:g}, not {value:g}.", field=field, limit=most)


def retry_delay(retry: int) -> float:
    """How long a step waits before this retry, the first of which is 1."""
    return float(min(LONGEST_DELAY, 2.0 ** (retry - 1)))


def without_secrets(text: str, params: Mapping[str, Any]) -> str:
    """What is said of a step, without what its params call a password, a token and the like."""
    for secret in sorted(_secrets(params, False), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _secrets(value: Any, is_one: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _secrets(inner, is_one or (names_a_secret(name) and name.lower() not in NO_SECRETS))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _secrets(inner, is_one)
    elif is_one and isinstance(value, str) and len(value) >= SHORTEST_SECRET:
        yield value


class Onward(Frozen):
    """What follows from how the steps stand."""

    queued: tuple[int, ...]
    skipped: tuple[int, ...]
    status: WorkflowStatus | None  # how the workflow ended, if it did


def onward(statuses: Sequence[StepStatus], dependencies: Sequence[Sequence[int]]) -> Onward:
    """Steps that may begin now, and those that never will. Steps stand behind all that they depend on."""
    now = list(statuses)
    queued, skipped = [], []
    for number, status in enumerate(statuses):
        if status is not _S.PENDING:
            continue
        needed = [now[other] for other in dependencies[number]]
        if any(each in _IN_VAIN for each in needed):
            now[number] = _S.SKIPPED
            skipped.append(number)
        elif all(each is _S.COMPLETED for each in needed):
            now[number] = _S.QUEUED
            queued.append(number)
    over = all(each in OVER for each in now)
    went_well = all(each is _S.COMPLETED for each in now)
    ended = None if not over else _W.COMPLETED if went_well else _W.FAILED
    return Onward(tuple(queued), tuple(skipped), ended)


def progress(statuses: Sequence[StepStatus]) -> int:
    """In percent; what was skipped is no progress."""
    return 100 * sum(each is _S.COMPLETED for each in statuses) // max(1, len(statuses))


def current_step(statuses: Sequence[StepStatus]) -> int:
    """The first step that is not completed; behind the last one when all are."""
    return next((number for number, each in enumerate(statuses) if each is not _S.COMPLETED), len(statuses))


def taken_back(
    statuses: Sequence[StepStatus], dependencies: Sequence[Sequence[int]], from_step: int | None
) -> frozenset[int]:
    """The steps that a recovery does again: the one it begins at, all that need that, and what else did not go well behind it."""
    first = next((number for number, each in enumerate(statuses) if each in _IN_VAIN), 0)
    start = first if from_step is None else from_step
    if not 0 <= start < len(statuses):
        told = f"There is no step {start}: the workflow has those from 0 to {len(statuses) - 1}."
        raise InvalidInput(told, field="from_step", limit=len(statuses) - 1)
    if first < start and statuses[first] in _IN_VAIN:
        raise Conflict(
            f"Step {first} has {statuses[first]} and comes before step {start}: nothing can be completed without it.",
            field="from_step",
            remedy=f"Recover from step {first}.",
        )
    again = {start}
    for number in range(start + 1, len(statuses)):
        if statuses[number] in _IN_VAIN or again.intersection(dependencies[number]):
            again.add(number)
    return frozenset(again)
