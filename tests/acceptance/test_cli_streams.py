"""Where output goes that can't go there, and arguments that are no text: one line that says so, and nothing broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import environment


def typed(folder: Path, redirected: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Type a command into a shell, with its output sent somewhere."""
    program = [sys.executable, "-m", "tarantella", *arguments]
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirected}', "sh", *program],
        cwd=folder,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("command", [("runs", "list", "--json"), ("--help",), ("runs", "--help")])
def test_a_full_disk_under_stdout_is_told_in_a_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = typed(tmp_path, "> /dev/full", *command)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("error: The output could not be written: No space left on device.")
    assert done.stderr.count(b"\n") == 1


def test_without_stdout_and_stderr_a_command_works_and_nothing_takes_their_place(tmp_path: Path) -> None:
    assert typed(tmp_path, ">&- 2>&- <&-", "runs", "list").returncode == 0
    done = typed(tmp_path, "", "runs", "list", "--json")
    assert (done.returncode, done.stdout.strip()) == (0, b"[]"), "the database is as it was"


@pytest.mark.parametrize("argument", ["--field=a\udcff=.x", "--user-agent=\udcff", "\udcff"])
def test_an_argument_that_is_not_utf_8_is_refused(tmp_path: Path, argument: str) -> None:
    done = typed(tmp_path, "", "scrape", "a.example", argument)
    assert done.returncode == 2
    assert b"is not UTF-8" in done.stderr
