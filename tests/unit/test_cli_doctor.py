"""What the doctor looks at, and what it makes of it."""

from __future__ import annotations

import asyncio
import re
import resource
import sqlite3
import time
import tomllib
from functools import partial
from pathlib import Path

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.struct import replace
from tarantella.services import doctor
from tarantella.services.app import App
from tarantella.services.doctor import LIBRARIES, Check, Health
from tarantella.settings import Settings, load

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def examined(settings: Settings) -> dict[str, Check]:
    checks = asyncio.run(doctor.examine(settings, open_app, " --data-dir here", " --data-dir here"))
    assert all(check.remedy for check in checks if check.health is not Health.OK)
    return {check.name: check for check in checks}


def test_the_doctor_knows_every_library_that_is_needed() -> None:
    needed = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    assert set(LIBRARIES) == {re.split(r"[<>=!~ ;\[]", name)[0] for name in needed}


def test_a_missing_library_fails_and_one_that_is_only_faster_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LIBRARIES", {"no-such-thing": ("magic", True), "no-such-speed": ("speed", False)})
    found = examined(load())
    assert found["no-such-thing"].health is Health.FAIL
    assert found["no-such-speed"].health is Health.WARN
    assert "pip install no-such-speed" in str(found["no-such-speed"].remedy)


@pytest.mark.parametrize(("limit", "health"), [(64, Health.FAIL), (512, Health.WARN), (4_096, Health.OK)])
def test_too_few_open_files_are_found(monkeypatch: pytest.MonkeyPatch, limit: int, health: Health) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, 4_096))
    assert examined(load())["open files"].health is health


@pytest.mark.parametrize(
    ("version", "health"), [((3, 34, 0), Health.FAIL), ((3, 40, 1), Health.OK), ((3, 52, 0), Health.OK)]
)
def test_an_sqlite_that_is_too_old_is_found(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int], health: Health
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    found = examined(load())["SQLite"]
    assert found.health is health
    assert ("3.51.3" in found.finding) is (version == (3, 40, 1))


@pytest.mark.parametrize(
    ("free", "health"), [(50_000_000, Health.FAIL), (500_000_000, Health.WARN), (5_000_000_000, Health.OK)]
)
def test_a_disk_that_is_nearly_full_is_found(monkeypatch: pytest.MonkeyPatch, free: int, health: Health) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert examined(load())["disk"].health is health


def test_a_clock_that_stands_long_ago_or_behind_the_runs_is_found(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    from tarantella.domain.spec import Spec
    from tarantella.services.submit import submit

    asyncio.run(submit(replace(app, now=lambda: time.time() + 7_200), Spec(), ["https://example.com/"]))
    assert examined(app.settings)["time"].health is Health.WARN
    monkeypatch.setattr("time.time", lambda: 1_000_000.0)
    assert examined(load())["clock"].health is Health.FAIL


def test_a_run_that_nobody_works_on_is_pointed_at_with_a_command_that_works(app: App) -> None:
    from tarantella.domain.spec import Spec
    from tarantella.services.submit import submit
    from tarantella.store import workers

    command = workers.WorkerInfo("somebody", None, "here", 1, "0")
    app.database.write_now(partial(workers.register, worker=command, now=app.now()))
    run_id = asyncio.run(submit(app, Spec(), ["https://example.com/"], keeper="somebody"))
    app.database.write_now(lambda tx: tx.execute("DELETE FROM workers"))
    found = examined(app.settings)["abandoned runs"]
    assert found.health is Health.WARN
    assert f"tarantella runs resume {run_id[-12:]} --data-dir here" in str(found.remedy)


def test_runs_that_wait_for_engines_that_are_not_there_are_pointed_at(app: App) -> None:
    from tarantella.domain.spec import Spec
    from tarantella.services.submit import submit
    from tarantella.store import workers

    for _ in range(7):
        asyncio.run(submit(app, Spec(), ["https://example.com/"]))
    found = examined(app.settings)["queue"]
    assert (found.health, found.finding) == (
        Health.FAIL,
        "2 queued, 5 running, and no worker lives that would work on them",
    )
    assert found.remedy == "Start one: tarantella serve --data-dir here"
    engine = workers.WorkerInfo("an engine", None, "elsewhere", 1, "0")
    app.database.write_now(partial(workers.register, worker=engine, now=app.now()))
    assert examined(app.settings)["queue"].health is Health.OK
    # Its machine is gone, and nobody is there to find it dead.
    app.database.write_now(lambda tx: tx.execute("UPDATE workers SET beat_at = beat_at - 180"))
    checks = examined(app.settings)
    assert (checks["queue"].health, checks["workers"].health) == (Health.FAIL, Health.WARN)
    assert "its machine is gone" in str(checks["workers"].remedy)


def test_a_folder_without_a_database_is_healthy_and_left_alone(tmp_path: Path) -> None:
    settings = load(data_dir=tmp_path / "deep" / "down")
    found = examined(settings)
    assert all(check.health is not Health.FAIL for check in found.values())
    assert not (tmp_path / "deep").exists()
