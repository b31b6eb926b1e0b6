"""Executes a handler in a process of its own, which may hang, crash or be ended without harm to anybody else."""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from tarantella.domain.errors import InvalidInput
from tarantella.services import child_process
from tarantella.services.app import App
from tarantella.services.step_handlers import StepContext, call, check_handler, find_handler
from tarantella.settings import shared_environment
from tarantella.store.workflow_tasks import Claimed, Verdict

COMMAND = (sys.executable, "-m", "tarantella", "step")
LOOK_SECONDS = 1.0
LAST_WORDS = 2_000  # bytes of what it said before it died
LONGEST_LINE = 8 * 1024 * 1024


async def execute_if_allowed(app: App, claimed: Claimed) -> Verdict:
    """The same, for a handler that somebody else has named. What is allowed here and now counts, not what was when they did."""
    assert claimed.step.handler is not None
    try:
        check_handler(app.settings, claimed.step.handler, "handler")
    except InvalidInput as error:
        return Verdict(error=str(error), final=True)
    return await execute(app, claimed)


async def execute(app: App, claimed: Claimed) -> Verdict:
    """What came of a step's handler. Whoever cancels this ends the process, and all that it has started."""
    assert claimed.step.handler is not None
    context = StepContext.of(claimed, app.settings.workspaces_dir.absolute())
    question = orjson.dumps({"handler": claimed.step.handler, "context": context.to_json()})
    child = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            **shared_environment(app.settings),
            "TARANTELLA_DATA_DIR": str(app.settings.data_dir.absolute()),
        },
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    said = _LastWords()
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    listening = asyncio.create_task(said.listen(child.stderr))
    try:
        with suppress(BrokenPipeError, ConnectionResetError):
            # It stays open: its end tells the child that we are gone.
            child.stdin.write(question + b"\n")
            await child.stdin.drain()
        answer = await _answer(child, child.stdout)
        if not answer:
            await child_process.a_moment(child)
            await asyncio.wait({listening}, timeout=1.0)
            return Verdict(error=f"crash: its process ended with {_told(child.returncode)}{said.told}")
        return Verdict(**orjson.loads(answer))
    finally:
        await child_process.end(child)
        listening.cancel()


def _told(code: int | None) -> str:
    if code is None:
        return "no answer"
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


class _LastWords:
    """The end of what a process says on stderr; it may say as much as it likes."""

    def __init__(self) -> None:
        self._end = b""

    async def listen(self, stderr: asyncio.StreamReader) -> None:
        while piece := await stderr.read(65_536):
            self._end = (self._end + piece)[-LAST_WORDS:]

    @property
    def told(self) -> str:
        lines = self._end.decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""


async def _answer(child: asyncio.subprocess.Process, stdout: asyncio.StreamReader) -> bytes:
    """What it says; nothing where it has ended without a word, also where something that it forked could still say one."""
    reading = asyncio.create_task(stdout.readline())
    seen_dead = 0  # more than once: its last word may still have to be read, and this loop have been busy
    try:
        while not reading.done() and seen_dead < 3:
            seen_dead += child.returncode is not None
            await asyncio.wait({reading}, timeout=LOOK_SECONDS)
        return reading.result() if reading.done() else b""
    finally:
        reading.cancel()


# -- the child's side


def serve_step(open_app: Callable[[], App]) -> None:
    """Read what is to be done, do it, and write what came of it; end with the parent."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the handler prints is no answer
    question: dict[str, Any] = orjson.loads(sys.stdin.buffer.readline())
    parent = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # and nobody answers what it asks
    _let_the_kernel_end_us(parent)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    verdict = asyncio.run(_do(question, open_app))
    error = verdict.error.encode("utf-8", "replace").decode() if verdict.error is not None else None
    answers.write(orjson.dumps({"result": verdict.result, "error": error, "final": verdict.final}) + b"\n")
    answers.flush()
    os._exit(0)  # whatever threads the handler has left


async def _do(question: dict[str, Any], open_app: Callable[[], App]) -> Verdict:
    sys.path.insert(0, str(Path.cwd()))  # as for scripts: handlers may lie in the folder that the worker was started in
    try:
        handler = find_handler(question["handler"], open_app)
    except InvalidInput as error:
        return Verdict(error=str(error), final=True)
    except Exception as error:
        return Verdict(error=f"The handler can't be loaded: {type(error).__name__}: {error}", final=True)
    return await call(handler, StepContext.from_json(question["context"]))


def _let_the_kernel_end_us(parent: int) -> None:
    """Where it can, it kills our group when the parent is gone: a handler may hold the interpreter, and let no thread see that."""
    with suppress(OSError, AttributeError):
        fcntl.fcntl(parent, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(parent, fcntl.F_SETSIG, signal.SIGKILL)  # Linux alone knows that
        fcntl.fcntl(parent, fcntl.F_SETFL, fcntl.fcntl(parent, fcntl.F_GETFL) | os.O_ASYNC)


def _end_with_parent(parent: int) -> None:
    while True:
        select.select([parent], [], [])  # whoever waits in a read is told, and the kernel does nothing more
        if not os.read(parent, 65_536):
            break
    os.killpg(0, signal.SIGKILL)
