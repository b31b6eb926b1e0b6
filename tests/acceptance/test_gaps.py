"""Gaps at the command line: what should be there, what is, and the file that says what is to be fetched."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.acceptance.command import Shell

EXPECTED = """
expected_coverage:
  league:
    scraper: league_scraper
    partitions: {seasons: ["2022-23", "2023-24", "2024-25"]}
    data_types:
      box_scores:
        freshness_days: 7
        path_patterns: ["raw/box_scores/{season}/*.json"]
        expected_per_partition: 2
        estimated_minutes: 45
      rosters:
        path_patterns: ["raw/rosters/{season}/{key}.json"]
        expected_keys: [bos, lal, 0022300061]
        keys_as: teams
      videos: {path_patterns: ["raw/videos/{season}/*"], required: false}
"""


@pytest.fixture
def league(shell: Shell) -> Shell:
    """A folder in which something is stale, something is missing, and something is more than expected."""
    put(shell, "config/expected_coverage.yaml", EXPECTED)
    for season, number in (("2022-23", 2), ("2023-24", 3), ("2024-25", 2)):
        for game in range(number):
            put(shell, f"raw/box_scores/{season}/{game}.json", days_old=30)
    put(shell, "raw/rosters/2024-25/bos.json")
    return shell


def put(shell: Shell, name: str, content: str = "{}", days_old: float = 0) -> None:
    path = shell.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    then = time.time() - days_old * 86_400
    os.utime(path, (then, then))


def test_a_scan_writes_the_tasks_that_fill_the_gaps(league: Shell) -> None:
    done = league.run("gaps", "scan")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("  CRITICAL  league 2024-25 box_scores: stale: the newest file is of ")
    assert lines[1] == "  HIGH      league 2024-25 rosters: missing: 2 of 3 teams"
    assert lines[-1] == "7 gaps (1 CRITICAL, 1 HIGH, 1 MEDIUM, 4 LOW), 45 minutes in inventory/gaps.json"
    assert "league box_scores 2023-24 has 1 file more than expected." in done.err
    written = json.loads((league.folder / "inventory/gaps.json").read_text())
    assert (written["total_tasks"], written["by_scraper"]) == (7, {"league_scraper": 7})
    assert {key: value for key, value in written["tasks"][1].items() if key != "id"} == {
        "priority": "HIGH",
        "source": "league",
        "scraper": "league_scraper",
        "season": "2024-25",
        "data_type": "rosters",
        "teams": ["0022300061", "lal"],
        "reason": "missing: 2 of 3 teams",
        "status": "pending",
    }


def test_a_dry_run_writes_nothing_and_json_says_it_all(league: Shell) -> None:
    done = league.run("gaps", "scan", "--dry-run", "--json")
    assert (done.code, done.err) == (0, "")
    assert not (league.folder / "inventory").exists()
    told = done.json
    assert (told["output"], told["gaps"]["total_tasks"], len(told["coverage"])) == (None, 7, 9)
    assert all(0 <= each["completeness_percent"] <= 100 for each in told["coverage"])


def test_other_files_and_folders_can_be_named(league: Shell) -> None:
    put(
        league,
        "elsewhere/mine.yaml",
        EXPECTED.replace("2024-25", "2023-24").replace('"2023-24", "2023-24"', '"2023-24"'),
    )
    folder = str(league.folder)
    options = ("--expected", "mine.yaml", "--inventory", folder, "--output", "new/tasks.json")
    done = Shell(league.folder / "elsewhere").run("gaps", "scan", *options)
    assert done.code == 0, done.err
    assert (league.folder / "elsewhere/new/tasks.json").is_file()


def test_what_can_not_be_looked_at_is_not_called_missing(
    league: Shell, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert league.run("gaps", "scan").code == 0
    gaps = league.folder / "inventory/gaps.json"
    before = gaps.read_bytes()
    (league.folder / "raw/rosters/2024-25/bos.json").unlink()
    (league.folder / "raw/rosters/2023-24").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    done = league.run("gaps", "scan")
    assert done.code == 1 and "nobody knows what is missing there" in done.err and "--anyway" in done.err
    assert "raw/rosters/2023-24: a link leads out of the inventory" in done.err
    assert gaps.read_bytes() == before
    assert league.run("gaps", "scan", "--dry-run").code == league.run("gaps", "coverage").code == 1
    assert league.run("gaps", "scan", "--anyway").code == 0
    assert gaps.read_bytes() != before


def test_coverage_is_a_table_that_fits_a_terminal(league: Shell) -> None:
    done = league.run("gaps", "coverage")
    assert done.code == 0, done.err
    head, *rows = [line.split() for line in done.out.splitlines()]
    assert head == ["source", "type", "partition", "expected", "present", "%", "state", "newest"]
    assert rows[1][:7] == ["league", "box_scores", "2023-24", "2", "3", "100", "complete"]
    assert rows[5][:7] == ["league", "rosters", "2024-25", "3", "1", "33.33", "partial"]
    assert max(map(len, done.out.splitlines())) <= 80
    told = league.run("gaps", "coverage", "--json").json
    assert told["coverage"][1]["surplus"] == 1


def test_show_tells_what_is_in_a_file_and_what_is_not_understood(league: Shell) -> None:
    assert league.run("gaps", "scan").code == 0
    done = league.run("gaps", "show")
    assert done.code == 0 and "by scraper: 7 league_scraper" in done.out
    assert "7 gaps (1 CRITICAL, 1 HIGH, 1 MEDIUM, 4 LOW), 45 minutes in inventory/gaps.json" in done.out
    entry = {"id": "x", "priority": "URGENT", "source": "league", "scraper": "s"}
    put(league, "other.json", json.dumps({"tasks": [entry, {**entry, "priority": "low"}]}))
    done = league.run("gaps", "show", "other.json")
    assert done.code == 3 and "tasks.0 (x) can't be understood: The priority 'URGENT' is none of" in done.err
    told = league.run("gaps", "show", "other.json", "--json").json
    assert (told["total_tasks"], told["by_priority"]["LOW"], told["problems"][0]["place"]) == (1, 1, "tasks.0")


def test_where_there_is_nothing_it_says_what_to_do(shell: Shell) -> None:
    done = shell.run("gaps", "scan")
    assert done.code == 2 and "config/expected_coverage.yaml" in done.err
    done = shell.run("gaps", "show")
    assert done.code == 2 and "`tarantella gaps scan` writes one" in done.err
    put(shell, "config/expected_coverage.yaml", EXPECTED)
    done = shell.run("gaps", "scan", "--inventory", "nowhere")
    assert done.code == 2 and "There is no folder nowhere" in done.err
    done = shell.run("gaps", "scan")
    assert done.code == 0 and "Is it the right folder?" in done.err
    put(shell, "config/expected_coverage.yaml", EXPECTED.replace("freshness_days", "freshness_day"))
    done = shell.run("gaps", "coverage")
    assert done.code == 2 and "`freshness_days` is probably meant" in done.err
    todo = "expected_coverage: {a: {partitions: {days: {from: 2999-01-01}}, data_types: {b: {path_patterns: '{day}'}}}}"
    put(shell, "config/expected_coverage.yaml", todo)
    for command in ("scan", "coverage"):
        done = shell.run("gaps", command)
        assert done.code == 0 and "Nothing is expected yet" in done.err
    assert json.loads((shell.folder / "inventory/gaps.json").read_text())["tasks"] == []


def test_days_end_by_the_clock_of_the_setting(shell: Shell) -> None:
    todo = "expected_coverage: {a: {partitions: {days: {last: 1}}, data_types: {b: {path_patterns: '{day}'}}}}"
    put(shell, "config/expected_coverage.yaml", todo)
    days = [
        shell.run("gaps", "coverage", "--json", TARANTELLA_TIMEZONE=zone).json["coverage"][0]["partition"]
        for zone in ("Pacific/Kiritimati", "Etc/GMT+12")
    ]
    assert days[0] > days[1]
