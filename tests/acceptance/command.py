"""Runs the command line as users do: as a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
LOOPBACK = ("--allow-network", "127.0.0.0/8")


def environment(**more: str) -> dict[str, str]:
    """Ours, without anybody's settings, and with the code of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TARANTELLA_", "APP_"))}
    # Without a browser, unless a test says that it wants one: most want to be quick, and the same everywhere.
    kept["TARANTELLA_BROWSER"] = "off"
    return {**kept, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **more}


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder to type commands in."""

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, *arguments: str, stdin: str | None = None, **env: str) -> Done:
        """Run a command to its end."""
        ended = subprocess.run(
            _command(arguments),
            cwd=self.folder,
            env=environment(**env),
            input=stdin if stdin is not None else "",
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        return Done(ended.returncode, ended.stdout, ended.stderr)

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[str]:
        """Start a command, in a group of its own, that ends with the test at the latest."""
        process = subprocess.Popen(
            _command(arguments),
            cwd=self.folder,
            env=environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def runs(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.run("runs", "list", "--json").json
        return listed

    def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the newest run is so."""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            listed = self.runs()
            if listed and condition(listed[0]):
                return listed[0]
        raise AssertionError(f"The newest run never came so far: {self.runs()[:1]}\n{self.end_all()}")

    def end_all(self) -> str:
        """Kill what is still running, with all that it started; what it had to say."""
        said = ""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            if process.stderr is not None and not process.stderr.closed:
                said += process.communicate()[1]
        return said


def end(process: subprocess.Popen[str]) -> Done:
    """Wait for a command that was started; one that hangs is killed, with all that it started."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"The command did not end.\n{err}") from None
    return Done(process.returncode, out, err)


def _command(arguments: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "tarantella", *arguments]
