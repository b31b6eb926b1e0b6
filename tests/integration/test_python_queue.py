"""A queue of scrapers from Python."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tarantella import ScraperOrchestrator
from tarantella.domain.errors import InvalidInput
from tests.scripts import Scripts


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scripts:
    monkeypatch.chdir(tmp_path)
    made = Scripts(tmp_path)
    made.script("works", "print('saved 3 records')")
    made.gap("works", "LOW", part=1)
    made.gap("works", "CRITICAL", part=2)
    return made


def test_a_queue_is_run_and_what_came_of_it_is_told(scripts: Scripts) -> None:
    orchestrator = ScraperOrchestrator(max_concurrent=2, data_dir=scripts.folder / "data")
    assert [task["id"] for task in orchestrator.load_task_queue()] == ["task_000001", "task_000002"]
    told = orchestrator.run("critical")
    assert (told["total"], told["completed"], told["by_priority"]) == (
        1,
        1,
        {"CRITICAL": {"completed": 1, "failed": 0}},
    )
    told = asyncio.run(orchestrator.run_async())
    assert (told["completed"], told["by_scraper"]) == (1, {"works": {"completed": 1, "failed": 0}})
    assert orchestrator.run()["executions"] == 0


def test_a_dry_run_tells_what_would_be_done(scripts: Scripts) -> None:
    told = ScraperOrchestrator("inventory/gaps.json", "config/scraper_config.yaml", 5, True).run()
    assert (told["total"], told["skipped"]) == (2, 2)
    assert told["tasks"][0]["command"] == ["scripts/etl/works.py", "--part", "2"]
    assert not (scripts.folder / "data").exists()


def test_what_makes_no_sense_is_refused(scripts: Scripts) -> None:
    with pytest.raises(InvalidInput, match="max_concurrent"):
        ScraperOrchestrator(max_concurrent=0)
    with pytest.raises(InvalidInput, match="no priority 'urgent'"):
        ScraperOrchestrator(data_dir=scripts.folder / "data").run("urgent")
    with pytest.raises(InvalidInput, match="can't be read"):
        ScraperOrchestrator("nowhere.json").run()


def test_a_script_is_over_when_it_has_ended_whatever_it_leaves_behind(scripts: Scripts) -> None:
    """What it started holds its output open; asyncio would wait for that."""
    scripts.script(
        "leaves",
        """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        print("saved 1 record", flush=True)
        """,
    )
    scripts.tasks.clear()
    scripts.gap("leaves")
    began = time.monotonic()
    told = ScraperOrchestrator(data_dir=scripts.folder / "data").run()
    assert told["completed"] == 1
    assert time.monotonic() - began < 20
