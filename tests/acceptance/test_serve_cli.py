"""The command line at a server: every endpoint has a command, and a command finds the server by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.command import Done, Shell
from tests.fault.processes import SiteProcess
from tests.serving import ServerProcess

EQUIVALENTS = {
    "GET /health": "system health",
    "GET /healthz": "system health",
    "GET /readyz": "system ready",
    "GET /metrics": "system metrics",
    "GET /system": "system show",
    "GET /scraping/status": "system tasks",
    "POST /scraping/async-scrape": "tasks submit",
    "GET /scraping/tasks": "tasks list",
    "GET /scraping/tasks/{task_id}/status": "tasks show",
    "GET /scraping/tasks/{task_id}/results": "tasks results",
    "DELETE /scraping/tasks/{task_id}": "tasks cancel",
    "POST /jobs": "jobs create",
    "GET /jobs": "jobs list",
    "GET /jobs/{job_id}": "jobs show",
    "PATCH /jobs/{job_id}": "jobs update",
    "DELETE /jobs/{job_id}": "jobs delete",
    "POST /jobs/{job_id}/runs": "jobs run",
    "GET /jobs/{job_id}/runs": "jobs runs",
    "GET /jobs/runs": "runs list",
    "GET /jobs/runs/{run_id}": "runs show",
    "DELETE /jobs/runs/{run_id}": "runs delete",
    "GET /jobs/runs/{run_id}/progress": "runs progress",
    "GET /jobs/runs/{run_id}/progress/stream": "runs progress --follow",
    "GET /jobs/runs/{run_id}/events": "runs events",
    "GET /jobs/runs/{run_id}/events/stream": "runs events --follow",
    "GET /jobs/runs/{run_id}/records": "export",
    "GET /jobs/runs/{run_id}/export": "export",
    "GET /jobs/runs/{run_id}/pages": "runs pages",
    "GET /jobs/runs/{run_id}/explain": "runs explain",
    "POST /jobs/runs/{run_id}/pause": "runs pause",
    "POST /jobs/runs/{run_id}/resume": "runs resume",
    "POST /jobs/runs/{run_id}/cancel": "runs cancel",
    "POST /jobs/runs/{run_id}/retry-failed": "runs retry-failed",
    "POST /jobs/preview": "preview",
    "POST /jobs/runs/{run_id}/re-extract": "re-extract",
    "GET /schedules": "schedules list",
    "GET /schedules/preview": "schedules preview",
    "GET /schedules/{job_id}": "schedules show",
    "PUT /schedules/{job_id}": "schedules set",
    "DELETE /schedules/{job_id}": "schedules remove",
    "POST /schedules/{job_id}/pause": "schedules pause",
    "POST /schedules/{job_id}/resume": "schedules resume",
    "GET /gaps": "queue list",
    "GET /gaps/queues": "queue overview",
    "GET /gaps/{gap_id}": "queue show",
    "POST /gaps/retry": "queue retry",
    "GET /sites": "sites list",
    "GET /sites/{host}": "sites show",
    "PATCH /sites/{host}": "sites set",
    "POST /sites/{host}/reset-breaker": "sites reset-breaker",
    "GET /jobs/runs/{run_id}/artifacts": "runs artifacts",
    "GET /jobs/runs/{run_id}/artifacts/{artifact_id}": "runs artifacts",
    "GET /recordings": "recordings list",
    "POST /recordings": "recordings import",
    "GET /recordings/{recording_id}": "recordings show",
    "DELETE /recordings/{recording_id}": "recordings delete",
    "GET /sessions": "sessions list",
    "PUT /sessions/{name}": "sessions import",
    "DELETE /sessions/{name}": "sessions delete",
    "POST /workflows": "workflows create",
    "POST /workflows/check": "workflows check",
    "GET /workflows": "workflows list",
    "GET /workflows/{workflow_id}": "workflows show",
    "DELETE /workflows/{workflow_id}": "workflows delete",
    "GET /workflows/{workflow_id}/progress": "workflows progress",
    "GET /workflows/{workflow_id}/tasks": "workflows steps",
    "GET /workflows/tasks/{step_id}": "workflows step",
    "GET /workflows/{workflow_id}/events": "workflows events",
    "GET /workflows/{workflow_id}/events/stream": "workflows events --follow",
    "POST /workflows/{workflow_id}/start": "workflows start",
    "POST /workflows/{workflow_id}/pause": "workflows pause",
    "POST /workflows/{workflow_id}/resume": "workflows resume",
    "POST /workflows/{workflow_id}/cancel": "workflows cancel",
    "POST /workflows/{workflow_id}/recover": "workflows recover",
    "GET /workflows/templates": "workflows templates list",
    "GET /workflows/templates/{name}": "workflows templates show",
    "PUT /workflows/templates/{name}": "workflows templates set",
    "DELETE /workflows/templates/{name}": "workflows templates delete",
    "GET /jobs/{job_id}/workflow": "workflows list",
    "GET /workers": "workers list",
    "GET /workers/wakes": "workers wakes",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    with SiteProcess(tmp_path_factory.mktemp("site")) as process:
        yield process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("server") / "data") as process:
        yield process


@dataclass(frozen=True, slots=True)
class At(Shell):
    """A shell elsewhere, whose commands talk to the server over HTTP alone."""

    url: str = ""

    def ask(self, *arguments: str) -> Done:
        done = self.run(*arguments, "--json", TARANTELLA_SERVER=self.url)
        assert done.code == 0, (arguments, done.err)
        assert not (self.folder / "data").exists()
        return done


@pytest.fixture
def at(tmp_path: Path, server: ServerProcess) -> At:
    return At(tmp_path, url=server.url)


def typed(site: SiteProcess, path: str) -> str:
    """An address of the site as people type it."""
    return site.url_for(path).removeprefix("http://")


def test_every_endpoint_has_a_command(server: ServerProcess) -> None:
    schema = server.get("/openapi.json")
    described = {f"{method.upper()} {path}" for path, item in schema["paths"].items() for method in item}
    assert described - set(EQUIVALENTS) == set()
    for words in set(EQUIVALENTS.values()):
        done = Shell(server.data_dir.parent).run(*words.split(), "--help")
        assert (done.code, "--server" in done.out) == (0, True), words


def test_a_page_is_looked_at_and_a_run_looked_at_again_from_elsewhere(at: At, site: SiteProcess) -> None:
    seen = at.ask("preview", site.url_for("/ok"), "--field", "heading=h1", "--find", "ok").json
    assert [each["name"] for each in seen["fields"]] == ["heading"]
    job = at.ask("jobs", "create", typed(site, "/ok"), "--field", "title", "--set", "keep_bodies=true").json["id"]
    run = at.ask("jobs", "run", job).json["id"]
    at.ask("runs", "events", run, "--follow")
    new = at.ask("re-extract", run, "--field", "heading=h1").json
    assert (new["status"], new["records"]) == ("completed", 1)
    assert new["id"] != run


def test_a_task_is_submitted_watched_and_collected_from_elsewhere(at: At, site: SiteProcess) -> None:
    task = at.ask("tasks", "submit", typed(site, "/list?n=3"), "--depth", "2").json["task_id"]
    events = at.ask("runs", "events", task, "--follow").out.splitlines()
    assert json.loads(events[0])["message"] == "Run created"
    assert json.loads(events[-1])["message"] == "Run completed"
    assert at.ask("tasks", "show", task).json["completed_items"] == 4
    assert len(at.ask("tasks", "results", task, "--errors").json["results"]) == 4
    assert task in [each["task_id"] for each in at.ask("tasks", "list", "--status", "completed").json]
    assert at.ask("tasks", "cancel", task).json["status"] == "completed"
    at.ask("runs", "progress", task, "--follow")
    assert at.ask("runs", "progress", task).json["phase"] == "completed"


def test_a_workflow_is_followed_from_elsewhere(at: At) -> None:
    file = at.folder / "flow.yaml"
    file.write_text("{name: flow, steps: [{name: one, handler: clean_up}, {name: two, handler: clean_up}]}")
    flow = at.ask("workflows", "create", str(file), "--start").json["id"]
    events = [json.loads(line) for line in at.ask("workflows", "events", flow, "--follow").out.splitlines()]
    assert (events[0]["message"], events[-1]["message"]) == ("Workflow created", "Workflow completed")
    assert events == at.ask("workflows", "events", flow).json


def test_a_job_is_made_run_changed_and_deleted_from_elsewhere(at: At, site: SiteProcess) -> None:
    url = site.url_for("/fields")
    job = at.ask("jobs", "create", url, "--field", "title", "--field", "price=.price", "--set", "max_depth=1").json[
        "id"
    ]
    run = at.ask("jobs", "run", job).json["id"]
    at.ask("runs", "events", run, "--follow")
    assert at.ask("runs", "show", run[-12:]).json["status"] == "completed"
    assert [each["id"] for each in at.ask("jobs", "runs", job).json] == [run]
    assert run in [each["id"] for each in at.ask("runs", "list", "--status", "completed").json]
    assert [page["url"] for page in at.ask("runs", "pages", run).json] == [url]
    assert at.ask("runs", "explain", run, url).json["page"]["status"] == "done"
    record = json.loads(at.run("export", run, "-o", "-", TARANTELLA_SERVER=at.url).out)
    assert record["fields"]["price"] == ["€ 49.90", "€ 65.00"]
    at.ask("export", run, "--format", "csv", "-o", "records.csv")
    assert "49.90" in (at.folder / "records.csv").read_text()
    assert at.ask("jobs", "update", job, "--name", "Looms").json["version"] == 2
    assert at.ask("jobs", "show", job).json["name"] == "Looms"
    unsure = at.run("jobs", "delete", job, TARANTELLA_SERVER=at.url)
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    at.ask("jobs", "delete", job, "--yes")
    assert job not in [each["id"] for each in at.ask("jobs", "list").json]


def test_a_run_is_steered_from_elsewhere(at: At, site: SiteProcess, server: ServerProcess) -> None:
    run = at.ask("tasks", "submit", site.url_for("/tree?delay_ms=700&depth=3&fan=4"), "--depth", "4").json["task_id"]
    server.until(lambda: server.status(run), lambda seen: seen["completed_items"] > 0)
    at.ask("runs", "pause", run)
    server.until(lambda: server.get(f"/jobs/runs/{run}"), lambda seen: seen["status"] == "paused")
    at.ask("runs", "resume", run)
    server.until(lambda: server.get(f"/jobs/runs/{run}"), lambda seen: seen["status"] == "running")
    at.ask("runs", "cancel", run)
    server.until(lambda: server.get(f"/jobs/runs/{run}"), lambda seen: seen["status"] == "cancelled")
    assert at.ask("runs", "retry-failed", run).json["pages"] > 0
    assert server.until_over(run)["status"] == "completed"
    unsure = at.run("runs", "delete", run, TARANTELLA_SERVER=at.url)
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    assert at.ask("runs", "delete", run, "--yes").json == {"id": run, "deleted": True}
    assert run not in [each["id"] for each in at.ask("runs", "list").json]


def test_sites_and_the_whole_are_there_from_elsewhere(at: At) -> None:
    at.ask("sites", "set", "a.example", "--per-host", "2", "--pause")
    assert at.ask("sites", "show", "a.example").json["policy"]["paused"] is True
    at.ask("sites", "reset-breaker", "a.example")
    assert "a.example" in [each["host"] for each in at.ask("sites", "list", "--paused").json]
    assert at.ask("system", "health").json["status"] == "ok"
    assert at.ask("system", "ready").json["status"] == "ready"
    assert at.ask("system", "show").json["engines"][0]["state"] == "running"
    assert "active_tasks" in at.ask("system", "tasks").json
    assert at.ask("system", "metrics").json["tarantella_run_slots"] == 5


def test_a_command_on_the_servers_data_finds_it_and_hands_over(site: SiteProcess, server: ServerProcess) -> None:
    here = Shell(server.data_dir.parent)
    run = server.submit(site.url_for("/tree?delay_ms=700&depth=3&fan=4"), max_depth=4)
    here.run("runs", "pause", run)
    server.until(lambda: server.get(f"/jobs/runs/{run}"), lambda seen: seen["status"] == "paused")
    refused = here.run("runs", "resume", run, "--output", "here.csv")
    assert (refused.code, "the server goes on with the run" in refused.err) == (2, True)
    resumed = here.run("runs", "resume", run)
    assert (resumed.code, f"at {server.url}." in resumed.err) == (0, True)
    # To a server that has just seen how quick this host can be, it is slow now, and gets one request at a time.
    assert server.until_over(run, seconds=150)["status"] == "completed"


def test_a_server_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    done = Shell(tmp_path).run("runs", "list", "--server", "http://127.0.0.1:1")
    assert done.code == 1
    assert "The server at http://127.0.0.1:1 can't be reached: Connection refused." in done.err


def test_what_the_server_refuses_is_told_with_its_remedy(at: At) -> None:
    done = at.run("tasks", "submit", "ftp://example.com/", TARANTELLA_SERVER=at.url)
    assert done.code == 2
    assert "is not an http or https address" in done.err
