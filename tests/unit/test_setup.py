"""The script `setup` installs what a command needs, and nothing that it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Tells its version as a Python does, and writes down what pip was asked to install.
PYTHON = """#!/bin/sh
case "$*" in
    *'pip install'*) echo "$*" >>"$0.asked" ;;
    *version_info*) echo 3.11.0 ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose .venv is sound, with nothing installed yet and no network in need."""
    for name in ("setup", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, text in {"python": PYTHON, "tarantella": '#!/bin/sh\necho "$@"\n'}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (tmp_path / ".venv" / "setup.ready").write_text(f"{tmp_path.resolve()}\n3.11\n")
    return tmp_path


@pytest.mark.parametrize(
    ("said", "installed"),
    [
        ({}, "."),
        ({"TARANTELLA_DATABASE_URL": "postgresql://db/crawls"}, ".[postgres]"),
        ({"APP_DATABASE_URL": "postgresql+psycopg://db/crawls"}, ".[postgres]"),
        ({"TARANTELLA_DATABASE_URL": "postgresql://db/a", "TARANTELLA_BROKER_URL": "redis://queue/1"}, ".[celery]"),
    ],
)
def test_start_installs_what_the_environment_says_the_server_needs(
    clone: Path, said: dict[str, str], installed: str
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TARANTELLA_", "APP_", "PYTHON"))}
    for _ in range(2):  # the second time all is there
        done = subprocess.run(
            ["./setup", "start", "--quiet"],
            check=False,
            cwd=clone,
            env={**kept, **said},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert (done.returncode, done.stdout) == (0, "serve --quiet\n"), done.stderr
    [asked] = (clone / ".venv" / "bin" / "python.asked").read_text().splitlines()
    assert asked.endswith(f"--editable {installed}")
