"""Commands that are watched while they run, and that may be cut off at any moment."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rig.measure import environment

END_SECONDS = 30.0
LOG_TAIL = 2000


class CommandFailed(RuntimeError):
    """A command did not do what was expected of it."""


@dataclass(frozen=True, slots=True)
class Running:
    """A command that was started, when, and where it talks to."""

    process: subprocess.Popen[bytes]
    began_at: float  # seconds since the epoch, as the site's log has them
    log: Path

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def wait(self, seconds: float) -> None:
        """Let it end by itself, well."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise CommandFailed(f"did not end within {seconds:.0f} s; {self.last_words()}") from None
        if code != 0:
            raise CommandFailed(f"ended with exit code {code}; {self.last_words()}")

    def kill(self) -> None:
        """As a power cut would: all its processes, at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(END_SECONDS)

    def last_words(self) -> str:
        said = self.log.read_text(errors="replace").strip()[-LOG_TAIL:]
        return f"its last words:\n{said}" if said else "it said nothing"


@contextmanager
def running(command: Sequence[str], folder: Path) -> Iterator[Running]:
    """Start a command in a session of its own; whatever is left of it when the block ends is killed."""
    log = folder / "log.txt"
    with log.open("wb") as output:
        began_at = time.time()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    started = Running(process, began_at, log)
    try:
        yield started
    finally:
        started.kill()


def answer_of(command: Sequence[str], folder: Path) -> bytes:
    """What a short command prints."""
    done = subprocess.run(
        command, cwd=folder, env=environment(os.environ), capture_output=True, timeout=END_SECONDS, check=False
    )
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()[-LOG_TAIL:]}")
    return done.stdout


def seconds_of(code: str, folder: Path) -> float:
    """How long Python takes to run a few words, from its start to its exit."""
    begin = time.perf_counter()
    answer_of([sys.executable, "-c", code], folder)
    return time.perf_counter() - begin


def cpu_seconds_of_children() -> float:
    """The CPU time of all commands that have ended so far, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
