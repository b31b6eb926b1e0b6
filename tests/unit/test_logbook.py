"""Whose autopilot it is: only its own process is ever told to end."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tarantella.domain.autopilot import Flight, Phase
from tarantella.domain.errors import Conflict
from tarantella.infra.identity import Identity
from tarantella.services import logbook
from tarantella.services.logbook import Logbook

HOLDS = """
import sys, signal
from pathlib import Path
from tarantella.services.logbook import Logbook
held = Logbook(Path(sys.argv[1]))
print("held", flush=True)
signal.pause()
"""


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is nobody's business."""
    process = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def pilot(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def leave_state(folder: Path, pid: int) -> None:
    """What somebody has left who is gone, or who could not write any more."""
    told = Flight(pid, "here", 0.0, 0.0, Phase.WAITING, 0.0, 0.0, 60.0)
    (folder / logbook.FOLDER / logbook.FILE).write_bytes(msgspec.json.encode(told))


def test_who_holds_the_lock_is_told_to_end_whatever_the_state_says(
    tmp_path: Path, pilot: subprocess.Popen[bytes], bystander: subprocess.Popen[bytes]
) -> None:
    leave_state(tmp_path, bystander.pid)
    there = logbook.holder(tmp_path)
    assert there is not None and there.pid == pilot.pid
    assert logbook.tell_to_end(tmp_path)
    assert pilot.wait(10) == -15
    assert bystander.poll() is None
    assert not logbook.is_held(tmp_path) and logbook.holder(tmp_path) is None


def test_a_number_that_is_somebody_elses_by_now_is_not_told_to_end(
    tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    """The lock is held, but who holds it has not said yet who it is."""
    folder = tmp_path / logbook.FOLDER
    folder.mkdir()
    leave_state(tmp_path, bystander.pid)
    lock = os.open(folder / logbook.LOCK, os.O_RDWR | os.O_CREAT)
    os.write(lock, msgspec.json.encode(Identity(bystander.pid, "17 another-boot")))
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        assert not logbook.tell_to_end(tmp_path)
        assert bystander.poll() is None
        with pytest.raises(Conflict, match="already there"):
            Logbook(tmp_path)
    finally:
        os.close(lock)


def test_rubbish_says_nothing(tmp_path: Path) -> None:
    held = Logbook(tmp_path)
    (tmp_path / logbook.FOLDER / logbook.FILE).write_bytes(b"\xff{")
    assert logbook.read(tmp_path) is None and logbook.living(tmp_path) is None
    (tmp_path / logbook.FOLDER / logbook.LOCK).write_bytes(b"\xff")
    assert logbook.holder(tmp_path) is None and not logbook.tell_to_end(tmp_path)
    held.close()


def test_a_log_grows_only_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logbook, "LONGEST_LOG", 100)
    held, path = Logbook(tmp_path), logbook.log_file(tmp_path)
    with path.open("a") as log:
        for _ in range(3):
            print("x" * 100, file=log, flush=True)
            held.cut_log()
        print("and so on", file=log, flush=True)
    held.close()
    assert path.read_text() == "and so on\n"
    assert path.with_suffix(".old").read_text() == "x" * 100 + "\n"
