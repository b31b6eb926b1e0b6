"""How long one page of a long list takes: runs, pages and events, as the command line and the API ask for them."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import library
from benchmarks.rig.library import Library
from tarantella.bootstrap import open_app
from tarantella.domain.event import Level
from tarantella.domain.page import PageState
from tarantella.domain.run import RunStatus
from tarantella.services import runs as service
from tarantella.store import events, runs

WANTED_SECONDS = 0.020
CALLS_PER_REPETITION = 20
# Slow ones are called less often: by then enough is known of them.
LONGEST_CASE = 4.0
# What `tarantella runs list`, `pages` and `events` ask for at a time.
RUNS, PAGES, EVENTS = 20, 101, 1_000

HOW = """\
One database with {many:,} runs, of which one has {many:,} pages, records and events, and another as many pages before it. Of the pages
one in 20 failed, one in 33 was skipped, one in 50 is pending. Each is asked for up to {calls} times, as the command line does,
with its own page sizes: {runs} runs, {pages} pages, {events:,} events. The time is that of the whole call into the store, thread and back."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question to the store."""

    what: str
    ask: Callable[[], Awaitable[Collection[Any]]]
    # What is part of a command but no list: told, and nothing is wished for.
    is_list: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """How long it took, each time."""

    what: str
    is_list: bool
    rows: int
    seconds: list[float]

    @property
    def p95(self) -> float:
        return quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else self.seconds[0]


def run(setting: Setting) -> Findings:
    folder = setting.work_dir / "lists"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        answers = asyncio.run(_ask_all(setting, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lists = [answer for answer in answers if answer.is_list]
    slowest = max(lists, key=lambda answer: median(answer.seconds))
    slowest_p95 = max(lists, key=lambda answer: answer.p95)
    calls = setting.repetitions * CALLS_PER_REPETITION
    return Findings(
        tables=[_table(answers)],
        raw=[asdict(answer) for answer in answers],
        wishes=[
            Wish(f"slowest median, {slowest.what}", median(slowest.seconds) * 1e3, WANTED_SECONDS * 1e3, "ms"),
            Wish(f"slowest p95, {slowest_p95.what}", slowest_p95.p95 * 1e3, WANTED_SECONDS * 1e3, "ms"),
        ],
        notes=[HOW.format(many=setting.many, calls=calls, runs=RUNS, pages=PAGES, events=EVENTS)],
        complaints=[f"{answer.what}: nothing was found" for answer in answers if not answer.rows],
    )


async def _ask_all(setting: Setting, folder: Path) -> list[Answer]:
    say(f"filling a database with {setting.many:,} runs, pages, records and events")
    app = open_app(data_dir=folder)
    try:
        answers = []
        for case in _cases(await library.fill(app, setting.many)):
            answer = await _ask(case, setting.repetitions * CALLS_PER_REPETITION)
            say(f"{answer.what}: {median(answer.seconds) * 1e3:.1f} ms, p95 {answer.p95 * 1e3:.1f} ms")
            answers.append(answer)
        return answers
    finally:
        app.close()


async def _ask(case: Case, times: int) -> Answer:
    rows = len(await case.ask())
    seconds: list[float] = []
    give_up = time.perf_counter() + LONGEST_CASE
    while len(seconds) < times and (len(seconds) < 2 or time.perf_counter() < give_up):
        begin = time.perf_counter()
        await case.ask()
        seconds.append(time.perf_counter() - begin)
    return Answer(case.what, case.is_list, rows, seconds)


def _cases(shelves: Library) -> list[Case]:
    return [*_runs(shelves), *_pages(shelves), *_events(shelves), *_beside_lists(shelves)]


def _runs(shelves: Library) -> list[Case]:
    app, middle = shelves.app, shelves.middle_run

    def before() -> Awaitable[list[runs.Run]]:
        return app.database.read(partial(runs.listed, limit=RUNS, before=middle))

    return [
        Case("runs, first page", partial(service.listed, app, limit=RUNS)),
        Case("runs, from the middle", before),
        Case("runs, failed", partial(service.listed, app, status=RunStatus.FAILED, limit=RUNS)),
        Case("runs, paused (one in 1,000)", partial(service.listed, app, status=RunStatus.PAUSED, limit=RUNS)),
    ]


def _pages(shelves: Library) -> list[Case]:
    ask = partial(service.page_list, shelves.app, shelves.run_id, limit=PAGES)
    middle = shelves.middle_page
    return [
        Case("pages, first page", ask),
        Case("pages, from the middle", partial(ask, after=middle)),
        Case("pages, done, from the middle", partial(ask, state=PageState.DONE, after=middle)),
        Case("pages, pending", partial(ask, state=PageState.PENDING)),
        Case("pages, failed", partial(ask, state=PageState.FAILED)),
        Case("pages, failed, from the middle", partial(ask, state=PageState.FAILED, after=middle)),
        Case("pages, failed, rare reason", partial(ask, state=PageState.FAILED, reason=library.RARE)),
        Case("pages, any state, common reason", partial(ask, reason=library.COMMON)),
        Case("pages, any state, rare reason", partial(ask, reason=library.RARE)),
    ]


def _events(shelves: Library) -> list[Case]:
    app, run_id = shelves.app, shelves.run_id
    warnings = partial(events.listed, run_id=run_id, level=Level.WARN, limit=EVENTS)
    return [
        Case("events, first page", partial(service.event_list, app, run_id, limit=EVENTS)),
        Case(
            "events, from the middle", partial(service.event_list, app, run_id, after=shelves.many // 2, limit=EVENTS)
        ),
        Case("events, warnings", partial(app.database.read, warnings)),
    ]


def _beside_lists(shelves: Library) -> list[Case]:
    """What the same commands ask for beside the list."""
    app, run_id = shelves.app, shelves.run_id
    return [
        Case("find a run by its whole id", partial(service.find, app, run_id), is_list=False),
        Case("find the latest run", partial(service.find, app, "latest"), is_list=False),
        Case("what failed and was skipped, by reason", partial(service.troubles, app, run_id), is_list=False),
    ]


def _table(answers: Sequence[Answer]) -> Table:
    rows = [
        [
            answer.what if answer.is_list else f"beside: {answer.what}",
            f"{median(answer.seconds) * 1e3:.1f}",
            f"{answer.p95 * 1e3:.1f}",
            str(len(answer.seconds)),
        ]
        for answer in answers
    ]
    return Table(("list", "median ms", "p95 ms", "calls"), rows)


BENCHMARK = Benchmark("lists", "How long does one page of a long list take?", run)
