"""An engine in a thread of somebody else's process: whatever ends it, another one follows."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tarantella.domain.errors import WorkerDead
from tarantella.services import resident
from tarantella.services.app import App
from tarantella.services.resident import Resident


@pytest.mark.parametrize("end", [OSError("no route"), WorkerDead("declared dead"), asyncio.CancelledError()])
def test_an_engine_that_ends_is_followed_by_another(monkeypatch: pytest.MonkeyPatch, end: BaseException) -> None:
    monkeypatch.setattr(resident, "FIRST_PAUSE", 0.01)
    opened, again = [], threading.Event()

    def open_app() -> App:
        opened.append(1)
        if len(opened) == 3:
            again.set()
        raise end

    child = Resident(open_app, grace=1.0)
    child.start()
    assert again.wait(10), "nobody follows"
    child.stop()
