"""`--cache` and `tarantella cache`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.command import LOOPBACK, Done, Shell
from tests.site import tree_path


def records(done: Done) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.out.splitlines()]


def test_two_engines_fill_a_cache_and_the_next_run_asks_nobody(shell: Shell, site: str) -> None:
    starts = [site.replace("127.0.0.1", f"127.0.0.{number}") + tree_path(2, 3) for number in (1, 2, 3)]
    command = ("scrape", *starts, "--depth", "all", "--cache", "--engines", "2", "--json", *LOOPBACK)
    first, second = shell.run(*command).json, shell.run(*command).json
    assert first["counts"] == second["counts"]
    assert (first["requests"], second["requests"]) == (first["counts"]["done"], 0)
    told = shell.run("cache", "show", "--json").json
    assert told["folder"] == str(shell.folder / "data" / "cache")
    # One for each page, and robots.txt of three hosts.
    assert told["answers"] == first["counts"]["done"] + 3
    assert not list((shell.folder / "data" / "cache").glob("*/.*"))


def test_records_say_where_they_came_from_until_the_cache_is_cleared(shell: Shell, site: str) -> None:
    command = ("scrape", f"{site}/ok", "--cache-dir", "kept", "--output", "-", *LOOPBACK)
    assert [records(shell.run(*command))[0]["from_cache"] for _ in range(2)] == [False, True]
    assert "over cache: answered 200" in shell.run("runs", "explain", "latest", f"{site}/ok").out
    shown = shell.run("cache", "show", "--cache-dir", "kept")
    assert (shown.code, shown.out.startswith("2 answers, ")) == (0, True)
    assert shell.run("cache", "clear", "--cache-dir", "kept").out.startswith("removed: 2 answers, ")
    assert shell.run("cache", "show", "--cache-dir", "kept").out == "0 answers, 0 B in kept\n"
    assert records(shell.run(*command))[0]["from_cache"] is False


def test_a_stale_answer_is_asked_for_again(shell: Shell, site: str) -> None:
    command = ("scrape", f"{site}/ok", "--cache", "--cache-ttl", "0", "--output", "-", *LOOPBACK)
    assert [records(shell.run(*command))[0]["from_cache"] for _ in range(2)] == [False, False]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--cache-ttl", "5"), "--cache-ttl is for a cache. Add --cache."),
        (("--cache", "--cache-ttl", "-1"), "cache_ttl is -1.0"),
        (("--cache-dir", "file/cache"), "can't be used as a cache"),
    ],
)
def test_a_cache_that_makes_no_sense_is_refused(shell: Shell, options: tuple[str, ...], complaint: str) -> None:
    Path(shell.folder / "file").write_text("not a folder")
    done = shell.run("scrape", "example.com", *options)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err
