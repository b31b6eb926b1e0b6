"""Jobs that run by themselves, as users meet them: commands, a server that dies, and a look at what is wrong."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Done, Shell
from tests.fault.processes import SiteProcess
from tests.serving import OVER, ServerProcess


def commands(folder: Path) -> Callable[..., Done]:
    return partial(Shell(folder).run, TARANTELLA_ALLOW_NETWORKS="127.0.0.0/8")


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


def bring_forward(data_dir: Path, seconds: float) -> None:
    """Let the times of all jobs have come so long ago."""
    with closing(sqlite3.connect(data_dir / "tarantella.db", timeout=30)) as database, database:
        database.execute("UPDATE schedules SET next_at = ?", (time.time() - seconds,))


def test_row_42_a_scheduled_job_fires_and_what_passed_while_the_server_was_dead_is_made_up_for_once(
    site: SiteProcess, tmp_path: Path
) -> None:
    data_dir = tmp_path / "server" / "data"
    data_dir.parent.mkdir()
    body = {"target_url": site.url_for("/ok"), "fields": ["title"], "frequency": "hourly", "strategy": "http"}

    def schedule(server: ServerProcess) -> dict[str, Any]:
        return dict(server.get(f"/schedules/{job['id']}"))

    with ServerProcess(data_dir) as server:
        job = server.client.post("/jobs", json=body).json()
        assert schedule(server)["runs"] == 0
        bring_forward(data_dir, 1)
        first = server.until(lambda: schedule(server), lambda seen: seen["runs"] == 1)["last_run_id"]
        server.until(lambda: server.get(f"/jobs/runs/{first}"), lambda run: run["status"] in OVER)
        server.kill()
    bring_forward(data_dir, 3 * 3_600)
    with ServerProcess(data_dir) as server:
        seen = server.until(lambda: schedule(server), lambda seen: seen["runs"] > 1)
        assert (seen["runs"], seen["missed"], seen["late_seconds"]) == (2, 3, 0.0)
        again = server.until(lambda: server.get(f"/jobs/runs/{seen['last_run_id']}"), lambda run: run["status"] in OVER)
        assert again["status"] == "completed", again["error_message"]
        assert len(server.get(f"/jobs/{job['id']}/runs")) == 2
    assert len([hit for hit in site.log()["hits"] if hit["path"] == "/ok"]) == 2


def test_a_command_sets_shows_and_removes_when_a_job_runs(tmp_path: Path) -> None:
    run = commands(tmp_path)
    run("jobs", "create", "http://127.0.0.1:9/", "--strategy", "http")
    told = run("schedules", "list")
    assert told.code == 0
    assert "No job runs by itself" in told.err
    told = run("schedules", "set", "latest", "daily at 06:30", "--timezone", "Europe/Berlin")
    assert told.code == 0
    assert "At 06:30 every day" in told.out
    assert "Nobody works here yet" in told.err
    assert "06:30" in run("schedules", "list").out
    assert run("schedules", "pause", "latest", "--json").json["paused"] is True
    assert run("schedules", "resume", "latest", "--json").json["paused"] is False
    wrong = run("schedules", "set", "latest", "sometimes")
    assert wrong.code == 2
    assert "makes no sense" in wrong.err
    assert "On demand" not in run("schedules", "show", "latest").out
    assert "on demand now" in run("schedules", "remove", "latest").err
    assert run("schedules", "show", "latest").code == 2
    made = run("jobs", "create", "http://127.0.0.1:9/", "--frequency", "every 6 hours", "--json").json
    assert made["frequency"] == "every 6 hours"


def test_a_command_that_works_on_a_run_of_its_own_keeps_no_times_and_doctor_says_that_nobody_does(
    site: SiteProcess, tmp_path: Path
) -> None:
    run = commands(tmp_path)
    run("jobs", "create", "http://127.0.0.1:9/", "--strategy", "http", "--frequency", "hourly")
    bring_forward(tmp_path / "data", 600)
    assert run("scrape", site.url_for("/ok"), "--text", "none").code == 0
    assert run("schedules", "show", "latest", "--json").json["runs"] == 0
    told = run("doctor")
    assert told.code == 1
    assert "1 late, one by 10 minutes: no server is there that keeps them" in " ".join(told.out.split())
