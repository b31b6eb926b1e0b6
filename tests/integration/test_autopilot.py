"""The autopilot's loop, when something goes wrong that nobody has thought of."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.autopilot import Phase
from tarantella.services import queue
from tarantella.services.autopilot import Autopilot, Course
from tarantella.services.filling import Watcher
from tarantella.services.foreground import Interrupt
from tarantella.services.logbook import Logbook, read


def test_a_cycle_that_goes_wrong_is_told_and_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cycles = []

    def breaks(*_: Any) -> None:
        cycles.append(1)
        if len(cycles) == 2:
            interrupt.set()
        raise RuntimeError("nobody has thought of this")

    monkeypatch.setattr(queue, "make_plan", breaks)
    app, logbook, interrupt = open_app(data_dir=tmp_path), Logbook(tmp_path), Interrupt()
    try:
        pilot = Autopilot(app, Course(interval_seconds=0.01), logbook, Watcher(), interrupt)
        asyncio.run(asyncio.wait_for(pilot.run(), 30))
    finally:
        logbook.close()
        app.close()
    assert len(cycles) == 2
    flight = read(tmp_path)
    assert flight is not None and (flight.failed_cycles, flight.phase) == (2, Phase.STOPPED)
    assert flight.trouble == "RuntimeError: nobody has thought of this"
