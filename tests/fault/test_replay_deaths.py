"""A replay whose engine dies: the list is followed on from where it was, and nothing is stored twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarantella.bootstrap import open_app
from tarantella.settings import load
from tests.contract.world import World
from tests.fault.processes import SiteProcess
from tests.serving import OVER, ServerProcess
from tests.site import feed


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path) as process:
        yield process


@pytest.mark.parametrize("way", ["graphql", "page"])
def test_after_all_was_killed_the_list_is_followed_on_and_each_record_is_there_once(
    site: SiteProcess, tmp_path: Path, way: str
) -> None:
    data_dir = tmp_path / "data"
    with ServerProcess(data_dir) as server:
        ask = server.client
        said = {"target_url": site.url_for("/feed/list"), "fields": ["name", "price"], "per_host": 1}
        job = ask.post("/jobs", json=said).json()["id"]
        har = feed.har(site.url_for(""), way, wait=0.2)
        assert ask.post("/recordings", json={"job_id": job, "har": har}).status_code == 201
        run = ask.post(f"/jobs/{job}/runs").json()["id"]
        server.until(lambda: server.get(f"/jobs/runs/{run}"), lambda seen: seen["counts"]["done"] >= 2)
        server.kill()
    with ServerProcess(data_dir) as again:
        ended = again.until(lambda: again.get(f"/jobs/runs/{run}"), lambda seen: seen["status"] in OVER)
        assert (ended["status"], ended["counts"]["done"]) == ("completed", 5)
        records = again.get(f"/jobs/runs/{run}/records", limit=200)
    names = Counter(record["fields"]["name"] for record in records)
    assert names == Counter(f"Loom & Sons No. {number}" for number in range(1, feed.GOODS + 1))
    app = open_app(load(data_dir=data_dir))
    try:
        World(app.database).check()
    finally:
        app.close()
