"""A command starts with what it needs, and with nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.acceptance.command import Shell, environment

# What takes long to load, and is for those who draw, migrate, define settings in files, or ask for something else.
NOT_NEEDED = (
    "alembic",
    "dotenv",
    "playwright",
    "pydantic",
    "rich",
    "sqlalchemy",
    "tomllib",
    "tarantella.cli.listing",
    "tarantella.cli.runs",
    "tarantella.demo",
    "tarantella.fetchers.browser.fetcher",
    "tarantella.services.config",
    "tarantella.services.doctor",
)
TELL = f"""
import atexit, json, sys
atexit.register(lambda: print(json.dumps([name for name in {NOT_NEEDED!r} if name in sys.modules]), file=sys.stderr))
from tarantella.cli.app import main
main()
"""


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--json",), ("--output", "-")])
def test_a_scrape_into_a_pipe_loads_only_what_it_needs(shell: Shell, site: str, options: tuple[str, ...]) -> None:
    typed = ("scrape", f"{site}/ok", "--allow-network", "127.0.0.1", *options)
    for _ in ("on a new data directory", "on one that is there"):
        done = subprocess.run(
            [sys.executable, "-c", TELL, *typed],
            cwd=shell.folder,
            env=environment(TARANTELLA_BROWSER="chromium"),
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert json.loads(done.stderr.splitlines()[-1]) == []
