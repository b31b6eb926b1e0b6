"""Schedules, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tarantella.services.app import App
from tarantella.services.probe import Prober
from tarantella.services.timekeeper import begin_due
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx
from tests.integration.api.talking import Talker
from tests.site import Site

HERE = "http://127.0.0.1:9/"


def bring_forward(app: App, job_id: str) -> None:
    """Let its time have come."""

    def write(tx: Tx) -> None:
        tx.execute("UPDATE schedules SET next_at = :now WHERE job_id = :id", id=job_id, now=app.now() - 1)

    asyncio.run(app.database.write(write))


def test_a_job_that_says_when_it_runs_has_a_schedule(client: Talker) -> None:
    job = client.job(HERE, frequency="weekdays at 06:30", timezone="Europe/Berlin", if_running="queue")
    assert (job["frequency"], job["timezone"], job["if_running"]) == ("weekdays at 06:30", "Europe/Berlin", "queue")
    [schedule] = client.get("/schedules")
    assert schedule == client.get(f"/schedules/{job['id']}")
    assert schedule["job_id"] == job["id"]
    assert schedule["in_words"] == "At 06:30 on Monday through Friday"
    assert schedule["next_local"].split()[2:] in (["06:30", "CET"], ["06:30", "CEST"])
    assert (schedule["if_running"], schedule["if_missed"], schedule["paused"]) == ("queue", "run", False)
    assert (schedule["last"], schedule["last_run_id"], schedule["runs"]) == (None, None, 0)


def test_a_schedule_is_set_changed_and_removed_and_the_job_says_the_same(client: Talker) -> None:
    job = client.job(HERE)
    place = f"/schedules/{job['id']}"
    assert client.refused("GET", place)["status"] == 404
    answer = client.http.put(place, json={"frequency": "daily at 06:30", "timezone": "Asia/Tokyo", "if_missed": "skip"})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["timezone"], answer.json()["if_missed"]) == ("Asia/Tokyo", "skip")
    changed = client.get(f"/jobs/{job['id']}")
    assert (changed["frequency"], changed["timezone"], changed["version"]) == ("daily at 06:30", "Asia/Tokyo", 2)
    # What is not said is as usual again.
    assert client.http.put(place, json={"frequency": "hourly"}).json()["timezone"] == "UTC"
    assert "if_missed" not in client.get(f"/jobs/{job['id']}")
    client.delete(place)
    assert client.refused("GET", place)["status"] == 404
    assert client.refused("DELETE", place)["status"] == 404
    assert client.get(f"/jobs/{job['id']}")["frequency"] == "on_demand"
    patched = client.patch(f"/jobs/{job['id']}", {"frequency": "every 2 hours"})
    assert patched["frequency"] == "every 2 hours"
    assert client.get(place)["in_words"] == "Every 2 hours"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "frequency"),
        ({"frequency": ""}, "frequency"),
        ({"frequency": "sometimes"}, "frequency"),
        ({"frequency": "on_demand"}, "frequency"),
        ({"frequency": "0 0 30 2 *"}, "frequency"),
        ({"frequency": "x" * 101}, "frequency"),
        ({"frequency": 5}, "frequency"),
        ({"frequency": "daily", "timezone": "Berlin"}, "timezone"),
        ({"frequency": "daily", "timezone": "../../etc/passwd"}, "timezone"),
        ({"frequency": "daily", "timezone": "x" * 65}, "timezone"),
        ({"frequency": "daily", "if_running": "perhaps"}, "if_running"),
        ({"frequency": "daily", "if_missed": True}, "if_missed"),
        ({"frequency": "daily", "colour": "red"}, "colour"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(client: Talker, wrong: dict[str, Any], field: str) -> None:
    job = client.job(HERE, frequency="hourly")
    before = client.get(f"/schedules/{job['id']}")
    problem = client.refused("PUT", f"/schedules/{job['id']}", json=wrong)
    assert (problem["status"], problem["field"]) == (422, field)
    assert {**client.get(f"/schedules/{job['id']}"), "late_seconds": 0.0} == {**before, "late_seconds": 0.0}
    if wrong and wrong.get("frequency") != "on_demand":
        assert (
            client.refused("POST", "/jobs", json={"target_url": HERE, "fields": ["title"], **wrong})["field"] == field
        )


@pytest.mark.parametrize("job_id", ["nonsense", "0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10", "%00", "..%2F"])
def test_what_is_not_there_is_not_found(client: Talker, job_id: str) -> None:
    for method, more in (("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/resume")):
        assert client.refused(method, f"/schedules/{job_id}{more}")["status"] == 404
    assert client.refused("PUT", f"/schedules/{job_id}", json={"frequency": "daily"})["status"] == 404


def test_what_words_would_mean_can_be_seen_beforehand(client: Talker) -> None:
    seen = client.get(
        "/schedules/preview", params={"frequency": "mondays at 7:00", "timezone": "Europe/Berlin", "count": 3}
    )
    assert seen["in_words"] == "At 07:00 on Monday"
    assert [time["local"].split()[0] for time in seen["times"]] == ["Mon"] * 3
    assert client.refused("GET", "/schedules/preview")["field"] == "frequency"
    assert client.refused("GET", "/schedules/preview", params={"frequency": "nonsense"})["field"] == "frequency"
    assert client.refused("GET", "/schedules/preview", params={"frequency": "daily", "count": 0})["field"] == "count"


def test_a_pause_shows_no_next_time(client: Talker) -> None:
    job = client.job(HERE, frequency="hourly")
    paused = client.post(f"/schedules/{job['id']}/pause")
    assert (paused["paused"], paused["next_at"], paused["next_local"]) == (True, None, None)
    assert client.post(f"/schedules/{job['id']}/pause")["paused"] is True
    resumed = client.post(f"/schedules/{job['id']}/resume")
    assert resumed["paused"] is False
    assert resumed["next_at"] is not None


def test_a_list_is_cut_into_pages(client: Talker) -> None:
    ids = {client.job(HERE, frequency="hourly")["id"] for _ in range(3)}
    seen, cursor = [], None
    while True:
        answer = client.http.get("/schedules", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
        seen += [each["job_id"] for each in answer.json()]
        if (cursor := answer.headers.get("x-next-cursor")) is None:
            break
    assert sorted(seen) == sorted(ids)
    assert client.refused("GET", "/schedules", params={"cursor": "nonsense"})["field"] == "cursor"


@pytest.mark.usefixtures("engine")
def test_a_run_that_was_made_when_its_time_had_come_is_a_run_like_others(client: Talker, app: App, site: Site) -> None:
    job = client.job(site.url_for("/ok"), frequency="hourly")
    bring_forward(app, job["id"])

    began: list[Submission] = []

    async def look() -> None:
        prober = Prober(app.make_tools)
        try:
            await begin_due(app, prober, began.append)
        finally:
            await prober.close()

    asyncio.run(look())
    [new] = began
    found = client.get(f"/schedules/{job['id']}")
    assert (found["last"]["came"], found["last_run_id"]) == ("run", new.run_id)
    run = client.ended(found["last_run_id"])
    assert (run["status"], run["job_id"]) == ("completed", job["id"])
    assert "Run scheduled" in client.messages(run["id"])


def test_what_is_late_is_seen_in_the_whole_and_by_prometheus(client: Talker, app: App) -> None:
    job, other = client.job(HERE, frequency="hourly"), client.job(HERE, frequency="hourly")
    client.post(f"/schedules/{other['id']}/pause")
    bring_forward(app, job["id"])
    seen = client.get("/system")["schedules"]
    assert (seen["active"], seen["paused"], seen["overdue"]) == (1, 1, 1)
    assert seen["late_seconds"] >= 1.0
    told = client.http.get("/metrics").text
    assert 'tarantella_schedules{state="active"} 1' in told
    [late] = [line for line in told.splitlines() if line.startswith("tarantella_schedule_late_seconds ")]
    assert float(late.split()[1]) >= 1.0
