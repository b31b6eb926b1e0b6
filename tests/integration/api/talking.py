"""Short ways to say things to the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.testclient import TestClient

ENDED = ("completed", "partial", "failed", "cancelled")
PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Talker:
    """A client; what it asks for in passing has to be answered."""

    http: TestClient

    def get(self, path: str, **more: Any) -> Any:
        return self._told(self.http.get(path, **more))

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return self._told(self.http.post(path, json=body, **more) if body is not None else self.http.post(path, **more))

    def patch(self, path: str, body: Any) -> Any:
        return self._told(self.http.patch(path, json=body))

    def delete(self, path: str) -> Any:
        return self._told(self.http.delete(path))

    def refused(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        """The problem that is the answer."""
        answer = self.http.request(method, path, **more)
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        problem: dict[str, Any] = answer.json()
        assert problem["status"] == answer.status_code
        assert 400 <= answer.status_code < 500 or answer.status_code == 503
        return problem

    def job(self, url: str, *fields: Any, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.post("/jobs", {"target_url": url, "fields": list(fields) or ["title"], **more})
        return found

    def run_of(self, job: dict[str, Any], **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.post(f"/jobs/{job['id']}/runs", **more)
        return found

    def task(self, url: str, **more: Any) -> str:
        return str(self.post("/scraping/async-scrape", {"url": url, **more})["task_id"])

    def until(self, path: str, condition: Callable[[Any], bool], seconds: float = PATIENCE) -> Any:
        """Ask until the answer is so."""
        give_up = time.monotonic() + seconds
        while True:
            found = self.get(path)
            if condition(found):
                return found
            assert time.monotonic() < give_up, found
            time.sleep(0.02)

    def ended(self, run_id: str) -> dict[str, Any]:
        """The run, once it is over."""
        found: dict[str, Any] = self.until(f"/jobs/runs/{run_id}", lambda run: run["status"] in ENDED)
        return found

    def messages(self, run_id: str) -> list[str]:
        return [event["message"] for event in self.get(f"/jobs/runs/{run_id}/events")]

    def _told(self, answer: Any) -> Any:
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None
