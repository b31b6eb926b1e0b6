"""Lists stay quick however much there is: a page of one is read from an index, and nothing is added up for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.event import Level
from tarantella.domain.page import PageState
from tarantella.domain.run import RunStatus
from tarantella.store import (
    closing,
    duties,
    events,
    first_page,
    jobs,
    lanes,
    pages,
    progress,
    records,
    runs,
    schema,
    workers,
)
from tarantella.store.connection import Row
from tarantella.store.database import Database
from tarantella.store.tx import Tx
from tests.contract.world import World, done, failed

Look = Callable[[Tx, str], Any]


def _in_state(state: PageState) -> Look:
    return lambda tx, run: pages.listed(tx, run, state=state)


LISTS: dict[str, Look] = {
    "the newest runs": lambda tx, _: runs.listed(tx),
    "the runs after these": lambda tx, run: runs.listed(tx, before=(1.0, run)),
    "runs of one status": lambda tx, _: runs.listed(tx, status=RunStatus.PAUSED),
    "tasks": lambda tx, _: runs.listed(tx, source=runs.SCRAPING),
    "tasks of one status": lambda tx, _: runs.listed(tx, source=runs.SCRAPING, status=RunStatus.FAILED),
    "runs of a job": lambda tx, run: runs.listed(tx, job_id=run, before=(1.0, run)),
    "runs of a job of one status": lambda tx, run: runs.listed(tx, job_id=run, status=RunStatus.FAILED),
    "jobs": lambda tx, run: jobs.listed(tx, limit=50, before=(1.0, run)),
    "first pages": lambda tx, run: first_page.first_pages(tx, [run]),
    "a run under way": progress.look,
    "results": lambda tx, run: records.with_attempts(tx, run, 7, 100),
    "the newest run": lambda tx, _: runs.find(tx, "latest"),
    "a run by its id": runs.find,
    "pages": lambda tx, run: pages.listed(tx, run, after=7),
    **{f"pages that are {state}": _in_state(state) for state in PageState},
    "pages of one reason": lambda tx, run: pages.listed(tx, run, reason="network"),
    "failed pages of one reason": lambda tx, run: pages.listed(tx, run, state=PageState.FAILED, reason="network"),
    "events": lambda tx, run: events.listed(tx, run, after=7),
    "events of one level": lambda tx, run: events.listed(tx, run, level=Level.WARN),
    "records": lambda tx, run: records.after(tx, run, 7),
    "what failed, by reason": pages.troubles,
    "living workers": lambda tx, _: workers.alive(tx),
    "half runs": lambda tx, _: duties.unfinished_submissions(tx, runs.SUBMITTING, 1.0),
    "runs to be closed": lambda tx, _: closing.overdue(tx, 1.0),
    "when a run is due": lanes.next_ready,
    "lanes that could be taken": lambda tx, _: lanes.ready_count(tx, only_run=None, now=1.0),
}


class Explained(Tx):
    """Asks for the plan of each query instead of its rows."""

    __slots__ = ("plans",)

    def __init__(self, tx: Tx) -> None:
        super().__init__(tx.connection, tx.dialect)
        self.plans: list[str] = []

    def all(self, sql: str, **values: Any) -> Sequence[Row]:
        self.plans += [row.detail for row in super().all(f"EXPLAIN QUERY PLAN {sql}", **values)]
        return super().all(sql, **values)

    def rows(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        self.plans += [row.detail for row in super().all(f"EXPLAIN QUERY PLAN {sql}", **values)]
        return super().rows(sql, **values)

    def value(self, sql: str, **values: Any) -> Any:
        self.plans += [row.detail for row in super().all(f"EXPLAIN QUERY PLAN {sql}", **values)]
        return super().value(sql, **values)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Database]:
    """SQLite tells its plans plainly; the indexes are the same everywhere."""
    schema.prepare(tmp_path / "tarantella.db")
    opened = Database(tmp_path / "tarantella.db")
    yield opened
    opened.close()


# Of indexes that would do, these are the ones that do it quickly.
BEST = {
    "the newest runs": "runs_by_age",
    "runs of one status": "runs_by_status_and_age",
    "pages": "pages_of_run",
    "pages that are pending": "pages_pending",
    "pages that are failed": "pages_in_trouble",
    "pages of one reason": "pages_by_reason",
    "failed pages of one reason": "pages_by_reason",
    "events of one level": "run_events_of_trouble",
    "half runs": "runs_unseen",
    "runs to be closed": "runs_to_cancel",
    "living workers": "workers_alive",
}


@pytest.mark.parametrize("name", LISTS)
def test_no_list_looks_at_every_row_of_a_table(file: Database, name: str) -> None:
    world = World(file)
    worker = world.worker()
    run = world.submit("1", "2", "3", "4")
    for page in world.take(run)[:3]:
        world.settle(worker, done(page) if page.id % 2 else failed(page))

    def plans(tx: Tx) -> list[str]:
        explained = Explained(tx)
        LISTS[name](explained, run)
        return explained.plans

    found = world.read(plans)
    assert found
    assert [plan for plan in found if plan.startswith("SCAN") and "USING" not in plan and "VIRTUAL" not in plan] == []
    assert BEST.get(name, "") in " ".join(found)


def test_slices_of_a_list_put_together_are_the_list(world: World) -> None:
    made = [world.submit(f"{number}") for number in range(7)]
    seen: list[str] = []
    before: tuple[float, str] | None = None
    while found := world.read(runs.listed, limit=2, before=before):
        seen += [run.id for run in found]
        before = (found[-1].created_at, found[-1].id)
    assert seen == sorted(made, reverse=True)


def test_runs_that_nobody_may_see_yet_take_no_place_in_a_slice(world: World) -> None:
    seen = world.submit("seen")
    hidden = [world.create(f"{number}") for number in range(3)]
    assert [run.id for run in world.read(runs.listed, limit=1)] == [seen]
    for run in hidden:
        world.seal(run)
    assert len(world.read(runs.listed, limit=10)) == 4
