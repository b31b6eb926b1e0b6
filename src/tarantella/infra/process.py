"""A process that outlives whoever started it, known again by its number and the time at which it began."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tarantella.domain.errors import StoreBroken
from tarantella.domain.struct import Frozen
from tarantella.infra.identity import Identity

LOOK_AGAIN = 0.05
KILLED_WITHIN = 5.0


class Record(Frozen):
    """What is known of a process that was started here."""

    identity: Identity
    command: tuple[str, ...]
    started_at: float
    keeper: Identity | None = None  # for whom it runs; without one it runs until it is stopped


class Process:
    """One part of the infrastructure, as a file tells of it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file = folder / f"{name}.json"
        self._log = folder.parent / "logs"
        self._child: subprocess.Popen[bytes] | None = None

    def log(self, file: str) -> Path:
        return self._log / file

    @property
    def record(self) -> Record | None:
        """What was started here last, whether or not it lives."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Record)
        except (OSError, msgspec.MsgspecError):
            return None

    @property
    def alive(self) -> Identity | None:
        """The process, if it was started here and lives."""
        if self._child is not None:
            self._child.poll()  # one of our own that has ended is there until somebody asks for its end
        record = self.record
        return record.identity if record is not None and record.identity.is_alive else None

    @property
    def is_stale(self) -> bool:
        """Whether it lives although the one for whom it runs is gone."""
        record = self.record
        if record is None or record.keeper is None or record.keeper.is_alive:
            return False
        return record.identity.is_alive

    def start(self, command: Sequence[str], log: str, environment: Mapping[str, str], keeper: Identity | None) -> int:
        """Start it in a session of its own, with its output in a log; its number."""
        try:
            for folder in (self._file.parent, self._log):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self.log(log).open("ab") as output:
                self._child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    env={**os.environ, **environment},
                )
        except OSError as error:
            raise StoreBroken(f"{self.name} can't be started: {error}.", remedy="Is the folder yours?") from None
        identity = Identity.of(self._child.pid)
        if identity is not None:
            self._keep(Record(identity, tuple(command), time.time(), keeper))
        return self._child.pid

    def stop(self, patience: float) -> bool:
        """Ask it to end, and end it with its group when it takes too long; False where it did not live."""
        identity = self.alive
        if identity is None:
            self._file.unlink(missing_ok=True)
            return False
        for how, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, KILLED_WITHIN)):
            if how == signal.SIGTERM:
                identity.signal(how)  # what it has started is its own to end
            elif identity.is_alive:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(identity.pid, how)
            give_up = time.monotonic() + seconds
            while time.monotonic() < give_up:
                if self.alive is None:
                    self._file.unlink(missing_ok=True)
                    return True
                time.sleep(LOOK_AGAIN)
        return True

    def _keep(self, record: Record) -> None:
        new = self._file.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(record) + b"\n")
        new.replace(self._file)
