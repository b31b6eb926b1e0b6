"""`tarantella serve` as users start it: a process of its own with engines of its own, and somebody who talks to it."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2

from tests.fault.processes import LOOK_AGAIN, PATIENCE, Child

OVER = ("completed", "partial", "failed", "cancelled")


class ServerProcess(Child):
    """A server on a free port, ready to be talked to."""

    def __init__(self, data_dir: Path, *more: str, engines: int = 1, env: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir
        command = [sys.executable, "-m", "tarantella", "serve", "--json", "--port", "0", "--data-dir", str(data_dir)]
        command += ["--engines", str(engines), "--allow-network", "127.0.0.0/8", *more]
        super().__init__(command, data_dir.parent, env=env)
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            line = None
        if not line:
            self.kill()
            raise AssertionError(f"The server did not start.\n{self.errors}")
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rpartition(":")[2])
        self.client = httpx2.Client(base_url=self.url, timeout=30)

    def kill(self) -> None:
        super().kill()
        if hasattr(self, "client"):
            self.client.close()

    def kill_api(self) -> None:
        """SIGKILL to the parent alone: its engines are orphans now."""
        self.signal(signal.SIGKILL)
        self._process.wait()

    def get(self, path: str, **parameters: Any) -> Any:
        answer = self.client.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, url: str, **options: Any) -> str:
        """Submit a task; its id."""
        answer = self.client.post("/scraping/async-scrape", json={"url": url, **options})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["task_id"])

    def status(self, task_id: str) -> dict[str, Any]:
        return dict(self.get(f"/scraping/tasks/{task_id}/status"))

    def until_over(self, task_id: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The last status of a task."""
        return dict(self.until(lambda: self.status(task_id), lambda seen: seen["status"] in OVER, seconds))

    def until(self, look: Callable[[], Any], condition: Callable[[Any], bool], seconds: float = PATIENCE) -> Any:
        """Look again and again until it is so; what was seen then."""
        give_up = time.monotonic() + seconds
        while True:
            seen = look()
            if condition(seen):
                return seen
            if time.monotonic() > give_up:
                raise AssertionError(f"It never came so far: {seen}\n{self.errors}")
            time.sleep(LOOK_AGAIN)

    def engine_pids(self) -> list[int]:
        """The processes of its engines, once each of them works."""
        engines = self.until(
            lambda: self.get("/system")["engines"],
            lambda found: all(engine["state"] == "running" for engine in found),
        )
        return [engine["pid"] for engine in engines]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
