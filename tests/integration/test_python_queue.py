"""A queue of scrapers from Python."""

from __future__ import annotations

import asyncio
import errno
import time
from pathlib import Path
from typing import Any

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


def test_a_machine_without_room_costs_no_gap_anything(scripts: Scripts, monkeypatch: pytest.MonkeyPatch) -> None:
    really = asyncio.create_subprocess_exec
    begun = []

    async def scarce(*command: Any, **more: Any) -> asyncio.subprocess.Process:
        begun.append(command)
        if len(begun) == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return await really(*command, **more)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", scarce)
    told = ScraperOrchestrator(data_dir=scripts.folder / "data").run()
    assert (told["completed"], told["failed"], len(begun)) == (2, 0, 3)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_what_a_script_leaves_its_streams_to_is_not_waited_for(scripts: Scripts) -> None:
    """Not even where it has got rid of everything by which it could be known."""
    scripts.script(
        "leaves",
        """
        import os
        if os.fork() == 0:
            os.setsid()
            os.execve("/bin/sleep", ["sleep", "20"], {})
        print("saved 3 records")
        """,
        timeout=10,
    )
    for number in range(3):
        scripts.gap("leaves", part=number)
    before = open_files()

    async def run() -> dict[str, Any]:
        told = await ScraperOrchestrator(data_dir=scripts.folder / "data").run_async()
        await asyncio.sleep(0.1)
        assert open_files() < before + 9  # three for each of three
        return told

    began = time.monotonic()
    assert asyncio.run(run())["completed"] == 5
    assert time.monotonic() - began < 8
