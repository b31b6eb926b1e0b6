"""A queue of gaps under kill -9: nothing is lost, nothing is filled by two at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tarantella.crashpoints import EXIT_CODE
from tests.fault.processes import PATIENCE, environment, until
from tests.scripts import Scripts

COMMAND = [sys.executable, "-m", "tarantella", "queue"]
MOST_POINTS = 200
# Says who is at it, and complains if somebody else is.
ALONE = """
import os, sys, time
try:
    os.close(os.open("busy", os.O_CREAT | os.O_EXCL))
except FileExistsError:
    open("two-at-a-time", "w").close()
time.sleep({seconds})
os.unlink("busy")
print("saved 1 record")
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


def start(scripts: Scripts, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "run"],
        cwd=scripts.folder,
        env=environment(**env),
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=PATIENCE)
    return process.returncode


def listed(scripts: Scripts) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*COMMAND, "list", "--json"], cwd=scripts.folder, env=environment(), capture_output=True, text=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_whoever_dies_at_any_write_loses_nothing_and_does_nothing_twice(scripts: Scripts) -> None:
    """The process ends at its k-th write, before it and after it, for every k; then somebody goes on."""
    scripts.script("works", "open('log', 'a').write('x'); print('saved 1 record')")
    points = 0
    for k in range(1, MOST_POINTS):
        points = k
        scripts.tasks.clear()
        scripts.gap("works", part=k)
        scripts.write(generated_at=str(k))
        (scripts.folder / "log").unlink(missing_ok=True)
        code = ended(start(scripts, TARANTELLA_CRASH_AT=str(k)))
        assert code in (0, EXIT_CODE)
        assert ended(start(scripts)) == 0
        [gap] = [each for each in listed(scripts) if each["params"]["part"] == k]
        assert (gap["status"], gap["records"]) == ("completed", 1)
        # Done once more only if nobody could know that it was done: its end was not stored.
        assert len((scripts.folder / "log").read_text()) <= 2
        if code == 0:
            break
    assert 8 < points < MOST_POINTS - 1


def test_a_script_that_outlives_its_watcher_is_ended_before_its_gap_is_filled_again(scripts: Scripts) -> None:
    scripts.script("alone", ALONE.format(seconds=60))
    scripts.gap("alone")
    watcher = start(scripts)
    until((scripts.folder / "busy").exists, PATIENCE, "it never began")
    watcher.kill()
    ended(watcher)
    (scripts.folder / "busy").unlink()
    scripts.script("alone", ALONE.format(seconds=0.1))
    began = time.monotonic()
    assert ended(start(scripts)) == 0
    assert time.monotonic() - began < 30
    [gap] = listed(scripts)
    assert (gap["status"], gap["executions"]) == ("completed", 2)
    assert not (scripts.folder / "two-at-a-time").exists()


def test_two_at_one_queue_share_it(scripts: Scripts) -> None:
    scripts.script("works", "import sys; open('log', 'a').write(sys.argv[2] + ' '); print('saved 1 record')")
    for number in range(30):
        scripts.gap("works", part=number)
    both = [start(scripts), start(scripts)]
    assert [ended(process) for process in both] == [0, 0]
    assert sorted((scripts.folder / "log").read_text().split(), key=int) == [str(number) for number in range(30)]
    assert {each["executions"] for each in listed(scripts)} == {1}


def test_a_watcher_that_stood_still_for_too_long_changes_nothing(scripts: Scripts) -> None:
    """Thought dead, its gap is filled by somebody else."""
    scripts.script("slow", "import time; time.sleep(2); print('saved 1 record')", max_concurrent=1)
    scripts.script("long", "import time; time.sleep(12); print('saved 1 record')")
    scripts.gap("slow")
    env = {"TARANTELLA_WORKER_LIFE_SECONDS": "4"}
    watcher = start(scripts, **env)
    until(lambda: [each["status"] for each in listed(scripts)] == ["running"], PATIENCE, "it never began")
    os.kill(watcher.pid, signal.SIGSTOP)
    try:
        # Its lifeline is held by a process that lives, so only its beat tells, and somebody has to wait for that.
        scripts.gap("long")
        assert ended(start(scripts, **env)) == 0
        assert [(each["status"], each["executions"]) for each in listed(scripts)] == [
            ("completed", 2),
            ("completed", 1),
        ]
    finally:
        os.kill(watcher.pid, signal.SIGCONT)
    ended(watcher)
    assert [(each["status"], each["executions"]) for each in listed(scripts)] == [("completed", 2), ("completed", 1)]
