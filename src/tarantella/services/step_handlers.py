"""Handlers of workflow steps: what they are given, which of them may be named, and how they are called."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from tarantella.domain.errors import InvalidInput, TarantellaError
from tarantella.domain.struct import Frozen
from tarantella.domain.workflow import MOST_RESULT_BYTES
from tarantella.services.app import App
from tarantella.settings import Settings
from tarantella.store.workflow_tasks import Claimed, Verdict

Handler = Callable[..., Any]


class StepContext(Frozen):
    """What a handler may want to know; one without parameters is called without it."""

    workflow_id: str
    workflow: str
    step: str
    attempt: int
    params: Mapping[str, Any]
    results: Mapping[str, Any]  # of the steps that are completed, by their names
    workspace: Path  # a folder of the workflow's own
    job_id: str | None = None
    metadata: Mapping[str, Any] = {}

    @classmethod
    def of(cls, claimed: Claimed, workspaces: Path) -> StepContext:
        workflow, task = claimed.workflow, claimed.task
        return cls(
            workflow_id=workflow.id,
            workflow=workflow.name,
            step=task.task_name,
            attempt=task.retry_count + 1,
            params=claimed.step.params,
            results=claimed.results,
            workspace=workspaces / workflow.id,
            job_id=workflow.job_id,
            metadata=workflow.metadata,
        )

    def to_json(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self.__struct_fields__}, "workspace": str(self.workspace)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> StepContext:
        return cls(**{**value, "workspace": Path(value["workspace"])})


# -- which may be named

BUILT_IN = ("clean_up", "export")  # in step_built_in.py, which only those load who call them


def check_handler(settings: Settings, name: str, where: str) -> None:
    """Refuse a handler that is not there, or that nobody has allowed: who submits a workflow may not run any function."""
    if name in BUILT_IN:
        return
    module, colon, function = name.partition(":")
    if not colon or not function.isidentifier() or function.startswith("_"):
        told = f"There is no handler {name[:100]!r}."
        remedy = f"Take one of {', '.join(BUILT_IN)}, or name a function as `module:function`."
        raise InvalidInput(told, field=where, remedy=remedy)
    if module not in settings.workflow_handlers:
        told = f"The module {module[:100]!r} is not among those whose functions may be steps."
        remedy = "Whoever runs the server can add it to the setting workflow_handlers."
        raise InvalidInput(told, field=where, remedy=remedy)


def find_handler(name: str, open_app: Callable[[], App]) -> Handler:
    """The function of that name, which its module must have made itself. Raises whatever loading its module raises."""
    if name in BUILT_IN:
        from tarantella.services import step_built_in

        return step_built_in.handler(name, open_app)
    module, _, function = name.partition(":")
    found: Handler = getattr(import_module(module), function)
    origin = getattr(found, "__module__", None)
    # What it has only imported, be it for its own use, is not what was allowed with it.
    if not callable(found) or not f"{origin}.".startswith(f"{module}."):
        raise InvalidInput(f"{name!r} is no function of that module.", remedy="Define one there with `def`.")
    return found


# -- how they are called


async def call(handler: Handler, context: StepContext) -> Verdict:
    """What came of a handler: a plain function is called in a thread, so that others go on meanwhile."""
    try:
        context.workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        given = (context,) if _wants_context(handler) else ()
        if inspect.iscoroutinefunction(handler):
            found = await handler(*given)
        else:
            found = await asyncio.to_thread(handler, *given)
            if inspect.isawaitable(found):
                found = await found
        return Verdict(result=_fitting(found))
    except TarantellaError as error:
        return Verdict(error=str(error), final=isinstance(error, InvalidInput))
    except Exception as error:
        return Verdict(error=f"{type(error).__name__}: {error}")


def _wants_context(handler: Handler) -> bool:
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    return any(each.kind in kinds and (each.default is each.empty or each.name == "context") for each in parameters)


def _fitting(found: Any) -> dict[str, Any]:
    """A result as it is stored: an object in JSON, and not too large."""
    value = {} if found is None else found if isinstance(found, Mapping) else {"value": found}
    try:
        packed = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
        # It will stand within others: a workflow and its steps.
        orjson.dumps(_deeper(orjson.loads(packed)))
    except (TypeError, ValueError) as error:
        remedy = "Give back what JSON knows, not too deep: texts, numbers, lists and objects."
        raise InvalidInput(f"The result can't be stored: {error}.", remedy=remedy) from None
    if len(packed) > MOST_RESULT_BYTES:
        told = f"The result has {len(packed):,} bytes; {MOST_RESULT_BYTES:,} are the most."
        remedy = "Write it to a file in the workflow's workspace, and give back its name."
        raise InvalidInput(told, remedy=remedy, limit=MOST_RESULT_BYTES)
    stored: dict[str, Any] = orjson.loads(packed)
    return stored


def _deeper(value: Any, levels: int = 16) -> Any:
    for _ in range(levels):
        value = [value]
    return value
