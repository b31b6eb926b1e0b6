"""Workflows from Python, as the people use them who define them there."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import pytest

from tarantella import JobOrchestrator, StepContext, WorkflowDefinition, WorkflowStep
from tarantella.domain.errors import Conflict, InvalidInput, NotFound

T = ParamSpec("T")


def in_a_loop(test: Callable[T, Coroutine[Any, Any, None]]) -> Callable[T, None]:
    """A test that is a coroutine."""

    @wraps(test)
    def run(*args: T.args, **kwargs: T.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


NOBODY = "01a1f281-1b55-7275-ac11-450ac18975a1"


def images(fails: int = 0) -> tuple[WorkflowDefinition, list[str]]:
    """The three steps that a data set takes, and what was called."""
    called: list[str] = []

    async def download() -> dict[str, int]:
        called.append("download")
        return {"downloaded": 1_000}

    def validate(context: StepContext) -> dict[str, int]:
        called.append("validate")
        return {"valid": context.results["Download Images"]["downloaded"] - 50}

    async def deduplicate(context: StepContext) -> dict[str, int]:
        called.append(f"deduplicate {context.attempt}")
        if context.attempt <= fails:
            raise RuntimeError("not yet")
        return {"deduplicated": context.results["Validate Images"]["valid"] - 900}

    steps = [
        WorkflowStep(name="Download Images", task_type="download", handler=download, estimated_duration=300),
        WorkflowStep(name="Validate Images", task_type="validate", handler=validate, max_retries=2, dependencies=[0]),
        WorkflowStep("Deduplicate Images", "deduplicate", deduplicate, 1, dependencies=["Validate Images"]),
    ]
    return WorkflowDefinition(name="Dataset Build Workflow", steps=steps, max_recovery_attempts=1), called


@in_a_loop
async def test_row_142_all_steps_are_executed_in_order_and_see_what_those_before_gave(tmp_path: Path) -> None:
    definition, called = images()
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        assert (await orchestrator.get_workflow_progress(workflow.id))["status"] == "pending"
        result = await orchestrator.execute_workflow(workflow.id, definition)
        again = await orchestrator.execute_workflow(workflow.id, definition)
    assert called == ["download", "validate", "deduplicate 1"]
    assert (result["status"], result["progress"], result["completed_tasks"]) == ("completed", 100, 3)
    assert result["results"]["Deduplicate Images"] == {"deduplicated": 50}
    assert again == result
    assert [task["type"] for task in result["tasks"]] == ["download", "validate", "deduplicate"]


@in_a_loop
async def test_a_failed_workflow_is_recovered_and_done_again_only_where_it_failed(tmp_path: Path) -> None:
    definition, called = images(fails=9)
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        result = await orchestrator.execute_workflow(workflow.id, definition)
        assert (result["status"], result["failed_tasks"], result["progress"]) == ("failed", 1, 66)
        assert result["error_message"] == "Deduplicate Images: RuntimeError: not yet"
        assert [each.id for each in await orchestrator.get_recoverable_workflows()] == [workflow.id]
        with pytest.raises(Conflict, match="recover_workflow"):
            await orchestrator.execute_workflow(workflow.id, definition)
        mended, called_then = images()
        await orchestrator.recover_workflow(workflow.id, reason="mended")
        result = await orchestrator.execute_workflow(workflow.id, mended)
        assert await orchestrator.get_failed_workflows() == []
    assert called == ["download", "validate", "deduplicate 1", "deduplicate 2"]
    assert (result["status"], called_then) == ("completed", ["deduplicate 1"])


@in_a_loop
async def test_a_pause_comes_after_the_step_that_is_being_executed(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        begun.set()
        await go_on.wait()

    done = []
    steps = [
        WorkflowStep("first", handler=first),
        WorkflowStep("second", handler=lambda: done.append("second"), dependencies=[0]),
    ]
    definition = WorkflowDefinition("paused", steps)
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        executing = asyncio.create_task(orchestrator.execute_workflow(workflow.id, definition))
        await begun.wait()
        assert [each.id for each in await orchestrator.get_active_workflows()] == [workflow.id]
        await orchestrator.pause_workflow(workflow.id)
        go_on.set()
        paused = await executing
        assert (paused["status"], paused["completed_tasks"], done) == ("paused", 1, [])
        with pytest.raises(Conflict, match="Execute it again"):
            await orchestrator.resume_workflow(workflow.id)
        assert (await orchestrator.execute_workflow(workflow.id, definition))["status"] == "completed"
    assert done == ["second"]


@in_a_loop
async def test_a_cancel_stops_what_is_being_executed(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), []

    async def hangs() -> None:
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.append("hangs")

    definition = WorkflowDefinition("cancelled", [WorkflowStep("hangs", handler=hangs)])
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        executing = asyncio.create_task(orchestrator.execute_workflow(workflow.id, definition))
        await begun.wait()
        await orchestrator.cancel_workflow(workflow.id, "enough")
        assert (await executing)["status"] == "cancelled"
    assert ended == ["hangs"]


@in_a_loop
async def test_a_slow_step_fails_with_the_reason_timeout(tmp_path: Path) -> None:
    definition = WorkflowDefinition(
        "slow", [WorkflowStep("sleeps", handler=lambda: asyncio.sleep(60), timeout=1.0, max_retries=0)]
    )
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        result = await orchestrator.execute_workflow(workflow.id, definition)
    assert result["tasks"][0]["error_message"] == "timeout: it took longer than 1 s"


@in_a_loop
async def test_what_json_does_not_know_is_no_result(tmp_path: Path) -> None:
    definition = WorkflowDefinition("sets", [WorkflowStep("gives", handler=lambda: {"a": {1, 2}})])
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        result = await orchestrator.execute_workflow(workflow.id, definition)
    assert "what JSON knows" in result["tasks"][0]["error_message"]
    assert result["tasks"][0]["retry_count"] == 0


@in_a_loop
async def test_another_definition_or_an_unknown_job_is_refused(tmp_path: Path) -> None:
    definition, _ = images()
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator:
        with pytest.raises(NotFound):
            await orchestrator.create_workflow(NOBODY, definition)
        with pytest.raises(NotFound):
            await orchestrator.get_workflow(NOBODY)
        with pytest.raises(NotFound):
            await orchestrator.get_workflow_by_job(NOBODY)
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        with pytest.raises(InvalidInput, match="Download Images"):
            await orchestrator.execute_workflow(workflow.id)
        with pytest.raises(Conflict, match="execute_workflow"):
            await orchestrator.start_workflow(workflow.id)
        assert (await orchestrator.get_workflow(workflow.id)).status == "pending"


def _step(name: str = "a", **more: Any) -> WorkflowStep:
    return WorkflowStep(name, **{"handler": print, **more})


@pytest.mark.parametrize(
    ("steps", "field"),
    [
        ([], "steps"),
        ([_step()] * 101, "steps"),
        ([_step(), _step()], "steps.1.name"),
        ([_step(" ")], "steps.0.name"),
        ([_step(dependencies=[0])], "steps.0.dependencies"),
        ([_step(dependencies=[1]), _step("b")], "steps.0.dependencies"),
        ([_step(dependencies=["nobody"])], "steps.0.dependencies"),
        ([_step(dependencies=[-1])], "steps.0.dependencies"),
        ([_step(max_retries=11)], "steps.0.max_retries"),
        ([_step(timeout=0)], "steps.0.timeout"),
        ([_step(handler=None)], "steps.0.handler"),
        ([_step(job=NOBODY)], "steps.0.handler"),
    ],
)
def test_row_137_what_makes_no_sense_is_named_by_where_it_stands(steps: list[WorkflowStep], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        WorkflowDefinition("wrong", steps).validate()
    assert refused.value.field == field


def test_what_makes_sense_is_valid() -> None:
    assert images()[0].validate() is True


def test_the_package_offers_its_names_without_loading_the_engine() -> None:
    import tarantella

    assert {"JobOrchestrator", "StepContext", "WorkflowDefinition", "WorkflowStep"} <= set(tarantella.__all__)


LEAVING = """
import os, subprocess, sys, time
from pathlib import Path

def leave(context):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    Path(f"{context.step}.pid").write_text(str(child.pid))
    if context.step == "dies":
        os._exit(3)
    time.sleep(600)
"""


@in_a_loop
async def test_a_step_ends_although_something_that_it_left_behind_still_holds_what_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(LEAVING)
    steps = [
        WorkflowStep("hangs", handler="leaving:leave", timeout=4.0, max_retries=0),
        WorkflowStep("dies", handler="leaving:leave", max_retries=0),
        WorkflowStep("ours", handler=lambda: None),
    ]
    definition = WorkflowDefinition("daemons", steps)
    try:
        async with JobOrchestrator(data_dir=tmp_path) as orchestrator, asyncio.timeout(30):
            workflow = await orchestrator.create_workflow(workflow_def=definition)
            result = await orchestrator.execute_workflow(workflow.id, definition)
    finally:
        for file in tmp_path.glob("*.pid"):
            os.kill(int(file.read_text()), signal.SIGKILL)
    errors = [task["error_message"] for task in result["tasks"]]
    assert errors == ["timeout: it took longer than 4 s", "crash: its process ended with exit code 3", None]


def test_a_single_dependency_needs_no_list_around_it() -> None:
    steps = [WorkflowStep("first", handler=lambda: None), WorkflowStep("then", handler="x:y", dependencies="first")]
    assert WorkflowDefinition("flow", steps).definition().steps[1].dependencies == (0,)


@in_a_loop
async def test_an_error_that_is_no_text_of_any_language_ends_its_step_like_any_other(tmp_path: Path) -> None:
    async def reads() -> None:
        raise FileNotFoundError(os.fsdecode(b"caf\xe9.txt"))

    definition = WorkflowDefinition("names", [WorkflowStep("reads", handler=reads, max_retries=0)])
    async with JobOrchestrator(data_dir=tmp_path) as orchestrator, asyncio.timeout(30):
        workflow = await orchestrator.create_workflow(workflow_def=definition)
        result = await orchestrator.execute_workflow(workflow.id, definition)
    assert result["tasks"][0]["error_message"] == "FileNotFoundError: caf?.txt"
