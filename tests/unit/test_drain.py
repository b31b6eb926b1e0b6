"""Slots: whoever takes one gives it back, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tarantella.domain.page import Page
from tarantella.engine.drain import Drain
from tarantella.engine.holdings import Holdings
from tarantella.engine.tools import Tools
from tests.unit.made import Time, filled, pages, served

NOBODY: Any = None


class NeverFull:
    is_full = False

    def hurry(self, *, is_all: bool = False) -> None: ...


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
    assert (lane.active, run.busy, lane.pages.held, held.tasks) == (0, 0, set(), {})


class SlowStore:
    """Answers a read when it is told to, with what was there when it was asked."""

    def __init__(self, pages: list[Page]) -> None:
        self.pages = pages
        self.asked = 0
        self.answer = asyncio.Event()

    async def read(self, _take: Callable[..., Any]) -> tuple[list[Page], list[Any]]:
        self.asked += 1
        seen = list(self.pages)
        await self.answer.wait()
        return seen, []


def test_pages_that_come_while_others_are_read_are_read_at_once() -> None:
    time = Time()
    run = served("r", slots=0)
    lane = filled(time, run, count=0)
    lane.pages.look_again()
    held = Holdings(time.clock.wall)
    held.runs[run.id], held.lanes[lane.name] = run, lane
    settler: Any = NeverFull()

    async def story() -> int:
        store: Any = SlowStore([])
        drain = Drain(store, Tools({}, NOBODY, NOBODY, {}, clock=time.clock), held, settler, slots=8)
        drain.look(lane)
        await asyncio.sleep(0)
        # A settle brings the first ones, while the answer that there are none is on its way.
        store.pages = pages(run.id, 0, 3)
        lane.pages.look_again()
        drain.look(lane)
        store.answer.set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert lane.pages.queued == 3
        return int(store.asked)

    assert asyncio.run(story()) == 2, "and not again and again, where there are no more"
