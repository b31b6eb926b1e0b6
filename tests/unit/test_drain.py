"""Slots: whoever takes one gives it back, however it ends."""

from __future__ import annotations

import asyncio
from typing import Any

from tarantella.engine.drain import Drain
from tarantella.engine.holdings import Holdings
from tarantella.engine.tools import Tools
from tests.unit.test_lane import Time, filled, served

NOBODY: Any = None


class NeverFull:
    is_full = False

    def hurry(self, *, is_all: bool) -> None: ...


def test_a_page_that_is_dropped_before_its_first_step_holds_no_slot_of_its_host() -> None:
    time = Time()
    run = served("r")
    lane = filled(time, run, count=1)
    held = Holdings(time.clock.wall)
    held.runs[run.id], held.lanes[lane.name] = run, lane
    settler: Any = NeverFull()
    drain = Drain(NOBODY, Tools({}, NOBODY, NOBODY, {}, clock=time.clock), held, settler, slots=8)
    drain.dials_until = time.clock.monotonic() + 60

    async def start_and_drop() -> None:
        drain.look(lane)
        assert (lane.active, run.busy, len(held.tasks)) == (1, 1, 1)
        # In the same turn of the loop: somebody else has closed the run.
        drain.drop({run.id})
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(start_and_drop())
    assert (lane.active, run.busy, lane.held, held.tasks) == (0, 0, set(), {})
