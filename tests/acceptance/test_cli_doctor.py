"""`tarantella doctor` and `tarantella config`: what is wrong, what is set, and from where."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from tests.acceptance.command import LOOPBACK, Shell


def health(shell: Shell, name: str, *options: str) -> str:
    done = shell.run("doctor", "--json", *options)
    [found] = [check for check in done.json if check["name"] == name]
    assert done.code == (1 if any(check["health"] == "fail" for check in done.json) else 0)
    assert found["health"] == "ok" or found["remedy"]
    return str(found["health"])


def test_a_fresh_folder_is_healthy_and_is_left_as_it_was(shell: Shell) -> None:
    done = shell.run("doctor")
    assert done.code == 0
    assert "All is well." in done.err
    assert list(shell.folder.iterdir()) == []


def test_a_database_that_was_used_is_sound(shell: Shell, site: str) -> None:
    shell.run("scrape", f"{site}/ok", "--quiet", *LOOPBACK)
    assert health(shell, "database") == "ok"
    assert health(shell, "workers") == "ok"


def test_a_damaged_database_is_found(shell: Shell, site: str) -> None:
    shell.run("scrape", f"{site}/ok", "--quiet", *LOOPBACK)
    (shell.folder / "data" / "tarantella.db").write_bytes(b"this is not a database" * 100)
    assert health(shell, "database") == "fail"
    listed = shell.run("runs", "list")
    assert (listed.code, "Traceback" in listed.err) == (1, False)


def test_a_database_of_a_newer_version_is_refused_in_words(shell: Shell, site: str) -> None:
    shell.run("scrape", f"{site}/ok", "--quiet", *LOOPBACK)
    with closing(sqlite3.connect(shell.folder / "data" / "tarantella.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    assert health(shell, "schema") == "fail"
    listed = shell.run("runs", "list")
    assert (listed.code, "Upgrade Tarantella" in listed.err) == (1, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_can_not_be_written_is_found(shell: Shell) -> None:
    (shell.folder / "data").mkdir(mode=0o500)
    assert health(shell, "data directory") == "fail"


def test_the_broker_can_be_named_as_for_servers_and_workers(shell: Shell, site: str) -> None:
    broker = ("--broker-url", "redis://:hidden@127.0.0.1:9/1")
    [found] = [check for check in shell.run("doctor", "--json", *broker).json if check["name"] == "broker"]
    assert (found["health"], "127.0.0.1:9" in found["finding"]) == ("warn", True)
    assert ".." not in found["finding"]
    assert shell.run("tasks", "submit", site).code == 0
    said = shell.run("doctor", *broker).out
    assert "tarantella worker --broker-url 'redis://***@127.0.0.1:9/1'" in " ".join(said.split())
    assert "hidden" not in said


def test_a_file_where_the_data_directory_should_be_is_found(shell: Shell) -> None:
    (shell.folder / "data").write_text("not a folder")
    assert health(shell, "data directory") == "fail"


def test_interrupted_runs_are_pointed_at(shell: Shell, site: str) -> None:
    process = shell.start("scrape", f"{site}/slow?s=15", *LOOPBACK)
    shell.until(lambda run: run["status"] == "running")
    process.kill()
    process.communicate()
    assert health(shell, "interrupted runs") == "warn"


def test_config_tells_where_each_setting_came_from(shell: Shell) -> None:
    (shell.folder / "tarantella.toml").write_text("concurrency = 20\nper_host = 4\nengines = 2\n")
    (shell.folder / ".env").write_text("TARANTELLA_PER_HOST=3\n")
    shown = shell.run("config", "show", "--json", TARANTELLA_MAX_PAGES="77", APP_DEFAULT_MAX_ATTEMPTS="9").json
    found = {setting["name"]: (setting["value"], setting["origin"]) for setting in shown}
    assert found["max_pages"] == (77, "environment")
    assert found["attempts"] == (9, "environment")
    assert found["per_host"] == (3, ".env")
    assert found["concurrency"] == (20, "tarantella.toml")
    assert found["data_dir"] == ("data", "default")


@pytest.mark.parametrize("toml", ["concurrency = 0", "no_such_setting = 1", "this is = = not toml"])
def test_a_setting_that_can_not_be_used_is_named_and_nothing_starts(shell: Shell, toml: str) -> None:
    (shell.folder / "tarantella.toml").write_text(toml)
    for command in (("scrape", "example.com"), ("runs", "list"), ("config", "show")):
        done = shell.run(*command)
        assert done.code == 2, command
        assert "Traceback" not in done.err
        assert "concurrency" in done.err or "no_such_setting" in done.err or "tarantella.toml" in done.err
    assert not (shell.folder / "data").exists()
