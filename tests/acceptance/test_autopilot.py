"""`tarantella autopilot`: rows 126, 127, 129 to 131 — the loop closes by itself, and says whether it is well."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Done, Shell
from tests.fault.processes import PATIENCE, until
from tests.scripts import Scripts

COLLECTS = """
import pathlib, sys
path = pathlib.Path("raw") / sys.argv[sys.argv.index("--season") + 1] / "table.json"
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text("{}")
print("saved 1 file")
"""
EXPECTED = {
    "expected_coverage": {
        "league": {
            "scraper": "collects",
            "partitions": {"seasons": ["2022", "2023", "2024"]},
            "data_types": {"tables": {"path_patterns": ["raw/{season}/*.json"], "expected_per_partition": 1}},
        }
    }
}


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    made = Scripts(tmp_path)
    made.script("collects", COLLECTS, accepted_parameters=["season"])
    (tmp_path / "config" / "expected_coverage.yaml").write_text(json.dumps(EXPECTED))
    return made


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell whose autopilot ends with the test at the latest."""
    shell = Shell(tmp_path)
    yield shell
    shell.run("autopilot", "stop", "--wait", "1")
    shell.end_all()


def flight(shell: Shell) -> dict[str, Any]:
    found: dict[str, Any] = shell.run("autopilot", "status", "--json").json
    return found


def start(shell: Shell, *more: str) -> Done:
    done = shell.run("autopilot", "start", "--health-port", "0", *more)
    assert done.code == 0, done.err
    return done


def asked(shell: Shell, path: str = "/health") -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{flight(shell)['port']}{path}", timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def seasons(shell: Shell) -> list[str]:
    return sorted(path.parent.name for path in (shell.folder / "raw").glob("*/table.json"))


def test_a_queue_that_was_run_is_looked_at_again_and_what_was_filled_is_no_gap(shell: Shell, scripts: Scripts) -> None:
    assert shell.run("gaps", "scan").code == 0
    gaps = shell.folder / "inventory" / "gaps.json"
    assert [task["priority"] for task in json.loads(gaps.read_text())["tasks"]] == ["HIGH", "MEDIUM", "LOW"]
    done = shell.run("queue", "run")
    assert done.code == 0 and "Looked again: 0 gaps" in done.out
    assert json.loads(gaps.read_text())["tasks"] == []
    assert {each["status"] for each in shell.run("queue", "list", "--json").json} == {"resolved"}
    # A file that vanishes is a gap again, and is filled again.
    (shell.folder / "raw" / "2024" / "table.json").unlink()
    shell.run("gaps", "scan")
    assert shell.run("queue", "run", "--json").json["completed"] == 1


def test_what_a_script_only_claims_to_have_collected_stays_a_gap(shell: Shell, scripts: Scripts) -> None:
    scripts.script("collects", "print('saved 1 file')", accepted_parameters=["season"])
    shell.run("gaps", "scan")
    told = shell.run("queue", "run", "--json").json
    assert (told["completed"], told["reconciliation"]["missing"]) == (3, 3)
    assert {each["status"] for each in shell.run("queue", "list", "--json").json} == {"pending"}


def test_nobody_looks_again_where_that_is_not_wanted(shell: Shell, scripts: Scripts) -> None:
    shell.run("gaps", "scan")
    before = (shell.folder / "inventory" / "gaps.json").read_bytes()
    done = shell.run("queue", "run", "--no-reconciliation", "-v")
    assert done.code == 0 and "Looked again" not in done.out and "looked at again" not in done.err
    assert (shell.folder / "inventory" / "gaps.json").read_bytes() == before
    assert "looked at again" in shell.run("queue", "run", "-v").err


def test_one_cycle_finds_and_fills_and_looks_again(shell: Shell, scripts: Scripts) -> None:
    done = shell.run("autopilot", "start", "--run-once", "--json")
    assert done.code == 0, done.err
    assert (done.json["last"]["completed"], done.json["last"]["missing"], done.json["alive"]) == (3, 0, False)
    assert seasons(shell) == ["2022", "2023", "2024"]


def test_a_dry_run_starts_no_script(shell: Shell, scripts: Scripts) -> None:
    shell.run("gaps", "scan")
    done = shell.run("autopilot", "start", "--run-once", "--dry-run", "--json")
    assert (done.code, done.json["last"]["missing"], seasons(shell)) == (0, 3, [])


def test_the_loop_fills_what_vanishes_and_what_is_added_and_says_that_it_is_well(
    shell: Shell, scripts: Scripts
) -> None:
    start(shell, "--interval-minutes", "0.05")
    until(lambda: seasons(shell) == ["2022", "2023", "2024"], PATIENCE, "it filled nothing")
    assert asked(shell)[0] == 200
    (shell.folder / "raw" / "2023" / "table.json").unlink()
    until(lambda: len(seasons(shell)) == 3, PATIENCE, "what vanished was not filled")
    assert shell.run("autopilot", "health").code == 0
    seen = flight(shell)
    assert seen["alive"] and seen["cycles"] >= 2 and seen["status"] == "ok"
    assert "A cycle is done" in shell.run("autopilot", "logs").out
    assert {each["status"] for each in shell.run("autopilot", "tasks", "--json").json} == {"resolved"}
    assert shell.run("autopilot", "stop").code == 0
    assert shell.run("autopilot", "health").code == 1
    assert not flight(shell)["alive"]


def test_a_task_that_is_added_is_done_at_once(shell: Shell, scripts: Scripts) -> None:
    """Without anybody who says what is expected, the file is what there is to do."""
    (shell.folder / "config" / "expected_coverage.yaml").unlink()
    scripts.gap("collects", season="2020")
    start(shell, "--interval-minutes", "60")
    until(lambda: flight(shell)["phase"] == "waiting" and seasons(shell) == ["2020"], PATIENCE, "it filled nothing")
    scripts.gap("collects", "CRITICAL", season="2021")
    until(lambda: seasons(shell) == ["2020", "2021"], PATIENCE, "what was added was not done")


def test_a_task_that_is_added_while_scripts_are_running_is_done_after_them(shell: Shell, scripts: Scripts) -> None:
    (shell.folder / "config" / "expected_coverage.yaml").unlink()
    slow = "import time; open('began', 'a').close(); time.sleep(1.5)\n" + COLLECTS
    scripts.script("collects", slow, accepted_parameters=["season"])
    scripts.gap("collects", season="2020")
    start(shell, "--interval-minutes", "60")
    until((shell.folder / "began").exists, PATIENCE, "it never began")
    scripts.gap("collects", "CRITICAL", season="2021")
    until(lambda: seasons(shell) == ["2020", "2021"], 20, "what was added was not done")


def test_there_is_one_for_each_data_directory(shell: Shell, scripts: Scripts) -> None:
    start(shell)
    done = shell.run("autopilot", "start")
    assert done.code == 2 and "runs here already" in done.err
    assert shell.run("autopilot", "start", "--run-once").code == 2


def test_of_two_that_are_started_at_the_same_moment_one_is_told_of_the_other(shell: Shell, scripts: Scripts) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: shell.run("autopilot", "start"), range(2)))
    assert sorted(each.code for each in done) == [0, 2]
    [refused] = [each.err for each in done if each.code]
    assert f"An autopilot runs here already (process {flight(shell)['pid']})" in refused


def test_one_that_is_frozen_or_killed_is_not_well(shell: Shell, scripts: Scripts) -> None:
    start(shell)
    until(lambda: flight(shell)["phase"] == "waiting", PATIENCE, "it never waited")
    pid = flight(shell)["pid"]
    os.kill(pid, signal.SIGSTOP)
    state = shell.folder / "data" / "autopilot" / "state.json"
    told = json.loads(state.read_text())
    state.write_text(json.dumps({**told, "beat_at": told["beat_at"] - 60}))  # as if it had stood still for a minute
    assert "not been heard of" in shell.run("autopilot", "health").out
    os.kill(pid, signal.SIGKILL)
    until(lambda: shell.run("autopilot", "health").out.strip() == "It is not well: it was stopped.", PATIENCE, "well")
    # Whoever comes next goes on.
    (shell.folder / "raw" / "2022" / "table.json").unlink()
    start(shell)
    until(lambda: len(seasons(shell)) == 3, PATIENCE, "nobody went on")


def test_cycles_that_can_not_be_done_are_told_and_soon_are_no_good_health(shell: Shell, scripts: Scripts) -> None:
    start(shell, "--interval-minutes", "0.01")
    until(lambda: flight(shell)["cycles"] > 0, PATIENCE, "no cycle")
    (shell.folder / "config" / "scraper_config.yaml").write_text("scrapers: 5")
    until(lambda: asked(shell)[0] == 503, PATIENCE, "it was well")
    assert "cycles in a row could not be done" in asked(shell)[1]["why"] and asked(shell, "/status")[0] == 200
    assert asked(shell, "/elsewhere")[0] == 404
    scripts.script("collects", COLLECTS, accepted_parameters=["season"])
    until(lambda: asked(shell)[0] == 200, PATIENCE, "it never became well again")


def test_a_stop_lets_a_script_finish(shell: Shell, scripts: Scripts) -> None:
    slow = "import time; open('began', 'a').close(); time.sleep(1.5)\n" + COLLECTS
    scripts.script("collects", slow, accepted_parameters=["season"])
    start(shell, "--max-concurrent", "1")
    until((shell.folder / "began").exists, PATIENCE, "it never began")
    began = time.monotonic()
    assert shell.run("autopilot", "stop").code == 0
    assert time.monotonic() - began < 20
    assert len(seasons(shell)) == 1


def test_what_can_not_be_understood_is_told_at_the_start(shell: Shell, scripts: Scripts) -> None:
    (shell.folder / "config" / "expected_coverage.yaml").write_text("expected_coverage: {league: {data_types: 5}}")
    done = shell.run("autopilot", "start")
    assert done.code == 2 and "league" in done.err
    assert "No autopilot runs here" in shell.run("autopilot", "status").out
