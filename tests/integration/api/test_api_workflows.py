"""Workflows, over HTTP. Nobody executes anything here: what a step came to is settled through the store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import httpx2
import pytest

from tarantella.domain.access import Scope, scope_needed
from tarantella.domain.workflow import MOST_PARAM_BYTES, Definition, Step
from tarantella.services import workflows
from tarantella.services.app import App
from tarantella.services.workflows import Draft
from tarantella.store import workflow_tasks
from tarantella.store.tx import Tx
from tarantella.store.workflow_tasks import Kind, Verdict
from tests.integration.api.listening import watched
from tests.integration.api.live import serving
from tests.integration.api.talking import Talker

HERE = "http://127.0.0.1:9/"
UNKNOWN = "01999999-9999-7999-8999-999999999999"
JSON = {"Content-Type": "application/json"}
FINE = Verdict(result={"rows": 3})
BROKEN = Verdict(error="RuntimeError: http://me:canary@a.example/ is down")
FOR_GOOD = Verdict(error="it would come to the same", final=True)
DIAMOND: list[dict[str, Any]] = [
    {"name": "Collect", "task_type": "download", "handler": "export", "max_retries": 1, "timeout": 60},
    {"name": "Validate", "handler": "export", "dependencies": ["Collect"], "estimated_duration": 5},
    {"name": "Dedupe", "handler": "export", "dependencies": [0], "max_retries": 0},
    {"name": "Publish", "handler": "clean_up", "dependencies": ["Validate", 2], "params": {"of": "all"}},
]


def made(client: Talker, steps: Sequence[dict[str, Any]] = DIAMOND, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.post("/workflows", {"name": "Nightly", "steps": list(steps), **more})
    return found


def do(app: App, name: str, verdict: Verdict | None = FINE, seconds: float = 2.0) -> None:
    """Execute the step of this name that may begin, as an engine would; without a verdict it goes on and on."""

    def write(tx: Tx) -> None:
        later = app.now() + 1_000
        due = workflow_tasks.due(tx, Kind.HANDLER, None, later, 100)
        [task] = [each for each in due if each.task_name == name]
        claimed = workflow_tasks.begin(tx, task, owner=None, run_id=None, now=app.now() - seconds)
        assert claimed is not None
        if verdict is not None:
            assert workflow_tasks.settle(tx, claimed.task, verdict, app.now())

    asyncio.run(app.database.write(write))


def failed(client: Talker, app: App, **more: Any) -> str:
    """A workflow whose third step failed, so that the last one was skipped."""
    workflow = str(made(client, start=True, **more)["id"])
    for name, verdict in (("Collect", FINE), ("Dedupe", BROKEN), ("Validate", FINE)):
        do(app, name, verdict)
    return workflow


def states(workflow: dict[str, Any]) -> list[str]:
    return [step["status"] for step in workflow["steps"]]


# -- what there is


def test_row_136_and_138_a_workflow_is_as_it_was_described(client: Talker) -> None:
    workflow = made(client, metadata={"season": 2026}, max_recovery_attempts=2)
    assert client.get(f"/workflows/{workflow['id']}") == workflow
    assert (workflow["name"], workflow["metadata"], workflow["max_recovery_attempts"]) == (
        "Nightly",
        {"season": 2026},
        2,
    )
    assert (workflow["status"], workflow["progress"], workflow["total_steps"]) == ("pending", 0, 4)
    assert workflow["waits_for"] == "somebody who starts it"
    assert [step["dependencies"] for step in workflow["steps"]] == [[], [0], [0], [1, 2]]
    for said, step in zip(DIAMOND, workflow["steps"], strict=True):
        assert {**step, **said, "dependencies": step["dependencies"]} == step
        assert (step["status"], step["result"], step["celery_task_id"], step["run_id"]) == ("pending", {}, None, None)


def test_a_check_says_what_can_be_done_together_and_stores_nothing(client: Talker) -> None:
    seen = client.post("/workflows/check", {"name": "Nightly", "steps": DIAMOND})
    assert seen["order"] == [[0], [1, 2], [3]]
    assert client.get("/workflows") == []
    wrong = [*DIAMOND, {"name": "Publish", "handler": "export"}]
    problem = client.refused("POST", "/workflows/check", json={"name": "Nightly", "steps": wrong})
    assert (problem["status"], problem["field"]) == (422, "steps.4.name")
    assert client.refused("POST", "/workflows/check", json={"template": "none"})["status"] == 404
    job = {"name": "x", "steps": DIAMOND, "job_id": UNKNOWN}
    assert client.refused("POST", "/workflows/check", json=job)["status"] == 404


def test_row_139_and_140_a_workflow_belongs_to_a_job_that_there_is(client: Talker) -> None:
    assert (
        client.refused("POST", "/workflows", json={"name": "x", "steps": DIAMOND, "job_id": UNKNOWN})["status"] == 404
    )
    job = client.job(HERE)["id"]
    assert client.refused("GET", f"/jobs/{job}/workflow")["status"] == 404
    assert client.refused("GET", f"/jobs/{UNKNOWN}/workflow")["status"] == 404
    older, newer = made(client, job_id=job.upper())["id"], made(client, job_id=job)["id"]
    assert client.get(f"/jobs/{job}/workflow")["id"] == newer
    assert [each["id"] for each in client.get("/workflows", params={"job_id": job})] == [newer, older]
    made(client)
    assert len(client.get("/workflows", params={"job_id": job})) == 2


def test_row_159_a_job_shows_how_its_newest_workflow_stands(client: Talker, app: App) -> None:
    job = client.job(HERE)["id"]

    def seen() -> tuple[Any, ...]:
        found = client.get(f"/jobs/{job}")
        return found["workflow_id"], found["workflow_status"], found["workflow_progress"]

    assert "workflow_status" not in client.get(f"/jobs/{job}")
    workflow = made(client, job_id=job)["id"]
    assert seen() == (workflow, "pending", 0)
    client.post(f"/workflows/{workflow}/start")
    do(app, "Collect")
    assert seen() == (workflow, "running", 25)
    client.post(f"/workflows/{workflow}/cancel")
    assert seen() == (workflow, "cancelled", 25)


def test_row_160_a_job_takes_its_workflows_along_but_none_that_is_not_over(client: Talker) -> None:
    job = client.job(HERE)["id"]
    workflow = made(client, job_id=job)["id"]
    problem = client.refused("DELETE", f"/jobs/{job}")
    assert problem["status"] == 409
    assert f"POST /workflows/{workflow}/cancel" in problem["remedy"]
    client.post(f"/workflows/{workflow}/cancel")
    client.delete(f"/jobs/{job}")
    assert client.refused("GET", f"/workflows/{workflow}")["status"] == 404


def test_a_step_may_be_a_run_of_a_job(client: Talker) -> None:
    job = client.job(HERE)["id"]
    steps = [{"name": "Collect", "job": job.upper()}, {"name": "Export", "handler": "export", "dependencies": [0]}]
    workflow = made(client, steps, start=True)
    assert [(step["kind"], step["job"], step["handler"]) for step in workflow["steps"]] == [
        ("job", job, None),
        ("handler", None, "export"),
    ]
    assert workflow["waits_for"] == "a server that makes its run, to do step 0 (Collect)"
    for nonsense in (UNKNOWN, "nonsense", "\0", 5):
        body = {"name": "x", "steps": [DIAMOND[0], {"name": "y", "job": nonsense}]}
        problem = client.refused("POST", "/workflows", json=body)
        assert (problem["status"], problem["field"]) == (422, "steps.1.job")


# -- how one goes on


def test_row_142_and_154_progress_is_told_in_the_shape_that_clients_know(client: Talker, app: App) -> None:
    workflow = made(client, start=True)["id"]
    do(app, "Collect", seconds=7.0)
    do(app, "Validate", None)
    seen = client.get(f"/workflows/{workflow}/progress")
    asked_for = {
        *("workflow_id", "job_id", "status", "progress", "current_step", "total_steps", "completed_tasks"),
        *("failed_tasks", "running_tasks", "total_tasks", "recovery_attempts", "max_recovery_attempts"),
        *("started_at", "completed_at", "tasks"),
    }
    assert set(seen) == asked_for | {"waits_for"}
    assert set(seen["tasks"][0]) == {"id", "name", "type", "status", "retry_count", "error_message", "waits_for"}
    assert (seen["status"], seen["progress"], seen["current_step"]) == ("running", 25, 1)
    assert (seen["completed_tasks"], seen["running_tasks"], seen["failed_tasks"], seen["total_tasks"]) == (1, 1, 0, 4)
    assert (seen["tasks"][0]["type"], seen["tasks"][1]["type"]) == ("download", "task")
    assert [task["status"] for task in seen["tasks"]] == ["completed", "running", "queued", "pending"]
    assert seen["waits_for"] is None, "a step is being executed"
    assert [task["waits_for"] for task in seen["tasks"]] == [
        None,
        None,
        "an engine that is free",
        "step 1 (Validate), 2 (Dedupe)",
    ]
    other = made(client, start=True)["id"]
    for name in ("Collect", "Validate", "Dedupe", "Publish"):
        if name != "Collect":
            do_of(app, other, name)
        else:
            do(app, name)
    over = client.get(f"/workflows/{other}")
    assert (over["status"], over["progress"], over["current_step"]) == ("completed", 100, 4)
    assert over["completed_at"] is not None


def do_of(app: App, workflow: str, name: str) -> None:
    """The same where several workflows wait for a step of this name."""

    def write(tx: Tx) -> None:
        due = workflow_tasks.due(tx, Kind.HANDLER, None, app.now() + 1_000, 100)
        [task] = [each for each in due if (each.workflow_id, each.task_name) == (workflow, name)]
        claimed = workflow_tasks.begin(tx, task, owner=None, run_id=None, now=app.now())
        assert claimed is not None
        assert workflow_tasks.settle(tx, claimed.task, FINE, app.now())

    asyncio.run(app.database.write(write))


def test_row_141_what_was_started_can_not_be_started_again(client: Talker) -> None:
    workflow = made(client)["id"]
    started = client.post(f"/workflows/{workflow}/start")
    assert (started["status"], states(started)) == ("running", ["queued", "pending", "pending", "pending"])
    assert started["waits_for"] == "an engine that is free, to do step 0 (Collect)"
    problem = client.refused("POST", f"/workflows/{workflow}/start")
    assert (problem["status"], problem["code"]) == (409, "conflict")
    assert "is running" in problem["detail"]


def test_row_149_a_pause_keeps_steps_from_beginning_until_it_is_over(client: Talker, app: App) -> None:
    workflow = made(client, start=True)["id"]
    place = f"/workflows/{workflow}"
    do(app, "Collect")
    paused = client.post(f"{place}/pause", {"reason": "the shop is being rebuilt"})
    assert (paused["status"], paused["reason"]) == ("paused", "the shop is being rebuilt")
    assert paused["waits_for"] == "somebody who resumes it (the shop is being rebuilt)"
    assert paused["steps"][1]["waits_for"] == "somebody who resumes the workflow"
    assert client.post(f"{place}/pause") == paused, "twice is once"
    with pytest.raises(ValueError, match="not enough values"):
        do(app, "Validate")
    resumed = client.post(f"{place}/resume")
    assert (resumed["status"], resumed["reason"]) == ("running", None)
    assert states(resumed) == ["completed", "queued", "queued", "pending"]
    assert client.post(f"{place}/resume") == resumed
    do(app, "Validate")


def test_row_150_what_is_cancelled_stays_cancelled(client: Talker, app: App) -> None:
    workflow = made(client, start=True)["id"]
    place = f"/workflows/{workflow}"
    do(app, "Collect")
    cancelled = client.post(f"{place}/cancel", {"reason": "no need"})
    assert (cancelled["status"], cancelled["reason"], cancelled["waits_for"]) == ("cancelled", "no need", None)
    assert states(cancelled) == ["completed", "cancelled", "cancelled", "cancelled"]
    assert client.post(f"{place}/cancel") == cancelled, "twice is once"
    for what in ("start", "pause", "resume", "recover"):
        problem = client.refused("POST", f"{place}/{what}")
        assert (problem["status"], problem["field"]) == (409, "status"), what
    assert client.get(place) == cancelled


def test_row_144_and_147_what_fails_is_tried_again_then_fails_and_what_needs_it_is_skipped(
    client: Talker, app: App
) -> None:
    workflow = made(client, start=True)["id"]
    do(app, "Collect", BROKEN)
    seen = client.get(f"/workflows/{workflow}")
    [collect, *_] = seen["steps"]
    assert (collect["status"], collect["retry_count"], collect["max_retries"]) == ("retrying", 1, 1)
    assert collect["waits_for"] == "the time of its retry 1 of 1"
    assert collect["next_at"] is not None
    assert "canary" not in client.http.get(f"/workflows/{workflow}").text
    do(app, "Collect", BROKEN)
    over = client.get(f"/workflows/{workflow}")
    assert (over["status"], over["is_recoverable"]) == ("failed", True)
    assert states(over) == ["failed", "skipped", "skipped", "skipped"]
    assert over["error_message"].startswith("Collect: RuntimeError: http://")
    assert over["progress"] == 0
    for place in ("", "/progress", "/events", "/tasks"):
        assert "canary" not in client.http.get(f"/workflows/{workflow}{place}").text, place


def test_row_148_and_158_a_step_shows_what_it_gave_and_how_long_it_took(client: Talker, app: App) -> None:
    workflow = made(client, start=True)["id"]
    do(app, "Collect", seconds=7.0)
    do(app, "Validate", Verdict(result={"text": "x" * 50_000}))
    collect, validate, *_ = client.get(f"/workflows/{workflow}")["steps"]
    assert collect["result"] == {"rows": 3}
    assert 7.0 <= collect["actual_duration"] < 9.0
    assert (validate["estimated_duration"], validate["timeout"], collect["timeout"]) == (5.0, None, 60.0)
    assert validate["result"] is None, "fifty of those would be more than anybody asked for"
    assert client.get(f"/workflows/tasks/{validate['id']}")["result"] == {"text": "x" * 50_000}


def test_row_151_a_recovery_does_again_what_did_not_go_well_and_nothing_before_it(client: Talker, app: App) -> None:
    workflow = failed(client, app)
    place = f"/workflows/{workflow}"
    before = client.get(place)
    assert states(before) == ["completed", "completed", "failed", "skipped"]
    recovered = client.post(f"{place}/recover", {"reason": "there is room again"})
    assert (recovered["status"], recovered["reason"]) == ("running", "there is room again")
    assert (recovered["recovery_attempts"], recovered["error_message"]) == (1, None)
    assert states(recovered) == ["completed", "completed", "queued", "pending"]
    assert recovered["steps"][0]["celery_task_id"] == before["steps"][0]["celery_task_id"]
    do(app, "Dedupe")
    do(app, "Publish")
    assert client.get(place)["status"] == "completed"
    assert client.refused("POST", f"{place}/recover")["status"] == 409


@pytest.mark.parametrize(
    ("from_step", "expected"),
    [
        (0, ["queued", "pending", "pending", "pending"]),
        ("Collect", ["queued", "pending", "pending", "pending"]),
        ("Validate", ["completed", "queued", "queued", "pending"]),
        (2, ["completed", "completed", "queued", "pending"]),
        (None, ["completed", "completed", "queued", "pending"]),
    ],
)
def test_a_recovery_goes_on_from_the_step_that_is_meant(
    client: Talker, app: App, from_step: Any, expected: list[str]
) -> None:
    workflow = failed(client, app)
    assert states(client.post(f"/workflows/{workflow}/recover", {"from_step": from_step})) == expected


@pytest.mark.parametrize(
    ("from_step", "status"),
    [(4, 422), (-1, 422), ("Nothing", 422), ("", 422), (True, 422), (1.5, 422), ([], 422), (2**70, 422), (3, 409)],
)
def test_a_recovery_from_where_it_can_not_go_on_is_refused_and_costs_nothing(
    client: Talker, app: App, from_step: Any, status: int
) -> None:
    workflow = failed(client, app)
    problem = client.refused("POST", f"/workflows/{workflow}/recover", json={"from_step": from_step})
    assert (problem["status"], problem["field"]) == (status, "from_step")
    found = client.get(f"/workflows/{workflow}")
    assert (found["status"], found["recovery_attempts"]) == ("failed", 0)


def test_row_152_the_fourth_recovery_is_one_too_many(client: Talker, app: App) -> None:
    workflow = failed(client, app)
    for attempt in (1, 2, 3):
        assert client.post(f"/workflows/{workflow}/recover")["recovery_attempts"] == attempt
        do(app, "Dedupe", BROKEN)
    problem = client.refused("POST", f"/workflows/{workflow}/recover")
    assert (problem["status"], problem["field"], problem["limit"]) == (409, "max_recovery_attempts", 3)
    assert client.get(f"/workflows/{workflow}")["is_recoverable"] is False


def test_row_155_workflows_are_found_by_how_they_stand(client: Talker, app: App) -> None:
    broken = failed(client, app)
    for_good = failed(client, app, max_recovery_attempts=1)
    client.post(f"/workflows/{for_good}/recover")
    do(app, "Dedupe", BROKEN)
    running = made(client, start=True)["id"]
    pending = made(client)["id"]

    def ids(**asked: str) -> list[str]:
        return [each["id"] for each in client.get("/workflows", params=asked)]

    assert ids() == [pending, running, for_good, broken], "the newest first"
    assert ids(group="active") == [running]
    assert ids(group="failed") == [for_good, broken]
    assert ids(group="recoverable") == [broken]
    assert ids(status="pending") == [pending]
    assert ids(status="failed", group="recoverable") == [broken]
    for wrong in ({"group": "nice"}, {"status": "done"}, {"job_id": "\0"}, {"limit": "0"}, {"limit": "201"}):
        assert client.refused("GET", "/workflows", params=wrong)["field"] == next(iter(wrong))


def test_row_156_steps_are_found_by_how_they_stand(client: Talker, app: App) -> None:
    workflow = made(client, start=True)["id"]

    def names(status: str) -> list[str]:
        found = client.get(f"/workflows/{workflow}/tasks", params={"status": status})
        return [step["name"] for step in found]

    assert names("pending") == ["Validate", "Dedupe", "Publish"]
    do(app, "Collect", BROKEN)
    assert names("retryable") == names("retrying") == ["Collect"]
    do(app, "Collect")
    do(app, "Dedupe", BROKEN)
    do(app, "Validate", FOR_GOOD)
    assert names("failed") == ["Validate", "Dedupe"]
    assert names("retryable") == ["Validate"], "the other one has no retries left"
    assert (names("completed"), names("skipped"), names("running")) == (["Collect"], ["Publish"], [])
    assert len(client.get(f"/workflows/{workflow}/tasks")) == 4
    assert client.refused("GET", f"/workflows/{workflow}/tasks", params={"status": "nice"})["field"] == "status"


def test_row_157_a_step_is_found_by_its_id_and_by_that_of_its_execution(client: Talker, app: App) -> None:
    workflow = made(client, start=True)["id"]
    do(app, "Collect", BROKEN)
    first = client.get(f"/workflows/{workflow}")["steps"][0]
    assert first["celery_task_id"] not in (None, first["id"])
    for each in (first["id"], first["celery_task_id"], first["id"].upper()):
        found = client.get(f"/workflows/tasks/{each}")
        assert (found["id"], found["workflow_id"], found["name"]) == (first["id"], workflow, "Collect")
    do(app, "Collect")
    again = client.get(f"/workflows/tasks/{first['id']}")
    assert again["celery_task_id"] != first["celery_task_id"], "every execution has its own"


def test_the_history_is_numbered_and_cut_into_pages(client: Talker, app: App) -> None:
    workflow = failed(client, app)
    client.post(f"/workflows/{workflow}/recover", {"from_step": 2, "reason": "again"})
    events = client.get(f"/workflows/{workflow}/events")
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    told = [event["message"] for event in events]
    assert told[:4] == ["Workflow created", "Workflow started", "Step started", "Step completed"]
    assert told[-5:-3] == ["Step skipped", "Step started"], "it is skipped as soon as nothing can help it"
    assert told[-3:] == ["Step completed", "Workflow failed", "Workflow recovering"]
    assert (events[-1]["level"], events[-1]["meta"]["from_step"], events[-1]["meta"]["reason"]) == ("warn", 2, "again")
    seen, cursor = [], None
    while True:
        answer = client.http.get(
            f"/workflows/{workflow}/events", params={"limit": 3, **({"cursor": cursor} if cursor else {})}
        )
        seen += answer.json()
        if (cursor := answer.headers.get("x-next-cursor")) is None:
            break
    assert seen == events
    other = made(client)["id"]
    first = client.http.get(f"/workflows/{workflow}/events", params={"limit": 1}).headers["x-next-cursor"]
    assert client.refused("GET", f"/workflows/{other}/events", params={"cursor": first})["field"] == "cursor"


def test_a_list_is_cut_into_pages(client: Talker) -> None:
    ids = [made(client)["id"] for _ in range(5)]
    seen, cursor = [], None
    while True:
        answer = client.http.get("/workflows", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
        seen += [each["id"] for each in answer.json()]
        if (cursor := answer.headers.get("x-next-cursor")) is None:
            break
    assert seen == ids[::-1]
    first = client.http.get("/workflows", params={"limit": 2}).headers["x-next-cursor"]
    refused = client.refused("GET", "/workflows", params={"cursor": first, "status": "pending"})
    assert refused["code"] == "invalid_cursor"


def test_a_workflow_that_is_over_is_deleted_with_its_folder(client: Talker, app: App) -> None:
    workflow = made(client)["id"]
    folder = app.settings.workspaces_dir / workflow
    folder.mkdir(parents=True)
    (folder / "part.csv").write_text("a")
    assert client.refused("DELETE", f"/workflows/{workflow}")["status"] == 409
    client.post(f"/workflows/{workflow}/cancel")
    client.delete(f"/workflows/{workflow}")
    assert not folder.exists()
    assert client.refused("DELETE", f"/workflows/{workflow}")["status"] == 404
    assert client.refused("GET", f"/workflows/{workflow}/events")["status"] == 404


def test_a_workflow_of_a_program_waits_for_that_and_says_so(client: Talker, app: App) -> None:
    draft = Draft(definition=Definition("Mine", (Step("a", handler="somewhere:else"),)), is_local=True)
    workflow = asyncio.run(workflows.create(app, draft)).workflow.id
    found = client.get(f"/workflows/{workflow}")
    assert (found["is_local"], found["waits_for"]) == (
        True,
        "its program, whose functions its handlers are: execute it again there",
    )
    problem = client.refused("POST", f"/workflows/{workflow}/start")
    assert problem["status"] == 409
    assert "that program" in problem["remedy"]


# -- templates


def test_row_166_and_167_a_template_has_versions_and_workflows_keep_theirs(client: Talker) -> None:
    def keep(*steps: dict[str, Any]) -> dict[str, Any]:
        answer = client.http.put("/workflows/templates/nightly", json={"steps": list(steps)})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    assert client.get("/workflows/templates") == []
    assert keep(*DIAMOND)["version"] == 1
    assert keep(*DIAMOND)["version"] == 1, "nothing is new"
    old = client.post("/workflows", {"template": "nightly", "metadata": {"a": 1}, "start": True})
    assert (old["name"], old["template"], old["template_version"], old["status"]) == (
        "nightly",
        "nightly",
        1,
        "running",
    )
    kept = keep(*DIAMOND[:2])
    assert (kept["version"], len(kept["definition"]["steps"]), kept["definition"]["order"]) == (2, 2, [[0], [1]])
    assert client.get(f"/workflows/{old['id']}")["steps"] == old["steps"], "it keeps what it was made from"
    new = client.post("/workflows", {"template": "nightly"})
    assert (new["template_version"], new["total_steps"]) == (2, 2)
    assert client.get("/workflows/templates") == [client.get("/workflows/templates/nightly")]
    client.delete("/workflows/templates/nightly")
    for method, path in (("GET", "/workflows/templates/nightly"), ("DELETE", "/workflows/templates/nightly")):
        assert client.refused(method, path)["status"] == 404
    assert client.refused("POST", "/workflows", json={"template": "nightly"})["status"] == 404
    assert client.get(f"/workflows/{old['id']}")["template"] == "nightly"


@pytest.mark.parametrize("name", ["a b", "%00", "-x", "x" * 101, "é"])
def test_a_name_that_no_template_has_is_refused(client: Talker, name: str) -> None:
    for method in ("GET", "DELETE"):
        assert client.refused(method, f"/workflows/templates/{name}")["field"] == "name"
    assert client.refused("PUT", f"/workflows/templates/{name}", json={"steps": DIAMOND})["field"] == "name"
    assert client.refused("POST", "/workflows", json={"template": name})["status"] in (404, 422)


def test_a_template_that_makes_no_sense_is_not_kept(client: Talker) -> None:
    steps = [{"name": "a", "handler": "export", "dependencies": ["b"]}]
    problem = client.refused("PUT", "/workflows/templates/nightly", json={"steps": steps})
    assert (problem["status"], problem["field"]) == (422, "steps.0.dependencies")
    assert client.get("/workflows/templates") == []


# -- the same request twice


def test_the_same_key_makes_one_workflow(client: Talker) -> None:
    body = {"name": "Nightly", "steps": DIAMOND, "start": True}
    key = {"Idempotency-Key": "the-same-key"}
    answers = [client.http.post("/workflows", json=body, headers=key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.text for answer in answers}) == 1
    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true", "true"]
    assert len(client.get("/workflows")) == 1
    problem = client.refused("POST", "/workflows", json={**body, "name": "Other"}, headers=key)
    assert (problem["status"], problem["code"]) == (422, "idempotency_key_reused")
    refused = {"Idempotency-Key": "another-key"}
    assert client.http.post("/workflows", json={**body, "steps": []}, headers=refused).status_code == 422
    assert client.http.post("/workflows", json=body, headers=refused).status_code == 201


def test_fifty_callers_with_one_key_at_once_get_one_workflow_and_fifty_equal_answers(client: Talker, app: App) -> None:
    async def all_at_once(url: str) -> list[Any]:
        limits = httpx2.Limits(max_connections=50)
        headers = {"Idempotency-Key": "the-same-key"}
        async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=30, headers=headers) as http:
            body = {"name": "Nightly", "steps": DIAMOND}
            return await asyncio.gather(*(http.post("/workflows", json=body) for _ in range(50)))

    with serving(app) as live:
        answers = asyncio.run(all_at_once(live.url))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert len(client.get("/workflows")) == 1


# -- nonsense


def test_row_24_ten_thousand_steps_are_too_many(client: Talker) -> None:
    steps = [{"name": f"s{number}", "handler": "export"} for number in range(10_000)]
    problem = client.refused("POST", "/workflows", json={"name": "x", "steps": steps})
    assert (problem["status"], problem["field"], problem["limit"]) == (422, "steps", 100)
    assert client.http.post("/workflows", json={"name": "x", "steps": steps[:101]}).status_code == 422
    assert client.post("/workflows", {"name": "x", "steps": steps[:100]})["total_steps"] == 100


@pytest.mark.parametrize(
    ("step", "field"),
    [
        ({"dependencies": [1]}, "dependencies"),  # itself
        ({"dependencies": ["b"]}, "dependencies"),
        ({"dependencies": [2]}, "dependencies"),  # a circle
        ({"dependencies": ["c"]}, "dependencies"),
        ({"dependencies": ["nothing"]}, "dependencies"),
        ({"dependencies": [99]}, "dependencies"),
        ({"dependencies": [-1]}, "dependencies"),
        ({"dependencies": [2**80]}, "dependencies"),
        ({"dependencies": [True]}, "dependencies.0"),
        ({"dependencies": [0.0]}, "dependencies.0"),
        ({"dependencies": [None]}, "dependencies.0"),
        ({"dependencies": [[0]]}, "dependencies.0"),
        ({"dependencies": "a"}, "dependencies"),
        ({"dependencies": {"a": 1}}, "dependencies"),
        ({"dependencies": [0] * 101}, "dependencies"),
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "a"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "x\0"}, "name"),
        ({"name": 5}, "name"),
        ({"name": None}, "name"),
        ({"task_type": ""}, "task_type"),
        ({"task_type": "x" * 51}, "task_type"),
        ({"task_type": "\0"}, "task_type"),
        ({"handler": None}, "handler"),
        ({"handler": ""}, "handler"),
        ({"handler": "exprot"}, "handler"),
        ({"handler": "os:system"}, "handler"),
        ({"handler": "subprocess:run"}, "handler"),
        ({"handler": "../../etc:passwd"}, "handler"),
        ({"handler": "export\0"}, "handler"),
        ({"handler": "x" * 201}, "handler"),
        ({"handler": ["export"]}, "handler"),
        ({"max_retries": -1}, "max_retries"),
        ({"max_retries": 11}, "max_retries"),
        ({"max_retries": 1.5}, "max_retries"),
        ({"max_retries": "3"}, "max_retries"),
        ({"max_retries": True}, "max_retries"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": 604_801}, "timeout"),
        ({"timeout": "60"}, "timeout"),
        ({"estimated_duration": 0.5}, "estimated_duration"),
        ({"params": []}, "params"),
        ({"params": "x"}, "params"),
        ({"params": {"x": "y" * MOST_PARAM_BYTES}}, "params"),
        ({"params": {"x": 2**80}}, "params"),
        ({"colour": "red"}, "colour"),
    ],
)  # fmt: skip
def test_row_24_a_step_that_makes_no_sense_is_refused_and_named(
    client: Talker, step: dict[str, Any], field: str
) -> None:
    steps = [
        {"name": "a", "handler": "export"},
        {"name": "b", "handler": "export", **step},
        {"name": "c", "handler": "export", "dependencies": ["b"] if step.get("name") is None else []},
    ]
    problem = client.refused("POST", "/workflows", json={"name": "Nightly", "steps": steps})
    assert (problem["status"], problem["field"]) == (422, f"steps.1.{field}")
    assert problem["remedy"] if "remedy" in problem else problem["detail"]
    assert client.get("/workflows") == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "steps"),
        ({"name": "x"}, "steps"),
        ({"steps": DIAMOND}, "name"),
        ({"name": "x", "steps": []}, "steps"),
        ({"name": "x", "steps": {}}, "steps"),
        ({"name": "x", "steps": [None]}, "steps.0"),
        ({"name": "x", "steps": ["export"]}, "steps.0"),
        ({"name": "", "steps": DIAMOND}, "name"),
        ({"name": "\0", "steps": DIAMOND}, "name"),
        ({"name": "x", "steps": DIAMOND, "template": "nightly"}, "name"),
        ({"steps": DIAMOND, "template": "nightly"}, "steps"),
        ({"template": "nightly", "max_recovery_attempts": 3}, "max_recovery_attempts"),
        ({"template": ""}, "template"),
        ({"template": "\0"}, "template"),
        ({"name": "x", "steps": DIAMOND, "max_recovery_attempts": 0}, "max_recovery_attempts"),
        ({"name": "x", "steps": DIAMOND, "max_recovery_attempts": 11}, "max_recovery_attempts"),
        ({"name": "x", "steps": DIAMOND, "metadata": {"x": "y" * MOST_PARAM_BYTES}}, "metadata"),
        ({"name": "x", "steps": DIAMOND, "metadata": []}, "metadata"),
        ({"name": "x", "steps": DIAMOND, "start": "yes"}, "start"),
        ({"name": "x", "steps": DIAMOND, "colour": 1}, "colour"),
    ],
)
def test_a_workflow_that_makes_no_sense_is_refused_and_named(client: Talker, body: Any, field: str) -> None:
    problem = client.refused("POST", "/workflows", json=body)
    assert (problem["status"], problem["field"]) == (422, field)
    assert client.get("/workflows") == []


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_that_json_does_not_have_are_no_json(client: Talker, number: bytes) -> None:
    body = b'{"name": "x", "steps": [{"name": "a", "handler": "export", "params": {"x": ' + number + b"}}]}"
    assert client.refused("POST", "/workflows", content=body, headers=JSON)["status"] == 400


@pytest.mark.parametrize("depth", [100, 245, 248, 249, 250, 251, 252, 253, 254, 255, 300, 900])
def test_whatever_is_nested_how_deep_is_stored_and_told_or_refused(client: Talker, depth: int) -> None:
    value: Any = {}
    for _ in range(depth - 1):
        value = {"a": value}
    for said in ({"metadata": value}, {"steps": [{"name": "a", "handler": "export", "params": value}]}):
        answer = client.http.post("/workflows", json={"name": "x", "steps": DIAMOND, **said})
        assert answer.status_code in (201, 400, 422), answer.text
        assert answer.status_code == 201 or depth > 245
        if answer.status_code == 201:
            assert client.get(f"/workflows/{answer.json()['id']}") == answer.json()
    answer = client.http.put("/workflows/templates/deep", json={"steps": said["steps"]})
    assert answer.status_code in (200, 400, 422), answer.text
    assert client.http.get("/workflows/templates").status_code == 200


@pytest.mark.parametrize("workflow", [UNKNOWN, "x", "%00", "..%2f..", "' OR 1=1 --", "latest", "é" * 50, "a" * 5_000])
def test_unknown_ids_are_404_everywhere(client: Talker, workflow: str) -> None:
    for rest in ("", "/progress", "/tasks", "/events"):
        assert client.refused("GET", f"/workflows/{workflow}{rest}")["status"] == 404
    for what in ("start", "pause", "resume", "cancel", "recover"):
        assert client.refused("POST", f"/workflows/{workflow}/{what}")["status"] == 404
    assert client.refused("DELETE", f"/workflows/{workflow}")["status"] == 404
    assert client.refused("GET", f"/workflows/tasks/{workflow}")["status"] == 404


@pytest.mark.parametrize("reason", ["", "x" * 1_001, "\0", 5, ["x"]])
def test_a_reason_that_is_none_is_refused(client: Talker, reason: Any) -> None:
    workflow = made(client, start=True)["id"]
    for what in ("pause", "cancel", "recover"):
        problem = client.refused("POST", f"/workflows/{workflow}/{what}", json={"reason": reason})
        assert (problem["status"], problem["field"]) == (422, "reason")
    assert client.get(f"/workflows/{workflow}")["status"] == "running"


# -- who watches


def test_the_stream_of_a_workflow_has_every_event_once_in_order_and_ends_after_the_last(
    client: Talker, app: App
) -> None:
    flow = str(made(client, start=True)["id"])
    path = f"/workflows/{flow}/events/stream"

    def go_on() -> None:
        for name, verdict in (("Collect", FINE), ("Dedupe", BROKEN), ("Validate", FINE)):
            do(app, name, verdict)

    with serving(app) as live:
        going_on = threading.Timer(0.5, go_on)
        going_on.start()
        *history, end = watched(live, path)
        going_on.join()
        assert [number for message in history for number in message.sequences] == list(range(1, 11))
        events = [each for message in history for each in (message.data if message.kind == "batch" else [message.data])]
        assert events == client.get(f"/workflows/{flow}/events")
        assert (end.kind, end.data, "canary" in str(history)) == ("end", {"status": "failed"}, False)
        # Who was cut off misses nothing, and there is nothing to come back for.
        assert [message.id for message in watched(live, path, last=8)[:-1]] == [9, 10]
        again = httpx2.get(live.url + path, headers={"Last-Event-ID": "10"})
        assert again.status_code == 204
        # A recovery goes on with the numbers.
        client.post(f"/workflows/{flow}/recover")
        ending = threading.Timer(0.5, client.post, (f"/workflows/{flow}/cancel",))
        ending.start()
        *rest, end = watched(live, path, last=10)
        ending.join()
        told = [number for message in rest for number in message.sequences]
        assert (told, end.data) == ([11, 12], {"status": "cancelled"})


def test_a_workflow_that_there_is_not_has_no_stream(client: Talker, app: App) -> None:
    path = f"/workflows/{UNKNOWN}/events/stream"
    assert client.refused("GET", path)["status"] == 404
    with serving(app) as live:
        flow = made(client)["id"]
        nonsense = httpx2.get(f"{live.url}/workflows/{flow}/events/stream", headers={"Last-Event-ID": "x"})
        assert nonsense.status_code == 422


def test_a_workflow_that_waits_is_watched_until_the_server_stops(client: Talker, app: App) -> None:
    flow = made(client)["id"]
    with serving(app) as live:
        threading.Timer(0.5, setattr, (live.server, "should_exit", True)).start()
        [created, end] = watched(live, f"/workflows/{flow}/events/stream")
        assert (created.id, end.data) == (1, {"status": "server stopped"})


def test_templates_are_listed_page_by_page(client: Talker) -> None:
    names = [f"t{number}" for number in range(5)]
    for name in reversed(names):
        client.http.put(f"/workflows/templates/{name}", json={"steps": DIAMOND[:1]})
    paged, path = [], "/workflows/templates?limit=2"
    while path:
        answer = client.http.get(path)
        paged += [each["name"] for each in answer.json()]
        path = answer.links["next"]["url"] if "next" in answer.links else ""
    assert paged == names
    assert client.refused("GET", "/workflows/templates?cursor=x")["status"] == 422


def test_row_161_workflows_and_the_seconds_of_their_steps_are_told_to_prometheus(client: Talker, app: App) -> None:
    odd = 'a"b\\c\nd'
    steps = [{**DIAMOND[0], "max_retries": 0}, {"name": "Odd", "task_type": odd, "handler": "export"}]
    flow = made(client, steps, start=True)
    do(app, "Collect", BROKEN, seconds=3.0)
    do(app, "Odd", seconds=4.0)
    made(client)
    told = client.http.get("/metrics").text.splitlines()
    assert 'tarantella_workflows{status="failed"} 1' in told
    assert 'tarantella_workflows{status="pending"} 1' in told
    assert 'tarantella_workflows{status="running"} 0' in told
    name = "tarantella_workflow_step_seconds"
    assert f'{name}_count{{type="download",status="failed"}} 1' in told
    [took] = [line for line in told if line.startswith(f'{name}_sum{{type="download",status="failed"}}')]
    assert 3.0 <= float(took.split()[-1]) < 5.0
    assert f'{name}_count{{type="a\\"b\\\\c d",status="completed"}} 1' in told
    assert client.get("/system")["workflows"] == {"failed": 1, "pending": 1}
    client.delete(f"/workflows/{flow['id']}")
    assert took in client.http.get("/metrics").text.splitlines()


def test_types_of_steps_are_few_in_what_prometheus_is_told(client: Talker, app: App) -> None:
    steps = [{"name": f"s{number}", "task_type": f"t{number}", "handler": "export"} for number in range(100)]
    made(client, steps, start=True)
    for number in range(100):
        do(app, f"s{number}")
    counts = [
        line
        for line in client.http.get("/metrics").text.splitlines()
        if line.startswith("tarantella_workflow_step_seconds_count")
    ]
    assert len(counts) == 51
    assert 'tarantella_workflow_step_seconds_count{type="others",status="completed"} 50' in counts


def test_who_may_only_look_may_not_steer() -> None:
    needed = partial(scope_needed, path=f"/workflows/{UNKNOWN}/start")
    assert (needed("GET"), needed("POST"), needed("DELETE")) == (Scope.READ, Scope.WRITE, Scope.WRITE)
