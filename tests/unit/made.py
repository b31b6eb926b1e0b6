"""Runs, lanes, pages and clocks, made up for tests that have no store."""

from __future__ import annotations

from tarantella.domain.breaker import Breaker
from tarantella.domain.page import Page
from tarantella.domain.run import Counts, RunStatus, Wanted
from tarantella.domain.spec import Spec
from tarantella.domain.struct import replace
from tarantella.engine.clock import Clock
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.store.lanes import Lane
from tarantella.store.runs import Run

RUN = Run(
    id="01a1e1c3-2570-7937-b01b-cdfd30c6ab6d",
    status=RunStatus.RUNNING,
    wanted=Wanted.RUN,
    reason=None,
    spec=Spec(depth=None),
    roots=("https://example.com/",),
    keeper=None,
    counts=Counts(1_000, 700, 3, 7, 290),
    surplus=0,
    records=700,
    requests=710,
    bytes=1,
    refused={},
    last_event=1,
    failure_code=None,
    error_message=None,
    created_at=0.0,
    started_at=0.0,
    paused_at=None,
    deadline_at=None,
    finished_at=None,
)


class Time:
    """Both clocks, standing still until they are moved."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def now(self) -> float:
        return self.seconds

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.now)


def lane(time: Time, *, not_before: float = 0.0, breaker: Breaker | None = None, deaths: int = 0) -> OwnedLane:
    return OwnedLane(Lane("a.example", not_before, breaker or Breaker(), deaths), time.clock)


def served(run_id: str, *, slots: int = 100, wanted: Wanted = Wanted.RUN, spec: Spec | None = None) -> ServedRun:
    row = replace(
        RUN,
        id=run_id,
        wanted=wanted,
        spec=spec or Spec(),
        roots=("https://a.example/",),
        counts=Counts(),
        records=0,
        requests=0,
        bytes=0,
        last_event=0,
    )
    run = ServedRun(row)
    run.slots = slots
    return run


def pages(run_id: str, first: int, count: int) -> list[Page]:
    return [
        Page(n, run_id, f"{n}", "a.example", "https://a.example/", 1, 0, 0, "http", 0, False, None)
        for n in range(first, first + count)
    ]


def filled(time: Time, *runs: ServedRun, count: int = 100) -> OwnedLane:
    made = lane(time)
    made.pages.stands({run.id for run in runs})
    for number, run in enumerate(runs):
        made.pages.add(run.id, pages(run.id, 1_000 * number, count), count + 1)
    return made
