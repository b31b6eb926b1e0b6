"""Starts processes in groups of their own, and ends them whatever happens."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
LOOK_AGAIN = 0.02


def environment(**more: str) -> dict[str, str]:
    """The environment of a child: ours, without anybody's settings, and with the code of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TARANTELLA_", "APP_"))}
    # Without a browser, unless a test says that it wants one: most want to be quick, and the same everywhere.
    kept["TARANTELLA_BROWSER"] = "off"
    return {**kept, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONUNBUFFERED": "1", **more}


class Child:
    """A process, and all that it starts: one group that lives and dies together."""

    def __init__(self, command: Sequence[str], folder: Path, *, env: Mapping[str, str] | None = None) -> None:
        self.command = list(command)
        self._process = subprocess.Popen(
            self.command,
            cwd=folder,
            env=environment(**(env or {})),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self.told: list[dict[str, Any]] = []
        self._errors: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def errors(self) -> str:
        """What it wrote to stderr; all of it once it has ended."""
        return "".join(self._errors)

    def wait(self, seconds: float = PATIENCE) -> int:
        """Its exit code; a child that takes too long is killed, and that is an error."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{' '.join(self.command)} did not end in {seconds:.0f} s.\n{self.errors}") from None
        for reader in self._readers:
            reader.join(5)
        self._collect()
        return code

    def until_it_tells(self, name: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The next thing of this name that a driver says on stdout."""
        give_up = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, give_up - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{name!r} was not told in {seconds:.0f} s.\n{self.told}\n{self.errors}") from None
            if line is None:
                raise AssertionError(f"It ended without telling {name!r}.\n{self.told}\n{self.errors}")
            told = json.loads(line)
            self.told.append(told)
            if told["told"] == name:
                return dict(told)

    def signal(self, number: int) -> None:
        """Signal the process alone, not its children."""
        os.kill(self.pid, number)

    def close_input(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def kill(self) -> None:
        """SIGKILL to the whole group, and wait until none of it is left."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self.close_input()
        until(lambda: not self.group_is_alive(), 10, "the group of a killed process is still there")

    def group_is_alive(self) -> bool:
        """Whether a process of the group is left, of which this one was the first."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _collect(self) -> None:
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return
            if line is not None and line.startswith("{"):
                self.told.append(json.loads(line))

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line)


class SiteProcess(Child):
    """The test site in a process of its own, which outlives the crawlers."""

    def __init__(self, folder: Path, *, robots: str | None = None) -> None:
        more = ["--robots", robots] if robots is not None else []
        super().__init__([sys.executable, "-m", "tests.site", "--port", "0", *more], folder)
        try:
            self.url = self._lines.get(timeout=PATIENCE) or ""
        except queue.Empty:
            self.kill()
            raise AssertionError(f"The site did not start.\n{self.errors}") from None
        self.url = self.url.strip()
        self.port = int(self.url.rpartition(":")[2])

    def url_for(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def log(self) -> dict[str, Any]:
        """All hits since the last reset, and the peaks."""
        return dict(self._ask("/_log"))

    def reset(self) -> None:
        self._ask("/_log/reset")

    def hits(self) -> Counter[str]:
        """How often each address was asked for, robots.txt aside."""
        return Counter(
            f"http://{hit['host']}{hit['path']}" + (f"?{hit['query']}" if hit["query"] else "")
            for hit in self.log()["hits"]
            if hit["path"] != "/robots.txt"
        )

    def quiet(self, seconds: float) -> Counter[str]:
        """The hits, once nothing is in flight and none has come for so long."""
        give_up, since, before = time.monotonic() + PATIENCE, time.monotonic(), self.hits()
        while time.monotonic() - since < seconds:
            assert time.monotonic() < give_up, "It is asked for more and more."
            time.sleep(LOOK_AGAIN)
            if (now := self.hits()) != before or self.log()["in_flight"]:
                since, before = time.monotonic(), now
        return before

    def _ask(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=30) as answer:
            return json.load(answer)


def until(condition: Callable[[], bool], seconds: float, otherwise: str) -> None:
    """Wait until something outside of this process is so."""
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError(f"After {seconds:.0f} s {otherwise}.")
        time.sleep(LOOK_AGAIN)
