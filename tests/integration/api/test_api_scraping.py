"""Tasks: submitted, watched, listed, cancelled and collected over HTTP."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from tests.integration.api.talking import Talker
from tests.site import Site

STATUS_KEYS = {
    "task_id", "status", "progress", "total_items", "completed_items", "failed_items", "current_item", "created_at",
    "updated_at", "completed_at", "duration_seconds", "skipped_items", "success_rate", "eta_seconds",
}  # fmt: skip
ITEM_KEYS = {
    "url", "text", "full_text", "source", "timestamp", "depth", "word_count", "char_count", "retry_attempt",
}  # fmt: skip


def ended(client: Talker, task: str) -> dict[str, object]:
    client.ended(task)
    found: dict[str, object] = client.get(f"/scraping/tasks/{task}/status")
    return found


def test_a_task_is_stored_and_can_be_watched(client: Talker) -> None:
    told = client.post("/scraping/async-scrape", {"url": "https://a.example/", "max_depth": 2})
    assert set(told) == {"task_id", "status", "message", "estimated_duration_minutes"}
    assert told["status"] == "pending"
    status = client.get(f"/scraping/tasks/{told['task_id']}/status")
    assert set(status) >= STATUS_KEYS
    assert (status["total_items"], status["pending_items"], status["completed_items"]) == (1, 1, 0)
    assert client.messages(told["task_id"]) == ["Run created", "Run started"]


@pytest.mark.usefixtures("engine")
def test_links_are_followed_and_the_results_have_the_shape_of_the_system_before(client: Talker, site: Site) -> None:
    task = client.task(site.url_for("/list?n=6"), max_depth=2, export_format="csv")
    status = ended(client, task)
    assert status["status"] == "completed"
    assert (status["progress"], status["completed_items"]) == (100, 7)
    found = client.get(f"/scraping/tasks/{task}/results")
    assert set(found) == {"task_id", "status", "results", "summary", "metadata"}
    assert all(set(item) >= ITEM_KEYS for item in found["results"])
    assert sorted(item["source"] for item in found["results"]) == ["article-depth-2"] * 6 + ["main_page"]
    assert found["summary"]["total_pages"] == found["summary"]["successful_pages"] == 7
    exported = client.http.get(found["metadata"]["export"]["url"])
    assert exported.headers["content-type"].startswith("text/csv")
    assert len(list(csv.DictReader(io.StringIO(exported.text)))) == 7


@pytest.mark.usefixtures("engine")
def test_a_failed_page_makes_a_task_partial_and_is_told_with_the_errors(client: Talker, site: Site) -> None:
    links = "/links?hrefs=/ok|/404"
    task = client.task(site.url_for(links), max_depth=2)
    assert ended(client, task)["status"] == "partial"
    found = client.get(f"/scraping/tasks/{task}/results?include_errors=true")
    [error] = found["errors"]
    assert (error["code"], error["error_type"], error["attempts"]) == ("not_found", "general", 1)
    summary = found["summary"]
    assert summary["successful_pages"] + summary["failed_pages"] == summary["total_pages"] == 3
    assert summary["general_errors"] == 1
    strict = client.task(site.url_for(links), max_depth=2, partial_results_ok=False)
    assert ended(client, strict)["status"] == "failed"


@pytest.mark.usefixtures("engine")
def test_a_task_that_failed_says_why(client: Talker, site: Site) -> None:
    status = ended(client, client.task(site.url_for("/404")))
    assert (status["status"], status["reason"]) == ("failed", "HTTP 404")


@pytest.mark.usefixtures("engine")
def test_large_results_come_in_slices_that_a_cursor_joins(client: Talker, site: Site) -> None:
    task = client.task(site.url_for("/list?n=12"), max_depth=2)
    ended(client, task)
    whole = client.get(f"/scraping/tasks/{task}/results")
    slices, cursor = [], ""
    while True:
        found = client.get(f"/scraping/tasks/{task}/results?limit=5{cursor}")
        slices += found["results"]
        if found["metadata"]["next_cursor"] is None:
            break
        cursor = f"&cursor={found['metadata']['next_cursor']}"
    assert slices == whole["results"]
    assert len(slices) == 13


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("export_format", ["json", "csv", "db"])
def test_each_export_format_can_be_read(client: Talker, site: Site, tmp_path: Path, export_format: str) -> None:
    task = client.task(site.url_for("/list?n=3"), max_depth=2, export_format=export_format)
    ended(client, task)
    export = client.get(f"/scraping/tasks/{task}/results")["metadata"]["export"]
    assert export["format"] == export_format
    content = client.http.get(export["url"]).content
    if export_format == "json":
        assert len(json.loads(content)) == 4
    elif export_format == "csv":
        assert len(list(csv.reader(io.StringIO(content.decode())))) == 5
    else:
        file = tmp_path / "export.db"
        file.write_bytes(content)
        with sqlite3.connect(file) as database:
            assert database.execute("SELECT count(*) FROM records").fetchone() == (4,)


def test_a_task_is_cancelled_once_however_often_that_is_asked(client: Talker) -> None:
    task = client.task("https://a.example/")
    for _ in range(3):
        told = client.delete(f"/scraping/tasks/{task}")
        assert (told["task_id"], told["status"]) == (task, "cancelled")
    assert client.messages(task).count("Run cancelled") == 1
    assert client.get(f"/scraping/tasks/{task}/status")["status"] == "cancelled"


def test_five_tasks_run_and_the_others_wait_and_say_why(client: Talker) -> None:
    tasks = [client.task(f"https://a.example/{number}") for number in range(7)]
    urgent = client.task("https://a.example/urgent", priority="critical")
    assert [client.get(f"/scraping/tasks/{task}/status")["status"] for task in tasks] == ["running"] * 5 + [
        "pending"
    ] * 2
    assert "waits for one of the 5 runs" in client.get(f"/scraping/tasks/{tasks[6]}/status")["reason"]
    health = client.get("/scraping/status")
    assert (health["active_tasks"], health["available_task_slots"]) == (5, 0)
    assert health["task_status_distribution"]["pending"] == 3
    client.delete(f"/scraping/tasks/{tasks[0]}")
    assert client.get(f"/scraping/tasks/{urgent}/status")["status"] == "running"
    assert client.get(f"/scraping/tasks/{tasks[5]}/status")["status"] == "pending"


def test_tasks_are_listed_by_status_the_newest_first(client: Talker) -> None:
    tasks = [client.task(f"https://a.example/{number}") for number in range(4)]
    client.delete(f"/scraping/tasks/{tasks[1]}")
    client.delete(f"/scraping/tasks/{tasks[2]}")
    assert [task["task_id"] for task in client.get("/scraping/tasks")] == tasks[::-1]
    answer = client.http.get("/scraping/tasks?status_filter=cancelled&limit=1")
    assert [task["task_id"] for task in answer.json()] == [tasks[2]]
    rest = client.get(f"/scraping/tasks?status_filter=cancelled&limit=1&cursor={answer.headers['x-next-cursor']}")
    assert [task["task_id"] for task in rest] == [tasks[1]]


def test_the_systems_status_has_the_shape_of_the_system_before(client: Talker) -> None:
    health = client.get("/scraping/status")
    assert health["status"] == "healthy"
    assert set(health) >= {"active_tasks", "available_task_slots", "task_status_distribution"}
    assert set(health["error_statistics"]) == {
        "timeout_errors", "connection_errors", "general_errors", "cancelled_tasks", "circuit_breaker_blocked",
    }  # fmt: skip
    assert health["circuit_breaker"] == {"blocked_domains": [], "domain_failure_counts": {}}


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [
        ("timeout_minutes", 4, 5),
        ("timeout_minutes", 121, 120),
        ("max_depth", 0, 1),
        ("max_depth", 6, 5),
        ("max_concurrent_articles", 0, 1),
        ("max_concurrent_articles", 26, 25),
        ("retry_attempts", 0, 1),
        ("retry_attempts", 6, 5),
    ],
)
def test_one_outside_of_a_bound_is_refused_with_the_bound(client: Talker, field: str, value: int, limit: int) -> None:
    body = {"url": "https://a.example/", field: value}
    problem = client.refused("POST", "/scraping/async-scrape", json=body)
    assert (problem["status"], problem["code"], problem["field"]) == (422, "invalid_input", field)
    assert problem["limit"] == limit


@pytest.mark.parametrize(
    "url", ["", "   ", "ftp://a.example/", "file:///etc/passwd", "not a url", "a.example", "http://", "javascript:1"]
)
def test_an_address_that_nobody_could_fetch_is_refused(client: Talker, url: str) -> None:
    problem = client.refused("POST", "/scraping/async-scrape", json={"url": url})
    assert (problem["status"], problem["field"]) == (422, "url")
