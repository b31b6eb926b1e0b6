"""`tarantella scrape`, as a user meets it."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.command import LOOPBACK, Shell, end, environment
from tests.site import tree_path, tree_paths


def test_a_crawl_finds_every_page_once_and_says_where_the_records_are(shell: Shell, site: str) -> None:
    done = shell.run("scrape", site + tree_path(3, 3), "--depth", "all", *LOOPBACK)
    assert done.code == 0
    assert done.out == ""
    assert "40 = 40 done + 0 failed + 0 skipped" in done.err
    [file] = (shell.folder / "data" / "exports").iterdir()
    assert f"data/exports/{file.name}" in done.err
    found = [json.loads(line)["url"] for line in file.read_text().splitlines()]
    assert sorted(found) == sorted(site + path for path in tree_paths(3, 3))


def test_depth_1_is_the_page_itself_and_2_adds_what_it_links_to(shell: Shell, site: str) -> None:
    one = shell.run("scrape", f"{site}/list?n=5", "--json", *LOOPBACK)
    two = shell.run("scrape", f"{site}/list?n=5", "--depth", "2", "--json", *LOOPBACK)
    assert one.json["counts"]["done"] == 1
    assert one.json["refused"] == {"depth": 5}
    assert two.json["counts"]["done"] == 6


@pytest.mark.parametrize(
    ("paths", "fail_on", "code"),
    [
        (["/ok"], "partial", 0),
        (["/missing"], "partial", 1),
        (["/ok", "/missing"], "partial", 3),
        (["/ok", "/missing"], "failed", 0),
        (["/missing"], "failed", 1),
        (["/missing"], "never", 0),
    ],
)
def test_the_exit_code_tells_how_the_run_ended(
    shell: Shell, site: str, paths: list[str], fail_on: str, code: int
) -> None:
    done = shell.run("scrape", *(site + path for path in paths), "--fail-on", fail_on, "--quiet", *LOOPBACK)
    assert (done.code, done.out, done.err) == (code, "", "")


def test_json_is_one_object_and_nothing_else_on_stdout(shell: Shell, site: str) -> None:
    done = shell.run("scrape", f"{site}/ok", f"{site}/missing", "--json", *LOOPBACK)
    told = done.json
    assert (done.code, told["exit_code"], told["status"]) == (3, 3, "partial")
    assert told["counts"] == {"total": 2, "done": 1, "failed": 1, "skipped": 0, "pending": 0}
    assert told["failures"] == {"not_found": 1}
    assert Path(told["output"]).read_text().count("\n") == 1
    assert "the page does not exist (not_found)" in done.err


def test_records_go_to_stdout_when_asked_and_the_summary_stays_on_stderr(shell: Shell, site: str) -> None:
    done = shell.run("scrape", f"{site}/ok", "--output", "-", *LOOPBACK)
    assert [json.loads(line)["title"] for line in done.out.splitlines()] == ["OK"]
    assert "1 = 1 done" in done.err


def test_the_format_follows_the_name_of_the_output(shell: Shell, site: str) -> None:
    fields = ("--field", "price=.price", "--field", "amount=s.price@data-amount")
    assert shell.run("scrape", f"{site}/fields", "--output", "loom.csv", *fields, *LOOPBACK).code == 0
    assert shell.run("scrape", f"{site}/fields", "--output", "loom.db", *fields, *LOOPBACK).code == 0
    with (shell.folder / "loom.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert row["amount"] == "65.00"
    with closing(sqlite3.connect(shell.folder / "loom.db")) as database:
        assert database.execute("SELECT amount FROM records").fetchall() == [("65.00",)]


def test_addresses_come_from_a_file_and_from_stdin(shell: Shell, site: str) -> None:
    lines = f"# my pages\n\n{site}/item/1\n  {site}/item/2  \n"
    (shell.folder / "urls.txt").write_text(lines)
    from_file = shell.run("scrape", "--urls-file", "urls.txt", "--json", *LOOPBACK)
    from_stdin = shell.run("scrape", f"{site}/item/3", "--urls-file", "-", "--json", *LOOPBACK, stdin=lines)
    assert from_file.json["counts"]["done"] == 2
    assert from_stdin.json["counts"]["done"] == 3


def test_a_bad_line_is_reported_with_its_number_and_no_run_is_left(shell: Shell, site: str) -> None:
    (shell.folder / "urls.txt").write_text(f"{site}/ok\n# fine\nftp://example.com/file\n")
    done = shell.run("scrape", "--urls-file", "urls.txt", *LOOPBACK)
    assert done.code == 2
    assert "Line 3 of urls.txt" in done.err
    assert shell.runs() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("https://user:hunter2@example.com/",),
        ("example.com", "--field", "price=:::["),
        ("example.com", "--depht", "2"),
        ("example.invalid", "--include", ""),
    ],
    ids=" ".join,
)
def test_nonsense_is_refused_in_words_and_leaves_no_run(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell.run("scrape", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "rror: " in done.err
    assert "Traceback" not in done.err
    assert "hunter2" not in done.err
    assert shell.runs() == []


def test_a_private_network_is_denied_and_the_option_that_opens_it_is_told(shell: Shell, site: str) -> None:
    done = shell.run("scrape", f"{site}/ok")
    assert done.code == 1
    assert "\n  --allow-network 127.0.0.1/32\n" in done.err


def test_secrets_are_told_to_nobody(shell: Shell, site: str) -> None:
    done = shell.run(
        "scrape",
        f"{site}/echo",
        "--header",
        "Authorization: Bearer hunter2secret",
        "--log-file",
        "log.jsonl",
        "-vv",
        "--json",
        *LOOPBACK,
    )
    shown = shell.run("runs", "show", "latest").out + shell.run("runs", "show", "latest", "--json").out
    told = done.out + done.err + shown + (shell.folder / "log.jsonl").read_text()
    assert "hunter2secret" not in told
    assert "headers Authorization (values hidden)" in shown
    assert "hunter2secret" in Path(done.json["output"]).read_text(), "the site was sent the header, and echoed it"


def test_a_deadline_ends_the_run_as_partial(shell: Shell, site: str) -> None:
    path = tree_path(4, 4, delay_ms=200)
    done = shell.run("scrape", site + path, "--depth", "all", "--timeout-seconds", "2", "--json", *LOOPBACK)
    told = done.json
    assert (done.code, told["status"]) == (3, "partial")
    assert told["skips"]["deadline"] > 0
    assert told["counts"]["total"] == told["counts"]["done"] + told["counts"]["skipped"]


def test_settings_are_the_defaults_and_options_come_first(shell: Shell, site: str) -> None:
    (shell.folder / "tarantella.toml").write_text('max_pages = 3\nallow_networks = ["127.0.0.0/8"]\n')
    by_setting = shell.run("scrape", f"{site}/list?n=9", "--depth", "2", "--json")
    by_option = shell.run("scrape", f"{site}/list?n=9", "--depth", "2", "--max-pages", "5", "--json")
    assert by_setting.json["counts"]["done"] == 3
    assert by_option.json["counts"]["done"] == 5
    assert "[default: 3]" in shell.run("scrape", "--help").out


def test_two_engines_finish_what_one_would(shell: Shell, site: str) -> None:
    hosts = [site.replace("127.0.0.1", f"127.0.0.{number}") for number in range(1, 5)]
    starts = [host + tree_path(2, 4, delay_ms=20) for host in hosts]
    done = shell.run("scrape", *starts, "--depth", "all", "--engines", "2", "--json", *LOOPBACK)
    assert done.code == 0
    assert done.json["counts"]["done"] == 4 * 21
    assert "rror" not in done.err


def test_a_pipe_gets_plain_lines_and_no_escape_codes(shell: Shell, site: str) -> None:
    done = shell.run("scrape", f"{site}/slow?s=3", *LOOPBACK, FORCE_COLOR="")
    assert "[0:02] fetching: 0 done, 0 failed, 0 skipped, 1 queued" in done.err
    assert "\x1b" not in done.err


def test_in_the_c_locale_everything_is_ascii(shell: Shell, site: str) -> None:
    long = f"{site}/missing/{'x' * 200}"
    done = shell.run("scrape", long, f"{site}/ok", *LOOPBACK, LC_ALL="C")
    assert done.code == 3
    assert done.err.isascii()
    assert "xxx...xxx" in done.err


def test_a_reader_that_goes_away_is_no_error(shell: Shell, site: str) -> None:
    shell.run("scrape", f"{site}/list?n=2000", "--depth", "2", "--quiet", "--concurrency", "50", *LOOPBACK)
    process = subprocess.Popen(
        [sys.executable, "-m", "tarantella", "export", "latest", "--output", "-"],
        cwd=shell.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    done = end(process)
    assert (done.code, done.err) == (141, "")
