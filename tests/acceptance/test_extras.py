"""A command needs nothing but what the package, or the extra that its page in the docs names, brings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras import seeing_only
from tests.fault.processes import SiteProcess, environment
from tests.site import tree_path


@pytest.mark.parametrize("extra", ["", "postgres"])
def test_a_crawl_needs_nothing_else(extra: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    alone = seeing_only(extra, tmp_path / "alone")
    if extra == "postgres":
        alone["TARANTELLA_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    with SiteProcess(tmp_path) as site:
        command = [sys.executable, "-m", "tarantella", "scrape", site.url_for(tree_path(2, 2, ())), "--depth", "all"]
        command += [
            "--allow-network",
            "127.0.0.0/8",
            "--format",
            "jsonl",
            "--output",
            "-",
            "--data-dir",
            str(tmp_path / "d"),
        ]
        done = subprocess.run(
            command, env=environment(**alone), capture_output=True, text=True, timeout=60, check=False
        )
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 7), done.stderr
