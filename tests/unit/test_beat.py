"""A beat that can't be written is told, and not over and over."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.errors import StoreBusy
from tarantella.engine.beat import Beat
from tarantella.engine.clock import Clock
from tarantella.engine.holdings import Holdings
from tarantella.engine.pulse import Pulse
from tarantella.settings import load
from tarantella.store.database import Database
from tarantella.store.workers import WorkerInfo
from tests.integration.crawling import awaited


@awaited
async def test_each_outage_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "tarantella")
    app = open_app(load(data_dir=tmp_path / "data"))
    idle: Any = type("Idle", (), {"trouble": None, "is_idle": True})()
    clock, held = Clock(), Holdings(Clock().wall)
    me = WorkerInfo("me", None, "here", 7, "0")
    pulse = Pulse(held, idle, clock, remembers=60.0)
    beat = Beat(app.database, me, held, pulse, clock, lives=lambda _: None, owns=lambda _: None)
    write, is_away, over = Database.write, [True, True, True, False, True, True], asyncio.Event()

    async def now_and_then(self: Database, *given: Any, **more: Any) -> Any:
        if not is_away:
            over.set()
        elif is_away.pop(0):
            raise StoreBusy("The database is away.", remedy="Bring it back.")
        return await write(self, *given, **more)

    try:
        await beat.register()
        monkeypatch.setattr(Database, "write", now_and_then)
        beating = asyncio.create_task(beat.run(0.0, lambda: None))
        await over.wait()
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
    finally:
        app.close()
    assert caplog.text.count("The beat could not be written") == 2
