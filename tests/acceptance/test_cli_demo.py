"""`tarantella demo` crawls its own site and finds exactly what is there."""

from __future__ import annotations

import shlex
import signal
import time
from pathlib import Path

import orjson
import pytest

from tarantella.demo import EXPECTED, EXPECTED_WITH_BROWSER
from tarantella.demo.content import PUPPET_THEATRE
from tests.acceptance.command import Shell, end
from tests.browsers import program_or_skip


def test_the_demo_comes_out_as_expected_in_less_than_a_minute(shell: Shell) -> None:
    began = time.monotonic()
    done = shell.run("demo", "--json")
    assert done.code == 0, done.err
    assert time.monotonic() - began < 60
    told = done.json
    assert (told["status"], told["exit_code"]) == ("partial", 0)
    assert told["counts"]["done"] == EXPECTED.done
    assert {**told["failures"], **told["skips"]} == dict(EXPECTED.reasons)
    assert f"Expect {EXPECTED.done} done" in done.err
    assert "The demo came out as expected." in done.err


@pytest.mark.slow
def test_with_a_browser_the_demo_shows_a_replay(shell: Shell) -> None:
    done = shell.run("demo", TARANTELLA_BROWSER=program_or_skip())
    assert done.code == 0, done.err
    assert "by replay       60 records" in done.err
    assert "the same ones" in done.err
    [recording] = shell.run("recordings", "list", "--json").json
    assert (recording["items"], recording["paging"]["parameter"], recording["uses"]) == ("stalls", "part", 1)


def test_without_a_browser_the_demo_says_that_the_replay_is_not_shown(shell: Shell) -> None:
    done = shell.run("demo")
    assert "fail here: The browser is switched off" in done.err
    assert "not shown, because the first run needs a browser." in done.err


def test_a_site_that_is_kept_is_there_until_ctrl_c_and_the_commands_that_are_told_work(shell: Shell) -> None:
    process = shell.start("demo", "--keep", "--data-dir", "elsewhere")
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line.strip())
        if "Ctrl-C ends it" in line:
            break
    at = next(number for number, line in enumerate(said) if line.startswith("The site stays at http://127.0.0.1:"))
    told = [
        shlex.split(line.partition(" -m tarantella ")[2] or line.partition("tarantella ")[2])
        for line in said[at + 1 : -1]
    ]
    assert [command[0] for command in told] == ["scrape", "scrape", "preview"]
    for command in told:
        quick = ("--backoff", "0.1") if command[0] == "scrape" else ()
        assert shell.run(*command, *quick).code in (0, 3), command
    assert {run["status"] for run in shell.run("runs", "list", "--json", "--data-dir", "elsewhere").json} <= {
        "completed",
        "partial",
    }
    process.send_signal(signal.SIGINT)
    assert end(process).code == 0


def test_a_quiet_demo_says_nothing_and_its_run_can_be_looked_at(shell: Shell) -> None:
    done = shell.run("demo", "--quiet", "--data-dir", "elsewhere")
    assert (done.code, done.out, done.err) == (0, "", "")
    [run] = shell.run("runs", "list", "--json", "--data-dir", "elsewhere").json
    assert run["records"] == EXPECTED.done


def test_with_a_browser_the_demo_gets_what_is_refused_to_others(shell: Shell) -> None:
    done = shell.run("demo", "--json", TARANTELLA_BROWSER=program_or_skip())
    assert done.code == 0, done.err
    assert done.json["counts"]["done"] == EXPECTED_WITH_BROWSER.done
    events = shell.run("runs", "events", done.json["id"], "--json").json
    climbed = {each["meta"]["reason"] for each in events if each["message"] == "Strategy escalated"}
    assert {"blocked", "needs_render"} <= climbed
    records = [orjson.loads(line) for line in Path(done.json["output"]).read_bytes().splitlines()]
    [theatre] = [record["title"] for record in records if record["url"].endswith(PUPPET_THEATRE)]
    assert theatre.startswith("The puppet theatre")
    assert "went on in a browser:\n" in done.err
    assert f"  {PUPPET_THEATRE} the page is empty until its scripts run" in done.err
