"""`tarantella queue` as people use it: rows 107 to 126, 128, 133 to 135 of what it must do, and bad input."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Done, Shell
from tests.fault.processes import SiteProcess
from tests.scripts import Scripts

ECHO = "import sys; print(sys.argv[1:])"
WORKS = "print('saved 3 records')"
PRIORITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW")


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


def listed(shell: Shell, *more: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in shell.run("queue", "list", "--json", *more).json}


def begun(done: Done) -> list[str]:
    """What was begun, in that order."""
    return re.findall(r"^(task_\d+) (?:CRITICAL|HIGH|MEDIUM|LOW) ", done.err, re.MULTILINE)


def test_the_most_urgent_come_first_and_within_a_priority_the_first(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", WORKS)
    for number, priority in enumerate(["LOW", "HIGH", "CRITICAL", "MEDIUM", "CRITICAL", "LOW"]):
        scripts.gap("works", priority, part=number)
    done = shell.run("queue", "run", "--max-concurrent", "1")
    assert done.code == 0, done.err
    assert begun(done) == ["task_000003", "task_000005", "task_000002", "task_000004", "task_000001", "task_000006"]
    assert "Completed: 6 (100.0%)" in done.out and "CRITICAL: 2 completed, 0 failed" in done.out


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(shell: Shell, scripts: Scripts) -> None:
    scripts.script("marks", "open('was-here', 'w')", accepted_parameters=["season"])
    scripts.gap("marks", "CRITICAL", season="2024-25")
    scripts.gap("unknown", "LOW")
    done = shell.run("queue", "run", "--dry-run")
    assert done.code == 0
    assert "Critical: 1" in done.out and "High: 0" in done.out and "Skipped: 2" in done.out
    assert "scripts/etl/marks.py --season 2024-25" in done.out
    assert not (shell.folder / "was-here").exists() and not (shell.folder / "data").exists()
    plan = shell.run("queue", "run", "--dry-run", "--json").json
    assert (plan["total"], plan["skipped"]) == (2, 2)
    assert [task["status"] for task in plan["tasks"]] == ["skipped", "skipped"]
    assert [task["failure"] for task in plan["tasks"]] == [None, "config"]


def test_scripts_are_told_what_they_accept(shell: Shell, scripts: Scripts) -> None:
    scripts.script("echo", ECHO, accepted_parameters=["season", "game_ids"])
    name = scripts.gap("echo", season="2024-25", game_ids=[401579404, 401579405], data_type="box")
    evil = scripts.gap("echo", season="--delete-all")
    assert shell.run("queue", "run").code == 0
    told = shell.run("queue", "show", name, "--json").json
    assert told["stdout"] == "['--season', '2024-25', '--game-ids', '401579404,401579405']\n"
    assert shell.run("queue", "show", evil, "--json").json["stdout"] == "['--season=--delete-all']\n"


def test_a_script_can_read_its_gap(shell: Shell, scripts: Scripts) -> None:
    scripts.script("reads", "import json, os, sys; print(json.load(sys.stdin)['season'], os.environ['TARANTELLA_GAP'])")
    name = scripts.gap("reads", season="2024-25")
    assert shell.run("queue", "run").code == 0
    assert shell.run("queue", "show", name, "--json").json["stdout"] == f"2024-25 {name}\n"


def test_scripts_are_found_in_three_folders_and_by_what_their_names_have_in_them(
    shell: Shell, scripts: Scripts
) -> None:
    for number, where in enumerate(("scripts/etl", "scripts/scrapers", "scripts")):
        scripts.script(f"one{number}", f"print({where!r})", where=where)
        scripts.gap(f"one{number}")
    scripts.script("league_async_scraper", "print('the league')")
    scripts.scrapers["league"] = {}
    scripts.script("cup_a", "")
    scripts.script("cup_b", "")
    scripts.scrapers["cup"] = {}
    scripts.script("one0", "print('scripts/etl')")
    fits, ambiguous = scripts.gap("league"), scripts.gap("cup")
    shell.run("queue", "run")
    found = listed(shell)
    assert [found[f"task_{number:06}"]["status"] for number in (1, 2, 3)] == ["completed"] * 3
    assert found[fits]["status"] == "completed"
    assert (found[ambiguous]["failure"], found[ambiguous]["status"]) == ("script", "failed")
    assert "cup_a.py" in found[ambiguous]["detail"] and "cup_b.py" in found[ambiguous]["detail"]


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/b", "-c", "..", "x\ny"])
def test_no_name_leads_out_of_the_folder_of_scripts(shell: Shell, scripts: Scripts, name: str) -> None:
    scripts.script("works", WORKS)
    (shell.folder / "evil.py").write_text("open('was-here', 'w')")
    scripts.scrapers[name] = {}
    scripts.script("works", WORKS)
    gap = scripts.gap(name)
    assert shell.run("queue", "run").code == 1
    assert listed(shell)[gap]["failure"] == "script"
    assert not (shell.folder / "was-here").exists()


def test_a_link_that_leads_out_of_the_folder_of_scripts_is_not_followed(shell: Shell, scripts: Scripts) -> None:
    (shell.folder / "evil.py").write_text("open('was-here', 'w')")
    scripts.script("works", WORKS)
    (shell.folder / "scripts" / "etl" / "linked.py").symlink_to(shell.folder / "evil.py")
    scripts.scrapers["linked"] = {}
    scripts.scrapers["named"] = {"script": "../" + shell.folder.name + "/../outside.py"}
    (shell.folder.parent / "outside.py").write_text("open('was-here', 'w')")
    scripts.script("works", WORKS)
    linked, named = scripts.gap("linked"), scripts.gap("named")
    assert shell.run("queue", "run").code == 1
    assert [listed(shell)[each]["failure"] for each in (linked, named)] == ["script", "script"]
    assert not (shell.folder / "was-here").exists()


def test_a_file_that_only_shares_a_part_of_its_name_is_no_script_of_a_scraper(shell: Shell, scripts: Scripts) -> None:
    scripts.script("scraper", "open('was-here', 'w')", where="scripts")
    scripts.scrapers["league_scraper"] = {}
    scripts.script("scraper", "open('was-here', 'w')", where="scripts")
    gap = scripts.gap("league_scraper")
    assert shell.run("queue", "run").code == 1
    assert listed(shell)[gap]["failure"] == "script"
    assert not (shell.folder / "was-here").exists()


def test_a_script_that_can_not_even_be_looked_for_costs_no_other(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", WORKS)
    (shell.folder / "scripts" / "etl" / "round.py").symlink_to("round.py")
    scripts.scrapers["round"] = {"script": "scripts/etl/round.py"}
    scripts.scrapers["long"] = {"script": "x" * 5_000}
    scripts.script("works", WORKS)
    lost = [scripts.gap("round"), scripts.gap("long")]
    works = scripts.gap("works")
    assert shell.run("queue", "run", "--dry-run").code == 0
    done = shell.run("queue", "run")
    assert done.code == 1 and "Traceback" not in done.err
    found = listed(shell)
    assert [found[each]["failure"] for each in lost] == ["script", "script"]
    assert found[works]["status"] == "completed"


def test_nothing_in_a_file_moves_the_cursor(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", "print('\\x1b[2J saved 3 records')")
    scripts.gap("works", part=1)
    for more in (
        {"id": "a\x1b[2Jb", "source": "\x1b[31m"},
        {"id": "c\x1b[2Jd", "priority": "\x1b[2J"},
        {"id": "\x9be"},
    ):
        scripts.tasks.append({**scripts.tasks[0], "part": len(scripts.tasks), **more})
    scripts.write()
    for command in (["run", "--dry-run"], ["run"], ["list"], ["show", "task_000001"], ["show", "a\x1b[2Jb"]):
        done = shell.run("queue", *command)
        assert not {"\x1b", "\x9b"} & set(done.out + done.err), command


def test_each_failure_says_why(shell: Shell, scripts: Scripts) -> None:
    scripts.script("silent", "")
    scripts.script("nothing", "print('collected 0 games')")
    scripts.script("limited", "import sys; sys.exit('Error: API rate limit exceeded')")
    scripts.script("broken", "import sys; print('so far so good'); raise ValueError('it broke')")
    scripts.script("killed", "import os; os.kill(os.getpid(), 9)")
    scripts.scrapers["missing"] = {}
    scripts.script("works", WORKS)
    expected = {
        "silent": "no_data",
        "nothing": "no_data",
        "limited": "rate_limited",
        "broken": "exit",
        "killed": "signal",
        "missing": "script",
        "unknown": "config",
    }
    gaps = {scripts.gap(name): failure for name, failure in expected.items()}
    done = shell.run("queue", "run")
    assert done.code == 1
    assert {name: each["failure"] for name, each in listed(shell).items()} == gaps
    broken = shell.run("queue", "show", "task_000004", "--json").json
    assert broken["stdout"] == "so far so good\n" and "ValueError: it broke" in broken["stderr"]
    assert broken["policy"]["retry"] and "exit code" in broken["policy"]["words"]
    counts = {row["failure"]: row["given_up"] for row in shell.run("queue", "failures", "--json").json}
    assert counts == {
        **dict.fromkeys(("timeout", "blocked", "network", "crash"), 0),
        **{failure: list(gaps.values()).count(failure) for failure in gaps.values()},
    }


def test_a_script_that_takes_too_long_dies_with_all_that_it_has_started(shell: Shell, scripts: Scripts) -> None:
    scripts.script(
        "hangs",
        """
        import os, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        plain = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
        apart = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], start_new_session=True)
        open("pids", "w").write(f"{os.getpid()} {plain.pid} {apart.pid}")
        print("hanging")
        time.sleep(120)
        """,
        timeout=1.5,
    )
    name = scripts.gap("hangs")
    assert shell.run("queue", "run").code == 1
    told = shell.run("queue", "show", name, "--json").json
    assert (told["failure"], told["detail"], told["stdout"]) == ("timeout", "it took longer than 1.5 s", "hanging\n")
    for pid in (shell.folder / "pids").read_text().split():
        state = Path(f"/proc/{pid}/stat")
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_scraper_says_how_often_it_is_tried(shell: Shell, scripts: Scripts) -> None:
    scripts.script(
        "third",
        """
        import pathlib, sys
        count = pathlib.Path("count")
        tries = int(count.read_text()) + 1 if count.exists() else 1
        count.write_text(str(tries))
        sys.exit("not yet") if tries < 3 else print("saved 1 record")
        """,
        retry={"max_attempts": 3, "base_delay": 0.05, "max_delay": 1},
    )
    name = scripts.gap("third")
    done = shell.run("queue", "run", "--json")
    assert done.code == 0 and (done.json["completed"], done.json["executions"]) == (1, 3)
    assert listed(shell)[name]["executions"] == 3
    assert done.err.count("is tried again: exit") == 2


def test_what_was_given_up_is_listed_and_taken_back(shell: Shell, scripts: Scripts) -> None:
    scripts.script(
        "fails",
        "import pathlib, sys; sys.exit(0 if pathlib.Path('mended').exists() and print('saved 1 row') is None else 3)",
    )
    name = scripts.gap("fails")
    assert shell.run("queue", "run").code == 1
    # What is given up is not done again by itself.
    again = shell.run("queue", "run")
    assert (again.code, begun(again)) == (0, []) and "Nothing is to be done" in again.err
    assert "exit code 3" in shell.run("queue", "list", "--status", "failed").out
    (shell.folder / "mended").touch()
    assert "none of those" in shell.run("queue", "retry", "--failure", "timeout").out
    assert shell.run("queue", "retry", "--failure", "exit", "--json").json == {"taken_back": 1}
    assert shell.run("queue", "run").code == 0
    assert listed(shell)[name]["status"] == "completed"


def test_one_priority_can_be_asked_for(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", WORKS)
    for number, priority in enumerate(PRIORITIES):
        scripts.gap("works", priority, part=number)
    done = shell.run("queue", "run", "--priority", "high", "--json")
    assert (done.json["total"], done.json["completed"]) == (1, 1)
    assert [each["status"] for each in listed(shell).values()] == ["pending", "completed", "pending", "pending"]


def peak(folder: Path) -> int:
    """How many were running at the same time, by what they wrote."""
    times = []
    for path in folder.glob("ran-*"):
        start, end = map(float, path.read_text().split())
        times += [(start, 1), (end, -1)]
    now = most = 0
    for _, change in sorted(times):
        now += change
        most = max(most, now)
    return most


SLOW = """
import os, sys, time
start = time.time(); time.sleep(0.4)
open(f"ran-{os.getpid()}", "w").write(f"{start} {time.time()}")
print("saved 1 record")
"""


def test_no_more_run_at_a_time_than_are_asked_for(shell: Shell, scripts: Scripts) -> None:
    scripts.script("slow", SLOW)
    for number in range(6):
        scripts.gap("slow", part=number)
    assert shell.run("queue", "run", "--max-concurrent", "3").code == 0
    assert peak(shell.folder) == 3


def test_no_more_of_a_scraper_run_at_a_time_than_it_allows(shell: Shell, scripts: Scripts) -> None:
    scripts.script("slow", SLOW, max_concurrent=2)
    for number in range(5):
        scripts.gap("slow", part=number)
    assert shell.run("queue", "run").code == 0
    assert peak(shell.folder) == 2


def test_the_summary_adds_up(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", WORKS)
    scripts.script("fails", "import sys; sys.exit(1)")
    for number in range(3):
        scripts.gap("works", PRIORITIES[number], part=number)
    scripts.gap("fails", "LOW")
    done = shell.run("queue", "run", "--json")
    told = done.json
    assert done.code == 1
    assert (told["total"], told["completed"], told["failed"], told["left"]) == (4, 3, 1, 0)
    assert told["success_rate"] == 0.75 and told["duration_seconds"] > 0
    for parts in (told["by_priority"], told["by_scraper"]):
        assert sum(each["completed"] for each in parts.values()) == 3
        assert sum(each["failed"] for each in parts.values()) == 1


def test_other_files_can_be_named(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", WORKS)
    scripts.gap("works")
    (shell.folder / "inventory" / "gaps.json").rename(shell.folder / "mine.json")
    (shell.folder / "config" / "scraper_config.yaml").rename(shell.folder / "mine.yaml")
    files = ("--task-queue", "mine.json", "--scraper-config", "mine.yaml")
    assert shell.run("queue", "run", *files).code == 0
    assert len(listed(shell, "--task-queue", "mine.json")) == 1 and listed(shell) == {}
    [queue] = shell.run("queue", "overview", "--json").json
    assert (Path(queue["queue"]).name, queue["completed"], queue["pending"]) == ("mine.json", 1, 0)
    assert "mine.json" in shell.run("queue", "overview").out


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "can't be read"), ('{"tasks": [', "line 1"), ("[]", "not a JSON object"), ('{"tasks": 1}', "no list")],
)
def test_a_queue_that_is_none_is_told_and_fails(shell: Shell, scripts: Scripts, content: str | None, told: str) -> None:
    scripts.script("works", WORKS)
    path = shell.folder / "inventory" / "gaps.json"
    path.parent.mkdir()
    if content is not None:
        path.write_text(content)
    done = shell.run("queue", "run")
    assert done.code == 1 and told in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "can't be read"),
        ("scrapers: [", "line 1"),
        ("other: 1", "no `scrapers`"),
        ("scrapers: {works: {timeout: -1}}", "scrapers.works.timeout is -1"),
        ("scrapers: {works: {max_concurrent: 0}}", "scrapers.works.max_concurrent is 0"),
        ("scrapers: {works: {rate_limit: {burst_size: 1}}}", "has no requests_per_second"),
        ("scrapers: {works: {accepted_parameters: season}}", "not a list of names"),
        ("scrapers: {works: 5}", "scrapers.works is 5"),
    ],
)
def test_a_file_of_scrapers_that_is_none_is_told_and_fails(
    shell: Shell, scripts: Scripts, content: str | None, told: str
) -> None:
    scripts.script("works", WORKS)
    scripts.gap("works")
    path = shell.folder / "config" / "scraper_config.yaml"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    done = shell.run("queue", "run")
    assert done.code == 1 and told in done.err and "Traceback" not in done.err


def test_entries_that_are_none_are_told_one_by_one_and_cost_no_other(shell: Shell, scripts: Scripts) -> None:
    scripts.script("works", WORKS)
    good = scripts.gap("works", part=1)
    scripts.tasks += [
        {**scripts.tasks[0], "id": "again"},
        {**scripts.tasks[0], "part": 2},
        {**scripts.tasks[0], "id": "urgent", "priority": "URGENT"},
        "nonsense",
    ]
    scripts.write()
    done = shell.run("queue", "run")
    assert done.code == 1
    assert "again says the same as one before it" in done.err
    assert "tasks.2 (task_000001): The id 'task_000001' was there before" in done.err
    assert "tasks.3 (urgent): The priority 'URGENT'" in done.err
    assert "tasks.4 (no id): It is not an object" in done.err
    assert {name: each["status"] for name, each in listed(shell).items()} == {good: "completed"}


def test_a_signal_lets_the_current_ones_finish_and_leaves_the_rest(shell: Shell, scripts: Scripts) -> None:
    scripts.script("slow", "import time; open('began', 'a').close(); time.sleep(1.5); print('saved 1 record')")
    names = [scripts.gap("slow", part=number) for number in range(3)]
    running = shell.start("queue", "run", "--max-concurrent", "1")
    until((shell.folder / "began").exists)
    running.terminate()
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    assert "Stopping: scripts that are running may finish" in err and "Left: 2" in out
    assert [listed(shell)[name]["status"] for name in names] == ["completed", "pending", "pending"]
    assert shell.run("queue", "run").code == 0
    assert {each["executions"] for each in listed(shell).values()} == {1}


def test_a_second_signal_ends_them_at_once(shell: Shell, scripts: Scripts) -> None:
    scripts.script("hangs", "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(120)")
    name = scripts.gap("hangs")
    running = shell.start("queue", "run")
    until(lambda: (shell.folder / "pid").exists() and (shell.folder / "pid").read_text() != "")
    running.terminate()
    time.sleep(0.7)  # two signals within half a second are one wish
    running.terminate()
    running.communicate(timeout=10)
    assert running.returncode == 130
    pid = int((shell.folder / "pid").read_text())
    until(lambda: not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z")
    (shell.folder / "scripts" / "etl" / "hangs.py").write_text(WORKS)
    assert shell.run("queue", "run").code == 0
    assert listed(shell)[name]["status"] == "completed"


def until(condition: Any, seconds: float = 30.0) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_endless_output_is_cut_and_secrets_are_blotted_out(shell: Shell, scripts: Scripts) -> None:
    scripts.script(
        "talks",
        """
        import os
        line = ("x" * 99 + "\\n") * 10_000
        for _ in range(60):
            print(line, end="")
        print("my token is", os.environ["SITE_TOKEN"], "at http://me:secret@127.0.0.1/")
        print("my database is postgresql://me:secret@127.0.0.1/db, my proxy socks5h://:secret@[::1]:9")
        print("saved 2 records")
        """,
    )
    name = scripts.gap("talks")
    assert shell.run("queue", "run", SITE_TOKEN="very-secret-token").code == 0
    told = shell.run("queue", "show", name, "--json").json
    assert len(told["stdout"]) <= 64 * 1024 and told["records"] == 2
    assert "very-secret-token" not in json.dumps(told) and "secret@" not in json.dumps(told)
    assert "my token is ***" in told["stdout"]


def test_help_has_examples_and_unknown_failures_are_told(shell: Shell) -> None:
    assert "tarantella queue run --dry-run" in shell.run("queue", "--help").out
    done = shell.run("queue", "list", "--failure", "nonsense")
    assert done.code == 2 and "rate_limited" in done.err
    assert "Nothing is in this queue" in shell.run("queue", "list").out + shell.run("queue", "list").err


def test_all_executions_of_all_scrapers_together_ask_a_site_only_as_often_as_they_may(
    shell: Shell, scripts: Scripts
) -> None:
    """Row 132, by what the site saw."""
    with SiteProcess(shell.folder) as site:
        asks = f"""
        import urllib.request
        for number in range(4):
            urllib.request.urlopen({site.url_for("/ok")!r} + f"?{{number}}").read()
        print("fetched 4 pages")
        """
        for name in ("one", "two"):
            scripts.script(name, asks, rate_limit={"requests_per_second": 5, "burst_size": 2})
            scripts.gap(name, part=1)
            scripts.gap(name, part=2)
        done = shell.run("queue", "run")
        assert done.code == 0, done.err + shell.run("queue", "list").out
        times = sorted(hit["start"] for hit in site.log()["hits"])
    assert len(times) == 16
    # Two at once, then five a second: the other fourteen take 2.8 s.
    assert times[-1] - times[0] > 2.5
    assert max(sum(first <= other < first + 1.0 for other in times) for first in times) <= 2 + 5 + 1
