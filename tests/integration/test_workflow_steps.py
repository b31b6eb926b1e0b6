"""Steps that come along, executed by a server's engine: runs of jobs, exports of what they found, and a folder that is cleaned up."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fault.processes import SiteProcess
from tests.serving import ServerProcess


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("server") / "data") as process:
        yield process


@pytest.fixture
def job(server: ServerProcess, site: SiteProcess) -> str:
    body = {"target_url": site.url_for("/list?n=4"), "fields": ["title"], "max_depth": 2, "strategy": "http"}
    made = server.client.post("/jobs", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def execute(server: ServerProcess, *steps: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The progress of a workflow that has ended, and its steps."""
    made = server.client.post("/workflows", json={"name": "nightly", "steps": list(steps), "start": True})
    assert made.status_code == 201, made.text
    path = f"/workflows/{made.json()['id']}"
    seen = server.until(lambda: server.get(f"{path}/progress"), lambda seen: seen["status"] != "running")
    return seen, server.get(f"{path}/tasks")


def test_row_162_a_run_is_made_exported_and_cleaned_up(server: ServerProcess, job: str) -> None:
    seen, (collected, *exported, cleaned) = execute(
        server,
        {"name": "../../collect", "job": job},
        {"name": "as csv", "handler": "export", "params": {"format": "csv"}, "dependencies": [0]},
        {"name": "as lines", "handler": "export", "params": {"of": "../../collect"}, "dependencies": ["as csv"]},
        {"name": "clean up", "handler": "clean_up", "dependencies": [2]},
    )
    assert seen["status"] == "completed", seen["tasks"]
    assert (collected["result"]["status"], collected["result"]["records"]) == ("completed", 5)
    files = [Path(file["path"]) for step in exported for file in step["result"]["files"]]
    assert [file.name for file in files] == ["0-------collect.csv", "0-------collect.jsonl"]
    workspace = server.data_dir / "workflows" / seen["workflow_id"]
    assert {file.parent for file in files} == {workspace}
    assert cleaned["result"] == {"removed_files": 2}
    assert not workspace.exists()


def test_an_export_has_the_records_of_the_run(server: ServerProcess, job: str) -> None:
    seen, (collected, exported) = execute(
        server,
        {"name": "collect", "job": job},
        {"name": "export", "handler": "export", "params": {"format": "csv"}, "dependencies": ["collect"]},
    )
    [file] = exported["result"]["files"]
    assert (file["records"], file["run_id"]) == (5, collected["run_id"])
    with Path(file["path"]).open(newline="") as text:
        assert len(list(csv.DictReader(text))) == 5
    assert server.client.delete(f"/workflows/{seen['workflow_id']}").status_code == 204
    assert not Path(file["path"]).exists()


@pytest.mark.parametrize(
    ("params", "why"), [({"format": "xlsx"}, "no format 'xlsx'"), ({"of": "nobody"}, "No step before this one")]
)
def test_what_can_not_be_exported_is_told_and_not_tried_again(
    server: ServerProcess, job: str, params: dict[str, str], why: str
) -> None:
    seen, (_, exported) = execute(
        server,
        {"name": "collect", "job": job},
        {"name": "export", "handler": "export", "params": params, "dependencies": [0]},
    )
    assert (seen["status"], exported["status"], exported["retry_count"]) == ("failed", "failed", 0)
    assert why in exported["error_message"]


def test_a_job_whose_run_fails_fails_its_step(server: ServerProcess) -> None:
    body = {"target_url": "http://127.0.0.1:9/", "fields": ["title"], "strategy": "http", "max_attempts": 1}
    job = server.client.post("/jobs", json=body).json()["id"]
    seen, (collected, after) = execute(
        server,
        {"name": "collect", "job": job, "max_retries": 0},
        {"name": "after", "handler": "clean_up", "dependencies": [0]},
    )
    assert (seen["status"], collected["status"], after["status"]) == ("failed", "failed", "skipped")
    assert "is failed" in collected["error_message"]
