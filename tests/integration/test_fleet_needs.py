"""Pages that need a browser, in a fleet of which only some workers have one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browsers import program_or_skip
from tests.fault.processes import SiteProcess, until
from tests.fleet import Fleet
from tests.serving import OVER


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


def test_they_wait_for_a_worker_that_has_one_and_go_there(fleet: Fleet, site: SiteProcess, tmp_path: Path) -> None:
    browser = {"TARANTELLA_BROWSER": program_or_skip()}
    with fleet.serve() as server, fleet.work(1):
        [plain] = fleet.until_workers(1)
        assert "browser" not in plain["has"]
        made = server.client.post(
            "/jobs", json={"target_url": site.url_for("/spa"), "fields": ["title"], "strategy": "browser"}
        )
        run_id = server.client.post(f"/jobs/{made.json()['id']}/runs").json()["id"]
        until(lambda: bool(fleet.rows("SELECT 1 FROM lanes WHERE needs = 'browser'")), 30, "nobody says what it lacks")
        told = fleet.asked("doctor", data_dir=tmp_path / "alone")
        assert "1 needs a browser, which no worker has" in told
        with fleet.work(1, env=browser):
            found = fleet.until_workers(2)
            assert sorted("browser" in each["has"] for each in found) == [False, True], found
            seen = server.until(lambda: server.get(f"/jobs/runs/{run_id}"), lambda run: run["status"] in OVER)
            assert (seen["status"], seen["resolved_strategy"]) == ("completed", "browser")
            until(lambda: not fleet.rows("SELECT 1 FROM lanes WHERE needs IS NOT NULL"), 20, "the need stays")
