"""Ctrl-C, SIGTERM and kill -9: nothing is lost, and the run goes on where it stopped."""

from __future__ import annotations

import csv
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarantella.cli.signals import SAME_WISH_SECONDS
from tests.acceptance.command import LOOPBACK, PATIENCE, Shell, end, environment
from tests.site import tree_path, tree_paths

SLOW_TREE = tree_path(4, 4, delay_ms=50)  # long enough to be interrupted
SLOW_PAGES = tree_paths(4, 4, delay_ms=50)
ENDLESS_TREE = tree_path(7, 5, delay_ms=50)  # longer than any test
TREE = ("--depth", "all", "--concurrency", "3", "--data-dir", "data", *LOOPBACK)


@pytest.fixture(autouse=True)
def _from_a_terminal() -> Iterator[None]:
    """Under `nohup`, which the tests themselves may run under, a command does not stop when its terminal is closed."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_cleanly_and_resume_finishes_the_run(shell: Shell, site: str, number: int) -> None:
    process = shell.start("scrape", site + SLOW_TREE, "--json", *TREE)
    shell.until(lambda run: run["counts"]["done"] > 20)
    process.send_signal(number)
    stopped = end(process)
    told = stopped.json
    assert (stopped.code, told["status"], told["reason"]) == (130, "paused", "interrupted")
    assert told["counts"]["pending"] > 0
    assert Path(told["output"]).read_text().count("\n") == told["records"] == told["counts"]["done"]
    assert f"tarantella runs resume {told['id'][-12:]}" in stopped.err
    assert "incomplete" in stopped.err

    resumed = shell.run("runs", "resume", told["id"], "--json")
    assert (resumed.code, resumed.json["status"]) == (0, "completed")
    urls = [json.loads(line)["url"] for line in Path(resumed.json["output"]).read_text().splitlines()]
    assert sorted(urls) == sorted(site + path for path in SLOW_PAGES)


def test_the_command_to_go_on_writes_to_the_same_file(shell: Shell, site: str) -> None:
    process = shell.start("scrape", site + SLOW_TREE, "--format", "csv", "-o", "my records.csv", *TREE)
    shell.until(lambda run: run["counts"]["done"] > 20)
    process.send_signal(signal.SIGINT)
    [line] = [line for line in end(process).err.splitlines() if "runs resume" in line]
    typed = shlex.split(line.partition("tarantella ")[2])
    assert shell.run(*typed).code == 0
    with (shell.folder / "my records.csv").open(encoding="utf-8-sig", newline="") as written:
        assert len(list(csv.DictReader(written))) == len(SLOW_PAGES)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_goes_on_writes_to_the_file_that_was_asked_for(shell: Shell, site: str, number: int) -> None:
    process = shell.start("scrape", site + SLOW_TREE, "--format", "csv", "-o", "records.txt", *TREE)
    shell.until(lambda run: run["counts"]["done"] > 20)
    process.send_signal(number)
    end(process)
    resumed = shell.run("runs", "resume", "latest", "--json")
    assert (resumed.code, resumed.json["format"]) == (0, "csv")
    with (shell.folder / "records.txt").open(encoding="utf-8-sig", newline="") as written:
        assert len(list(csv.DictReader(written))) == len(SLOW_PAGES)
    assert [path.suffixes for path in (shell.folder / "data" / "exports").iterdir()] == [[".target", ".json"]]
    assert shell.run("runs", "delete", "latest", "--yes").code == 0
    assert not list((shell.folder / "data" / "exports").iterdir())


def test_a_second_ctrl_c_stops_at_once(shell: Shell, site: str) -> None:
    process = shell.start("scrape", f"{site}/slow?s=15", *LOOPBACK)
    shell.until(lambda run: run["status"] == "running")
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    while "Ctrl-C again" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)  # the same wish, told twice
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2 * SAME_WISH_SECONDS)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert end(process).code == 130
    assert time.monotonic() - asked < 2  # sooner than a clean stop, which waits for the page
    assert shell.runs()[0]["status"] == "paused"


def test_a_killed_command_leaves_a_run_that_shows_as_interrupted_and_can_be_resumed(shell: Shell, site: str) -> None:
    process = shell.start("scrape", site + SLOW_TREE, *TREE)
    shell.until(lambda run: run["counts"]["done"] > 20)
    process.kill()
    end(process)
    [run] = shell.runs()
    assert (run["status"], run["reason"]) == ("paused", "interrupted")
    assert "paused (interrupted)" in shell.run("runs", "list").out
    resumed = shell.run("runs", "resume", "latest", "--json")
    assert resumed.code == 0
    assert resumed.json["records"] == len(SLOW_PAGES)


def test_a_run_that_another_command_works_on_is_neither_resumed_nor_deleted(shell: Shell, site: str) -> None:
    process = shell.start("scrape", site + ENDLESS_TREE, *TREE)
    shell.until(lambda run: run["counts"]["done"] > 5)
    resumed = shell.run("runs", "resume", "latest")
    deleted = shell.run("runs", "delete", "latest", "--yes")
    process.send_signal(signal.SIGINT)
    assert end(process).code == 130
    assert (resumed.code, "Another command is working on this run" in resumed.err) == (2, True)
    assert (deleted.code, "still running" in deleted.err) == (2, True)


@pytest.mark.parametrize(("verb", "status"), [("pause", "paused"), ("cancel", "cancelled")])
def test_pause_and_cancel_from_elsewhere_end_the_command(shell: Shell, site: str, verb: str, status: str) -> None:
    process = shell.start("scrape", site + ENDLESS_TREE, "--json", *TREE)
    shell.until(lambda run: run["counts"]["done"] > 5)
    assert shell.run("runs", verb, "latest").code == 0
    ended = end(process)
    assert (ended.code, ended.json["status"]) == (130, status)
    counts = ended.json["counts"]
    assert counts["total"] == counts["done"] + counts["failed"] + counts["skipped"] + counts["pending"]


def test_a_terminal_gets_live_lines_and_has_its_cursor_back_after_ctrl_c(shell: Shell, site: str) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(shell.folder)
        arguments = ["-m", "tarantella", "scrape", site + ENDLESS_TREE, *TREE]
        os.execve(sys.executable, [sys.executable, *arguments], _terminal_environment())
    try:
        seen = _read_until(terminal, b"queued")
        os.write(terminal, b"\x03")
        seen += _read_until(terminal, b"Next:")
    finally:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
    assert code == 130
    assert b"\x1b[?25l" in seen, "the cursor is hidden while lines are redrawn"
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")
    assert "█".encode() in seen or "░".encode() in seen
    assert b"Everything so far is kept" in seen


@pytest.mark.parametrize(
    ("heeds_it", "code", "status"), [(True, 130, "paused"), (False, 0, "completed")], ids=["usual", "nohup"]
)
def test_a_terminal_that_is_closed_costs_nothing(
    shell: Shell, site: str, heeds_it: bool, code: int, status: str
) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(shell.folder)
        signal.signal(signal.SIGHUP, signal.SIG_DFL if heeds_it else signal.SIG_IGN)
        arguments = ["-m", "tarantella", "scrape", site + SLOW_TREE, *TREE]
        os.execve(sys.executable, [sys.executable, *arguments], _terminal_environment())
    try:
        _read_until(terminal, b"queued")
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    [run] = shell.runs()
    assert run["status"] == status
    [written] = (shell.folder / "data" / "exports").glob("*.jsonl")
    assert written.read_text().count("\n") == run["records"] == run["counts"]["done"]


def _terminal_environment() -> dict[str, str]:
    return environment(TERM="xterm-256color", COLUMNS="80", LINES="24", LANG="C.UTF-8", LC_ALL="C.UTF-8")


def _read_until(terminal: int, wanted: bytes) -> bytes:
    seen, give_up = b"", time.monotonic() + PATIENCE
    while wanted not in seen:
        assert time.monotonic() < give_up, seen.decode(errors="replace")
        seen += os.read(terminal, 65_536)
    return seen
