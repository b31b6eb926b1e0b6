"""The autopilot's loop, when something goes wrong that nobody has thought of."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.autopilot import Phase, unwell
from tarantella.services import autopilot, queue
from tarantella.services.autopilot import Autopilot, Course
from tarantella.services.filling import Look, Watcher
from tarantella.services.foreground import Interrupt
from tarantella.services.logbook import Logbook, read
from tarantella.services.queue import Plan


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


def test_to_wait_for_somebody_else_is_no_illness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is left is of a scraper that another queue run is at, and that allows no more."""
    app, logbook = open_app(data_dir=tmp_path), Logbook(tmp_path)
    try:
        pilot = Autopilot(app, Course(), logbook, Watcher(), Interrupt())
        pilot._phase(Phase.FILLING)
        telling, began = autopilot._Telling(pilot, cast(Plan, None)), app.now()
        telling.looked(Look(running=0, left=3, eta_seconds=None, next_in=0.0))
        monkeypatch.setattr(type(app), "now", lambda _: began + 600)
        telling.looked(Look(running=0, left=3, eta_seconds=None, next_in=0.0, elsewhere=1))
        assert unwell(pilot.flight, app.now()) is None
        monkeypatch.setattr(type(app), "now", lambda _: began + 1_200)
        telling.looked(Look(running=0, left=3, eta_seconds=None, next_in=0.0))
        pilot._tell()
        assert "nothing has begun or ended" in str(unwell(pilot.flight, app.now()))
    finally:
        logbook.close()
        app.close()
