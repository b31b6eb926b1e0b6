"""Tasks: submitted and watched over HTTP."""

from __future__ import annotations

from starlette.testclient import TestClient


def test_a_task_is_stored_and_can_be_watched(client: TestClient) -> None:
    answer = client.post("/scraping/async-scrape", json={"url": "https://a.example/", "max_depth": 2})
    assert answer.status_code == 200
    told = answer.json()
    assert set(told) == {"task_id", "status", "message", "estimated_duration_minutes"}
    assert told["status"] == "pending"
    status = client.get(f"/scraping/tasks/{told['task_id']}/status").json()
    assert status["task_id"] == told["task_id"]
    assert (status["total_items"], status["pending_items"], status["completed_items"]) == (1, 1, 0)
