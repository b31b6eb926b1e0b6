"""The command line over PostgreSQL: everything that works on a file works there, and no password is shown."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.acceptance.command import LOOPBACK, Done, Shell
from tests.postgres import PASSWORD, Server
from tests.site import tree_path

VARIABLE = "TARANTELLA_DATABASE_URL"


@pytest.fixture
def url(postgres_server: Server) -> str:
    """Of a database without tables, over TCP and with a password."""
    return postgres_server.tcp_url(postgres_server.new_database("template0"))


@pytest.fixture
def remote(shell: Shell, url: str) -> Shell:
    """A folder whose commands use that database."""
    (shell.folder / ".env").write_text(f"{VARIABLE}={url}\n")
    return shell


def shown(*ended: Done) -> str:
    return "".join(done.out + done.err for done in ended)


def test_a_run_is_crawled_listed_explained_exported_retried_and_deleted(remote: Shell, site: str) -> None:
    links = f"{site}/links?hrefs=/item/1|/item/2|/missing|/flaky?n=1"
    crawl = remote.run("scrape", links, "--depth", "2", "--backoff", "0", "--engines", "2", *LOOPBACK)
    assert crawl.code == 3, crawl.err
    [run] = remote.runs()
    assert (run["status"], run["counts"]["done"], run["records"]) == ("partial", 4, 4)
    assert run["disk_bytes"] > 1_000
    table = remote.run("runs", "list")
    assert "kB" in table.out
    show = remote.run("runs", "show", run["id"][-12:])
    assert "the page does not exist (not_found)" in show.out
    events = remote.run("runs", "events", "latest", "--json")
    assert [event["sequence"] for event in events.json] == list(range(1, len(events.json) + 1))
    failed = remote.run("runs", "pages", "latest", "--state", "failed", "--json")
    assert [page["url"] for page in failed.json] == [f"{site}/missing"]
    explained = remote.run("runs", "explain", "latest", f"{site}/item/1", "--json")
    assert explained.json["found_on"] == links
    exported = remote.run("export", "latest", "-o", "-")
    assert len([json.loads(line) for line in exported.out.splitlines()]) == 4
    again = remote.run("runs", "retry-failed", "latest", "--quiet")
    assert again.code == 3
    deleted = remote.run("runs", "delete", "latest", "--yes")
    assert deleted.code == 0, deleted.err
    assert remote.runs() == []
    assert not (remote.folder / "data" / "tarantella.db").exists()
    everything = shown(crawl, table, show, events, failed, explained, exported, again, deleted)
    assert PASSWORD not in everything


def test_a_killed_crawl_goes_on_at_once_and_nothing_is_lost(remote: Shell, site: str) -> None:
    start = f"{site}{tree_path(2, 4, (), 700)}"
    process = remote.start("scrape", start, "--depth", "all", "--concurrency", "2", *LOOPBACK)
    remote.until(lambda run: run["counts"]["done"] > 0)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert remote.runs()[0]["status"] == "paused"
    resumed = remote.run("runs", "resume", "latest", "--json")
    assert resumed.code == 0, resumed.err
    assert (resumed.json["counts"]["done"], resumed.json["records"]) == (21, 21)


def test_the_option_comes_before_the_environment_and_hints_name_it_without_the_password(
    shell: Shell, site: str, url: str
) -> None:
    done = shell.run(
        "scrape", f"{site}/missing", "--database-url", url, *LOOPBACK, **{VARIABLE: "postgresql://nowhere/"}
    )
    assert done.code == 1
    assert "--database-url" in done.err
    assert PASSWORD not in done.err
    assert len(shell.run("runs", "list", "--json", "--database-url", url).json) == 1


def test_the_doctor_and_the_settings_show_no_password(remote: Shell) -> None:
    doctor = remote.run("doctor")
    assert doctor.code == 0, doctor.out
    assert "psycopg" in doctor.out
    assert "PostgreSQL" in doctor.out
    facts = remote.run("doctor", "--json")
    assert {check["name"]: check["health"] for check in facts.json}["database"] == "ok"
    settings, as_json, help_ = (
        remote.run("config", "show"),
        remote.run("config", "show", "--json"),
        remote.run("scrape", "--help"),
    )
    assert "127.0.0.1" in settings.out
    assert "postgresql://" in " ".join(help_.out.split())
    assert PASSWORD not in shown(doctor, facts, settings, as_json, help_)


def test_a_server_that_is_not_there_is_one_line_and_no_trace(shell: Shell) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/crawls"
    for command in (("scrape", "example.com"), ("runs", "list"), ("runs", "list", "-vv"), ("export", "latest")):
        done = (
            shell.run(*command, "--database-url", url, "--log-file", "log")
            if command[0] == "scrape"
            else shell.run(*command, "--database-url", url)
        )
        assert done.code == 1, command
        assert "postgresql://me@127.0.0.1:1/crawls does not answer" in done.err
        assert "s3cret" not in shown(done)
        assert ("Traceback" in done.err) is ("-vv" in command)
    doctor = shell.run("doctor", "--database-url", url)
    assert doctor.code == 1
    assert "s3cret" not in shown(doctor)
    log = shell.folder / "log"
    assert not log.exists() or "s3cret" not in log.read_text()


def test_other_processes_of_a_crawl_do_not_show_the_password_in_their_arguments(remote: Shell, site: str) -> None:
    process = remote.start("scrape", f"{site}/slow?s=20", "--engines", "2", *LOOPBACK)
    remote.until(lambda run: run["status"] == "running")
    mine = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not mine.exists():
        pytest.skip("There is no /proc to look into.")
    children = mine.read_text().split()
    assert children
    for child in children:
        assert PASSWORD.encode() not in Path(f"/proc/{child}/cmdline").read_bytes()
