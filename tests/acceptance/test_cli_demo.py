"""`tarantella demo` crawls its own site and finds exactly what is there."""

from __future__ import annotations

import time

from tarantella.demo import EXPECTED
from tests.acceptance.command import Shell


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


def test_a_quiet_demo_says_nothing_and_its_run_can_be_looked_at(shell: Shell) -> None:
    done = shell.run("demo", "--quiet", "--data-dir", "elsewhere")
    assert (done.code, done.out, done.err) == (0, "", "")
    [run] = shell.run("runs", "list", "--json", "--data-dir", "elsewhere").json
    assert run["records"] == EXPECTED.done
