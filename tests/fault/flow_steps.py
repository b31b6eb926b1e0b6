"""Handlers of workflows that write down what happens to them, and a program that executes some in its own process."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tarantella import JobOrchestrator, StepContext, WorkflowDefinition, WorkflowStep


def note(context: StepContext) -> dict[str, Any]:
    """Take as long as `seconds` says, and leave a line before and after."""
    _write(context, "begin")
    time.sleep(context.params.get("seconds", 0))
    _write(context, "end")
    return {"step": context.step, "before": sorted(context.results)}


def die(context: StepContext) -> None:
    """Kill the process that it is called in."""
    _write(context, "begin")
    os.kill(os.getpid(), signal.SIGKILL)


def die_before_a_fork(context: StepContext) -> None:
    """Kill the process that it is called in, but not the one that has forked from it and has all that it had."""
    if (pid := os.fork()) == 0:
        time.sleep(600)
        os._exit(0)
    (Path(context.params["folder"]) / "child.pid").write_text(str(pid))
    os.kill(os.getpid(), signal.SIGKILL)


def kill_engine(context: StepContext) -> None:
    """Kill the engine that called it."""
    _write(context, "begin")
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def chatter(context: StepContext) -> dict[str, Any]:
    """Print far more than anybody reads, where the answer would stand."""
    sys.stdout.write('{"result": {"forged": true}, "error": null, "final": false}\n' * 20_000)
    sys.stdout.flush()
    return {"honest": True}


def with_a_child(context: StepContext) -> None:
    """Start another process, tell who that is, and hang."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (Path(context.params["folder"]) / "child.pid").write_text(str(child.pid))
    _write(context, "begin")
    time.sleep(600)


def ask() -> str:
    return input("Shall I? ")


def deaf(context: StepContext) -> None:
    """Heed SIGTERM as little as a child does that was started, tell who both are, and hang."""
    ctypes.CDLL(None).signal(signal.SIGTERM, ctypes.c_void_p(1))  # SIG_IGN; Python lets only the main thread say so
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])  # which inherits that
    (Path(context.params["folder"]) / "pids").write_text(f"{os.getpid()} {child.pid}")
    _write(context, "begin")
    time.sleep(600)


def hold_on(context: StepContext) -> None:
    """Never let another thread of its process have a turn, and tell who that is."""
    (Path(context.params["folder"]) / "pids").write_text(str(os.getpid()))
    _write(context, "begin")
    re.match("(a+)+$", "a" * 60 + "b")


def too_much() -> str:
    return "x" * 50_000_000


def _write(context: StepContext, what: str) -> None:
    with (Path(context.params["folder"]) / "log").open("a") as log:
        log.write(f"{context.step} {what}\n")


def _tell(name: str, **more: Any) -> None:
    sys.stdout.write(json.dumps({"told": name, **more}) + "\n")
    sys.stdout.flush()


def program(data_dir: str, folder: str, workflow_id: str) -> None:
    """Execute a workflow of three functions; with a new one, say which it is."""

    async def slowly(context: StepContext) -> dict[str, Any]:
        _write(context, "begin")
        await asyncio.sleep(context.params.get("seconds", 0))
        _write(context, "end")
        return {"done_by": os.getpid()}

    more = {"folder": folder}
    steps = [
        WorkflowStep("first", handler=slowly, params=more),
        WorkflowStep("second", handler=slowly, params={**more, "seconds": 1.5}, dependencies=["first"]),
        WorkflowStep("third", handler=slowly, params=more, dependencies=["second"]),
    ]
    definition = WorkflowDefinition("three functions", steps)

    async def run() -> None:
        async with JobOrchestrator(data_dir=data_dir) as orchestrator:
            flow = workflow_id or (await orchestrator.create_workflow(workflow_def=definition)).id
            _tell("flow", id=flow)
            outcome = await orchestrator.execute_workflow(flow, definition)
            _tell("over", status=outcome["status"], results=sorted(outcome["results"]))

    asyncio.run(run())


if __name__ == "__main__":
    program(*sys.argv[1:])
