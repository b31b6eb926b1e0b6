"""Executes a script: in a process group of its own, for so long, with the end of what it says."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tarantella.domain.script_end import Ended, ScriptFailure, judged
from tarantella.domain.url import redact
from tarantella.services import child_process

KEPT_BYTES = 64 * 1024  # of each of its streams
CLOSING_SECONDS = 1.0  # for its streams to end once it has
# Files, processes, memory: there may be some later, so it says nothing of the script.
SCARCE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
MARK = "TARANTELLA_EXECUTION"  # in the environment of a script, and of all that it starts
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|API_?KEY|CREDENTIAL|PRIVATE", re.IGNORECASE)
_SHORTEST_SECRET = 6
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)  # of databases and proxies, too


_groups: set[int] = set()  # those that this process has started, and not waited for yet


def end_all_at_once() -> None:
    """End whatever is being executed, without a word and without waiting: for who has no more time."""
    for group in _groups:
        child_process.signal_group(group, signal.SIGKILL)


async def execute(
    path: Path, arguments: Sequence[str], *, base: Path, limit: float, mark: str, said: bytes, more: Mapping[str, str]
) -> Ended:
    """What came of it. Whoever cancels this ends it, and all that it has started. Raises OSError where the machine has no room."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **more, MARK: mark}
    command = [sys.executable, str(path)] if path.suffix == ".py" else [str(path)]
    began = time.monotonic()
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            *arguments,
            cwd=base,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        if error.errno in SCARCE:
            raise
        return Ended(ScriptFailure.SCRIPT, f"{path.name} can't be executed: {error.strerror}")
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    _groups.add(child.pid)
    streams = _Tail(environment), _Tail(environment)
    listening = {
        asyncio.create_task(tail.listen(stream))
        for tail, stream in zip(streams, (child.stdout, child.stderr), strict=True)
    }
    telling = asyncio.create_task(_tell(child.stdin, said))
    try:
        try:
            async with asyncio.timeout(limit):
                code = await child_process.until_ended(child)
        except TimeoutError:
            await _end(child, mark)
            await asyncio.wait(listening, timeout=CLOSING_SECONDS)
            seconds = time.monotonic() - began
            told = f"it took longer than {limit:g} s"
            return Ended(ScriptFailure.TIMEOUT, told, None, None, round(seconds, 3), *(each.text for each in streams))
        seconds = time.monotonic() - began
        # Whatever it left behind holds its streams open, and is ended like the rest.
        await asyncio.wait(listening, timeout=CLOSING_SECONDS)
        return judged(code, seconds, *(each.text for each in streams))
    finally:
        await _end(child, mark)
        _groups.discard(child.pid)
        for task in (telling, *listening):
            task.cancel()
        # Whoever has escaped may hold the other ends for days.
        child._transport.close()  # type: ignore[attr-defined]


async def _tell(stdin: asyncio.StreamWriter, said: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(said)
        await stdin.drain()
    stdin.close()


class _Tail:
    """The end of what a process says; it may say as much as it likes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._end = b""
        self._is_cut = False
        self._secrets = [
            value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
        ]

    async def listen(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(KEPT_BYTES):
            whole = self._end + piece
            self._is_cut = self._is_cut or len(whole) > KEPT_BYTES
            self._end = whole[-KEPT_BYTES:]

    @property
    def text(self) -> str:
        """As it may be stored: without what was told to the script in confidence."""
        # A line of which only the end is left could end in a secret of which only the end is left.
        kept = self._end.partition(b"\n")[2] if self._is_cut else self._end
        text = kept.decode("utf-8", "replace").replace("\0", "")
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _ADDRESS.sub(lambda found: redact(found[0]), text)


async def _end(child: asyncio.subprocess.Process, mark: str) -> None:
    """End the process, its group, and what has left the group."""
    try:
        await child_process.end(child)
    finally:
        await asyncio.to_thread(end_marked, mark)


def end_marked(mark: str) -> int:
    """End all processes of an execution, also when whoever started it is gone; how many there were.

    They are known by what stands in their environment, which nobody else's has. Only Linux tells; elsewhere nobody is found.
    """
    wanted = f"{MARK}={mark}".encode()
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Opened before it is looked at: a number that is given to somebody else meanwhile can't be meant.
            process = os.pidfd_open(int(folder.name))
        except OSError:
            continue
        try:
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    found += 1
        finally:
            os.close(process)
    return found
