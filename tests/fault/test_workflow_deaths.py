"""Workflows under kill -9, and handlers that hang, crash, talk too much or leave children behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tarantella.bootstrap import open_app
from tarantella.crashpoints import EXIT_CODE
from tarantella.domain.workflow import Definition, Step
from tarantella.services import workflows
from tarantella.services.app import App
from tarantella.services.workflows import Detailed, Draft
from tarantella.settings import load
from tests.fault import processes
from tests.fault.processes import PATIENCE, Child
from tests.serving import ServerProcess, is_alive

MODULE = "tests.fault.flow_steps"
ROOT = Path(__file__).parents[2]
ALLOWED = {"TARANTELLA_WORKFLOW_HANDLERS": MODULE, "TARANTELLA_STALL_SECONDS": "30"}


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    processes.until(condition, seconds, "it never came so far")


class Flow:
    """A workflow on a server's database, seen from beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self.id = ""

    def app(self) -> App:
        return open_app(load(data_dir=self.data_dir, workflow_handlers=(MODULE,)))

    def _use(self, use: Callable[..., Any], *given: Any, **options: Any) -> Any:
        app = self.app()
        try:
            return asyncio.run(use(app, *given, **options))
        finally:
            app.close()

    def begin(self, *steps: Step) -> None:
        draft = Draft(definition=Definition("a flow", steps))
        self.id = self._use(workflows.create, draft, start=True).workflow.id

    def cancel(self) -> None:
        self._use(workflows.cancel, self.id)

    def seen(self) -> Detailed:
        found: Detailed = self._use(workflows.get, self.id)
        return found

    def until_over(self, seconds: float = PATIENCE) -> Detailed:
        until(lambda: not self.seen().workflow.is_live, seconds)
        return self.seen()

    def step(self, name: str, function: str, *dependencies: int, **more: Any) -> Step:
        params = {"folder": str(self.folder), **more.pop("params", {})}
        return Step(name, handler=f"{MODULE}:{function}", dependencies=dependencies, params=params, **more)

    @property
    def log(self) -> list[str]:
        file = self.folder / "log"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def flow(tmp_path: Path) -> Flow:
    return Flow(tmp_path)


@pytest.fixture
def server(flow: Flow) -> Iterator[ServerProcess]:
    with ServerProcess(flow.data_dir, env=ALLOWED) as process:
        yield process


def test_row_153_a_server_killed_in_the_middle_of_a_step_goes_on_where_it_was(flow: Flow) -> None:
    with ServerProcess(flow.data_dir, env=ALLOWED) as server:
        flow.begin(
            flow.step("a", "note"),
            flow.step("b", "note", 0, params={"seconds": 1.0}),
            flow.step("c", "note", 1),
        )
        until(lambda: "b begin" in flow.log)
        server.kill()
    with ServerProcess(flow.data_dir, env=ALLOWED):
        seen = flow.until_over()
    assert str(seen.workflow.status) == "completed", seen.workflow.error_message
    # What was completed is not done again, and of what was under way only the second time came to an end.
    assert flow.log == ["a begin", "a end", "b begin", "b begin", "b end", "c begin", "c end"]
    assert [task.retry_count for task in seen.tasks] == [0, 0, 0]
    assert seen.tasks[2].result == {"step": "c", "before": ["a", "b"]}


def test_steps_that_need_nothing_of_each_other_are_executed_together(flow: Flow, server: ServerProcess) -> None:
    flow.begin(*(flow.step(name, "note", params={"seconds": 1.0}) for name in "abc"))
    flow.until_over()
    assert sorted(flow.log[:3]) == ["a begin", "b begin", "c begin"]


def test_a_handler_that_dies_fails_its_step_and_nothing_else(flow: Flow, server: ServerProcess) -> None:
    engines = server.engine_pids()
    flow.begin(flow.step("dies", "die", max_retries=1), flow.step("lives", "note"))
    seen = flow.until_over()
    assert [str(task.status) for task in seen.tasks] == ["failed", "completed"]
    assert seen.tasks[0].error_message == "crash: its process ended with signal SIGKILL"
    assert flow.log.count("dies begin") == 2
    assert server.engine_pids() == engines


def test_a_handler_that_dies_is_missed_although_what_it_forked_could_still_answer(
    flow: Flow, server: ServerProcess
) -> None:
    flow.begin(flow.step("dies", "die_before_a_fork", max_retries=0))
    seen = flow.until_over(seconds=20)
    assert seen.tasks[0].error_message == "crash: its process ended with signal SIGKILL"
    child = int((flow.folder / "child.pid").read_text())
    until(lambda: not is_alive(child) or _is_a_zombie(child))


def test_a_step_that_kills_its_engine_fails_after_three_of_them(flow: Flow, server: ServerProcess) -> None:
    flow.begin(flow.step("kills", "kill_engine"), flow.step("after", "note", 0))
    seen = flow.until_over(seconds=90)
    assert [str(task.status) for task in seen.tasks] == ["failed", "skipped"]
    assert seen.tasks[0].error_message == "crash: 3 processes died at it"
    assert flow.log == ["kills begin"] * 3


def test_a_handler_that_hangs_is_ended_with_all_that_it_started(flow: Flow, server: ServerProcess) -> None:
    flow.begin(flow.step("hangs", "with_a_child", timeout=2.0, max_retries=0))
    seen = flow.until_over()
    assert seen.tasks[0].error_message == "timeout: it took longer than 2 s"
    child = int((flow.folder / "child.pid").read_text())
    until(lambda: not is_alive(child) or _is_a_zombie(child))


def test_a_cancel_ends_what_is_being_executed(flow: Flow, server: ServerProcess) -> None:
    flow.begin(flow.step("hangs", "with_a_child"))
    until(lambda: "hangs begin" in flow.log)
    child = int((flow.folder / "child.pid").read_text())
    flow.cancel()
    until(lambda: not is_alive(child) or _is_a_zombie(child))
    time.sleep(1.0)
    assert [str(task.status) for task in flow.seen().tasks] == ["cancelled"]


def test_a_cancel_ends_what_does_not_want_to_hear_of_it(flow: Flow, server: ServerProcess) -> None:
    flow.begin(flow.step("deaf", "deaf"))
    until(lambda: "deaf begin" in flow.log)
    pids = [int(pid) for pid in (flow.folder / "pids").read_text().split()]
    flow.cancel()
    until(lambda: all(not is_alive(pid) or _is_a_zombie(pid) for pid in pids))


def test_a_handler_that_lets_no_other_thread_have_a_turn_ends_with_its_engine(
    flow: Flow, server: ServerProcess
) -> None:
    flow.begin(flow.step("holds on", "hold_on"))
    until(lambda: "holds on begin" in flow.log)
    pid = int((flow.folder / "pids").read_text())
    time.sleep(0.5)
    for engine in server.engine_pids():
        os.kill(engine, signal.SIGKILL)
    try:
        until(lambda: not is_alive(pid) or _is_a_zombie(pid), seconds=15)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_what_a_handler_prints_is_no_answer_a_result_has_its_limit_and_nobody_answers(
    flow: Flow, server: ServerProcess
) -> None:
    steps = [flow.step(name, name, max_retries=0) for name in ("chatter", "too_much", "ask")]
    flow.begin(*steps)
    seen = flow.until_over()
    assert seen.tasks[0].result == {"honest": True}
    assert "1,000,000 are the most" in (seen.tasks[1].error_message or "")
    assert seen.tasks[2].error_message == "EOFError: EOF when reading a line"


def test_a_handler_that_is_not_there_fails_at_once(flow: Flow, server: ServerProcess) -> None:
    flow.begin(flow.step("none", "nothing_of_that_name"))
    seen = flow.until_over()
    assert "can't be loaded" in (seen.tasks[0].error_message or "")
    assert seen.tasks[0].tries == 1


def test_what_a_module_only_imports_is_no_handler(flow: Flow, server: ServerProcess) -> None:
    steps = [flow.step(name, name) for name in ("Path", "subprocess", "WorkflowStep")]
    flow.begin(*steps)
    seen = flow.until_over()
    assert {task.tries for task in seen.tasks} == {1}
    assert all("is no function of that module" in (task.error_message or "") for task in seen.tasks)


def test_a_handler_that_the_engine_does_not_allow_is_not_called(flow: Flow) -> None:
    with ServerProcess(flow.data_dir):
        flow.begin(flow.step("a", "note"))
        seen = flow.until_over()
    assert "not among those whose functions may be steps" in (seen.tasks[0].error_message or "")
    assert (seen.tasks[0].tries, flow.log) == (1, [])


def test_a_server_that_is_stopped_gives_a_step_a_moment_and_puts_back_the_others(flow: Flow) -> None:
    with ServerProcess(flow.data_dir, env={**ALLOWED, "TARANTELLA_DRAIN_SECONDS": "2"}) as server:
        flow.begin(
            flow.step("quick", "note", params={"seconds": 0.5}), flow.step("slow", "note", params={"seconds": 30})
        )
        until(lambda: len(flow.log) == 2)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    seen = flow.seen()
    assert [str(task.status) for task in seen.tasks] == ["completed", "queued"]
    assert [task.deaths for task in seen.tasks] == [0, 0]


def test_a_program_killed_in_the_middle_goes_on_when_it_is_run_again(flow: Flow) -> None:
    command = [sys.executable, "-m", MODULE, str(flow.data_dir), str(flow.folder)]
    with Child([*command, ""], flow.folder) as child:
        flow.id = child.until_it_tells("flow")["id"]
        until(lambda: "second begin" in flow.log)
        child.kill()
    assert str(flow.seen().workflow.status) == "running"
    with Child([*command, flow.id], flow.folder) as child:
        over = child.until_it_tells("over")
    assert (over["status"], over["results"]) == ("completed", ["first", "second", "third"])
    begun = [line for line in flow.log if line.endswith("begin")]
    assert begun == ["first begin", "second begin", "second begin", "third begin"]
    assert str(flow.seen().workflow.status) == "completed"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["step", "workflow"])
def test_a_program_that_dies_before_or_after_any_of_its_commits_goes_on_where_it_was(tmp_path: Path, name: str) -> None:
    def tell(folder: Path, flow: str, **env: str) -> tuple[int, dict[str, Any]]:
        command = [sys.executable, "-m", MODULE, str(folder / "data"), str(folder), flow]
        done = subprocess.run(
            command, check=False, env={**os.environ, **env}, capture_output=True, timeout=PATIENCE, cwd=ROOT
        )
        return done.returncode, {each["told"]: each for each in map(json.loads, done.stdout.splitlines())}

    def dies(at: int) -> bool:
        """Whether there was a point to die at."""
        folder = tmp_path / str(at)
        folder.mkdir()
        code, told = tell(folder, "", TARANTELLA_CRASH_AT=str(at), TARANTELLA_CRASH_NAME=name)
        if code != EXIT_CODE:
            assert told["over"]["status"] == "completed"
            return False
        code, told = tell(folder, told.get("flow", {}).get("id", ""))
        assert (code, told["over"]["status"]) == (0, "completed")
        log = (folder / "log").read_text().splitlines()
        # At most the step that was under way was done twice.
        assert [line for line in dict.fromkeys(log) if line.endswith("end")] == ["first end", "second end", "third end"]
        assert len(log) <= 8
        return True

    with ThreadPoolExecutor(3) as several:
        died = list(several.map(dies, range(1, 15)))
    points = died.index(False)
    assert points >= 4
    assert not any(died[points:])


def _is_a_zombie(pid: int) -> bool:
    """Ended, and only waits for whoever inherited it to look."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
