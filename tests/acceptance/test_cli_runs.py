"""`tarantella runs` and `tarantella export`: what was done can be seen, explained, repeated and deleted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import LOOPBACK, Shell


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A folder in which two items, a missing page and one that fails once were crawled."""
    shell = Shell(tmp_path_factory.mktemp("crawled"))
    links = f"{site}/links?hrefs=/item/1|/item/2|/missing|/flaky?n=1|mailto:me"
    done = shell.run("scrape", links, "--depth", "2", "--backoff", "0", "--quiet", *LOOPBACK)
    assert done.code == 3, done.err
    yield shell


def test_an_empty_list_says_what_to_do(shell: Shell) -> None:
    done = shell.run("runs", "list")
    assert (done.code, done.out) == (0, "")
    assert "tarantella scrape example.com" in done.err
    assert shell.runs() == []


def test_the_list_shows_each_run_and_its_numbers(crawled: Shell) -> None:
    [run] = crawled.runs()
    assert run["counts"]["total"] == sum(run["counts"][state] for state in ("done", "failed", "skipped", "pending"))
    header, row = crawled.run("runs", "list").out.splitlines()
    assert header.split() == "run status start done failed skip left records started took disk".split()
    assert row.startswith(f"{run['id'][-12:]}  partial")
    assert crawled.run("runs", "list", "--status", "failed", "--json").json == []


@pytest.mark.parametrize("how", ["whole", "end", "latest"])
def test_a_run_is_found_by_its_id_the_end_of_it_or_as_the_latest(crawled: Shell, how: str) -> None:
    run_id = crawled.runs()[0]["id"]
    name = {"whole": run_id, "end": run_id[-12:], "latest": "latest"}[how]
    assert crawled.run("runs", "show", name, "--json").json["id"] == run_id


def test_jobs_and_tasks_are_found_by_a_part_of_their_id_as_runs_are(shell: Shell, site: str) -> None:
    job = shell.run("jobs", "create", site, "--json", TARANTELLA_ALLOW_NETWORKS="127.0.0.0/8").json["id"]
    task = shell.run("tasks", "submit", site, "--json").json["task_id"]
    assert job[:24] != task[:24]
    for part in (job, job[:24], job[-12:], job[-12:-4], "latest"):
        assert shell.run("jobs", "show", part, "--json").json["id"] == job
    for part in (task[:24], task[-12:], "latest"):
        assert shell.run("tasks", "show", part, "--json").json["task_id"] == task
    for noun in ("job", "task"):
        done = shell.run(f"{noun}s", "show", "ffffffffffff")
        told = f"There is no {noun} 'ffffffffffff'. `tarantella {noun}s list` shows those that there are."
        assert (done.code, done.err) == (2, f"error: {told}\n")
    assert shell.run("jobs", "delete", "latest", "--yes").code == 2


def test_a_run_that_there_is_not_gives_2_and_says_where_to_look(crawled: Shell) -> None:
    for command in (("runs", "show"), ("runs", "pages"), ("runs", "resume"), ("runs", "delete"), ("export",)):
        done = crawled.run(*command, "ffffffffffff")
        assert done.code == 2
        assert done.err == "error: There is no run 'ffffffffffff'. `tarantella runs list` shows those that there are.\n"


def test_show_tells_why_pages_failed_and_links_were_not_followed(crawled: Shell) -> None:
    told = crawled.run("runs", "show", "latest").out
    assert "the page does not exist (not_found)" in told
    assert "links not followed: 1 not http or https" in told


def test_pages_can_be_chosen_by_state_and_reason(crawled: Shell) -> None:
    failed = crawled.run("runs", "pages", "latest", "--state", "failed", "--json").json
    assert [page["reason"] for page in failed] == ["not_found"]
    assert crawled.run("runs", "pages", "latest", "--reason", "not_found", "--json").json == failed
    table = crawled.run("runs", "pages", "latest", "--limit", "2")
    assert len(table.out.splitlines()) == 3
    assert "--limit shows more" in table.err


def test_events_tell_the_history_in_order(crawled: Shell) -> None:
    events = crawled.run("runs", "events", "latest", "--json").json
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert [events[0]["message"], events[-1]["message"]] == ["Run created", "Run completed"]
    followed = crawled.run("runs", "events", "latest", "--follow", "--json").out
    assert [json.loads(line) for line in followed.splitlines()] == events


def test_explain_tells_where_a_page_was_found_and_each_attempt(crawled: Shell, site: str) -> None:
    told = crawled.run("runs", "explain", "latest", f"{site}/missing").out
    assert f"It was found on {site}/links" in told
    assert "1. " in told
    assert "over http/1.1: answered 404" in told
    assert "It failed, because the page does not exist: not_found" in told
    assert crawled.run("runs", "explain", "latest", "/missing").out == told
    unknown = crawled.run("runs", "explain", "latest", f"{site}/never-linked")
    assert (unknown.code, "is not a page of this run" in unknown.err) == (2, True)


def test_explain_names_the_pattern_that_kept_a_link_out(shell: Shell, site: str) -> None:
    excluded = ("--depth", "2", "--exclude", "*/item/2", "--exclude", "*/never")
    shell.run("scrape", f"{site}/list?n=3", *excluded, "--quiet", *LOOPBACK)
    done = shell.run("runs", "explain", "latest", "/item/2")
    assert (done.code, "The pattern '*/item/2' excludes it." in done.err) == (2, True), done.err


def test_a_run_can_be_exported_again_in_another_format(crawled: Shell) -> None:
    done = crawled.run("export", "latest", "--format", "json", "--output", "again.json")
    assert done.code == 0
    records = json.loads((crawled.folder / "again.json").read_text())
    assert len(records) == crawled.runs()[0]["records"]
    told = crawled.run("export", "latest", "--format", "csv", "--json").json
    assert Path(told["output"]).name.endswith(".csv")
    assert told["complete"] is True


def test_retry_failed_tries_again_only_what_failed(shell: Shell, site: str) -> None:
    flaky = f"{site}/flaky?n=1&key={shell.folder.name}"
    first = shell.run("scrape", flaky, f"{site}/ok", "--attempts", "1", "--json", *LOOPBACK)
    assert (first.code, first.json["failures"]) == (3, {"bad_response": 1})
    again = shell.run("runs", "retry-failed", "latest", "--json")
    assert again.code == 0, again.err
    assert (again.json["id"], again.json["status"]) == (first.json["id"], "completed")
    assert (again.json["requests"], again.json["records"]) == (3, 2)
    assert Path(again.json["output"]).read_text().count("\n") == 2


def test_the_speed_counts_the_pages_that_this_command_asked_for(shell: Shell, site: str) -> None:
    first = shell.run("scrape", f"{site}/list?n=400", "--depth", "2", "--max-pages", "2", f"{site}/missing", *LOOPBACK)
    assert _pages(first.err) < 20, first.err
    again = shell.run("runs", "retry-failed", "latest")
    assert _pages(again.err) > 0, again.err


def _pages(summary: str) -> float:
    """How many pages make so many a second in that time."""
    [(seconds, speed)] = re.findall(r"time +([\d.]+) s, ([\d,.]+) pages/s", summary)
    return max(float(seconds), 0.05) * float(speed.replace(",", ""))


def test_retry_failed_of_a_complete_run_is_refused(shell: Shell, site: str) -> None:
    shell.run("scrape", f"{site}/ok", "--quiet", *LOOPBACK)
    done = shell.run("runs", "retry-failed", "latest")
    assert done.code == 2
    assert "no failed pages" in done.err


def test_deleting_has_to_be_confirmed_and_takes_the_run_away(shell: Shell, site: str) -> None:
    shell.run("scrape", f"{site}/ok", "--quiet", *LOOPBACK)
    asked = shell.run("runs", "delete", "latest")
    assert asked.code == 2
    assert "--yes" in asked.err
    assert len(shell.runs()) == 1
    assert shell.run("runs", "delete", "latest", "--yes").code == 0
    assert shell.runs() == []
