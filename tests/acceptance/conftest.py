"""A site in a process of its own, and a folder to type commands in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import ROOT, Shell, environment


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the test site, which robots.txt does not restrict."""
    command = [sys.executable, "-m", "tests.site", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    shell.end_all()
