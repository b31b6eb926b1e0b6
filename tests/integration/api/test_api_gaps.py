"""`/gaps`: what is missing, what came of it, and what is done again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tarantella.services import filling, queue
from tarantella.services.app import App
from tests.integration.api.talking import Talker
from tests.scripts import Scripts


@pytest.fixture
def scripts(app: App, tmp_path: Path) -> Scripts:
    """A queue that was run: two gaps are completed, two have failed, and one is still to be filled."""
    made = Scripts(tmp_path)
    made.script("works", "print('saved 3 records')")
    made.script("fails", "import sys; print('well'); sys.exit('no luck')")
    for number, (scraper, priority) in enumerate([("works", "LOW"), ("fails", "HIGH"), ("works", "HIGH")]):
        made.gap(scraper, priority, part=number)
    made.gap("unknown", "CRITICAL")
    run(made, app)
    made.gap("works", "MEDIUM", part=9, reason="it is old", estimated_time_minutes=2)
    asyncio.run(queue.take_in(app, plan_of(made)))
    return made


def plan_of(scripts: Scripts) -> queue.Plan:
    folder = scripts.folder
    return queue.make_plan(folder / "inventory" / "gaps.json", folder / "config" / "scraper_config.yaml", folder)


def run(scripts: Scripts, app: App) -> None:
    asyncio.run(filling.fill(app, plan_of(scripts)))


def test_gaps_are_listed_in_the_order_in_which_they_are_filled(scripts: Scripts, client: Talker) -> None:
    found = client.get("/gaps")
    assert [(each["name"], each["priority"], each["status"]) for each in found] == [
        ("task_000004", "CRITICAL", "failed"),
        ("task_000002", "HIGH", "failed"),
        ("task_000003", "HIGH", "completed"),
        ("task_000005", "MEDIUM", "pending"),
        ("task_000001", "LOW", "completed"),
    ]
    waiting = found[3]
    assert (waiting["reason"], waiting["estimated_time_minutes"], waiting["params"]) == ("it is old", 2, {"part": 9})
    assert (found[0]["failure"], found[0]["policy"]["retry"]) == ("config", False)
    assert (found[2]["records"], found[2]["exit_code"], found[2]["executions"]) == (3, 0, 1)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("status=failed", ["task_000004", "task_000002"]),
        ("priority=HIGH", ["task_000002", "task_000003"]),
        ("scraper=works&status=completed", ["task_000003", "task_000001"]),
        ("failure=exit", ["task_000002"]),
        ("name=task_000005", ["task_000005"]),
        ("source=nobody", []),
        ("queue=/elsewhere.json", []),
    ],
)
def test_some_can_be_asked_for(scripts: Scripts, client: Talker, asked: str, names: list[str]) -> None:
    assert [each["name"] for each in client.get(f"/gaps?{asked}")] == names


def test_a_list_leads_on(scripts: Scripts, http: TestClient) -> None:
    names, path = [], "/gaps?limit=2"
    while path:
        answer = http.get(path)
        names += [each["name"] for each in answer.json()]
        path = answer.links.get("next", {}).get("url", "")
    assert names == ["task_000004", "task_000002", "task_000003", "task_000005", "task_000001"]


def test_queues_are_counted(scripts: Scripts, client: Talker) -> None:
    [found] = client.get("/gaps/queues")
    assert found.pop("queue").endswith("inventory/gaps.json")
    assert found.pop("failures") == {"config": 1, "exit": 1}
    assert found == {"pending": 1, "running": 0, "completed": 2, "failed": 2, "resolved": 0}


def test_one_is_shown_with_what_its_script_said(scripts: Scripts, client: Talker) -> None:
    [gap] = client.get("/gaps?failure=exit")
    told = client.get(f"/gaps/{gap['id']}")
    assert (told["stdout"], told["stderr"], told["detail"]) == ("well\n", "no luck\n", "exit code 1: no luck")


def test_what_was_given_up_is_done_again(scripts: Scripts, client: Talker, app: App) -> None:
    assert client.post("/gaps/retry", {"failure": "timeout"}) == {"taken_back": 0}
    assert client.post("/gaps/retry", {"scraper": "fails"}) == {"taken_back": 1}
    scripts.script("fails", "print('saved 1 record')")
    run(scripts, app)
    assert [each["name"] for each in client.get("/gaps?status=failed")] == ["task_000004"]
    assert client.post("/gaps/retry", {"status": "completed"})["taken_back"] == 4


def test_what_makes_no_sense_is_refused(client: Talker) -> None:
    assert client.refused("GET", "/gaps?status=gone")["field"] == "status"
    assert client.refused("GET", "/gaps?cursor=forged")["code"] == "invalid_cursor"
    assert client.refused("POST", "/gaps/retry", json={"status": "pending"})["field"] == "status"
    assert client.refused("POST", "/gaps/retry", json={"state": "failed"})["field"] == "state"
    assert client.refused("GET", "/gaps/nothing")["status"] == 404
    assert client.refused("GET", "/gaps/01890000-0000-7000-8000-000000000000")["status"] == 404
