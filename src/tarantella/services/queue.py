"""Queues of gaps: what their files say, what of it is stored, and what was given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tarantella.domain.gap import PRIORITIES, Gap, GapsRead
from tarantella.domain.run import Priority
from tarantella.domain.scraper import NoCommand, Scraper, arguments
from tarantella.domain.script_end import Ended, ScriptFailure
from tarantella.domain.struct import Frozen
from tarantella.services.app import App
from tarantella.services.gaps_file import read_gaps_file
from tarantella.services.scrapers_file import Scrapers, read_scrapers_file
from tarantella.services.script_finding import NoScript, find_script
from tarantella.store import gaps
from tarantella.store.connection import Row
from tarantella.store.gaps import GapStatus, StoredGap, TakenIn, Which

__all__ = [
    "Counts",
    "GapStatus",
    "StoredGap",
    "TakenIn",
    "Which",
    "counts",
    "listed",
    "make_plan",
    "retry",
    "said",
    "take_in",
]

DONE_ALREADY = ("completed", "resolved", "done", "success")  # what a file may say of a gap that is none any more


class Plan(Frozen):
    """What a queue file and a file of scrapers say, before anything is done."""

    file: Path
    base: Path  # the folder in which scripts lie and work
    read: GapsRead
    scrapers: Scrapers

    @property
    def queue(self) -> str:
        return queue_of(self.file)

    def to_json(self, priority: Priority | None = None) -> dict[str, Any]:
        """What a run would do, the most urgent first, without looking at what was done before."""
        some = [gap for gap in self.read.gaps if priority is None or gap.priority is priority]
        return {
            "total": len(some),
            "skipped": len(some),
            "by_priority": {name: sum(gap.priority is which for gap in some) for name, which in PRIORITIES.items()},
            "tasks": [self._told(gap) for gap in sorted(some, key=lambda gap: gap.priority)],
        }

    def _told(self, gap: Gap) -> dict[str, Any]:
        found = command_for(self, gap)
        return {
            "id": gap.id,
            "priority": gap.priority.name,
            "source": gap.source,
            "scraper": gap.scraper,
            "status": "skipped",
            "command": None if isinstance(found, Ended) else [shown_path(found[1], self.base), *found[2]],
            "failure": found.failure if isinstance(found, Ended) else None,
            "detail": found.detail if isinstance(found, Ended) else None,
        }


def make_plan(file: Path, scraper_config: Path, base: Path | None = None) -> Plan:
    """Raises InvalidInput where one of the files can't be used."""
    read = read_gaps_file(file)
    return Plan(file, (base or Path.cwd()).resolve(), read, read_scrapers_file(scraper_config))


def command_for(plan: Plan, gap: Gap) -> tuple[Scraper, Path, list[str]] | Ended:
    """What is to be executed; or why nothing can be."""
    scraper = plan.scrapers.by_name.get(gap.scraper)
    if scraper is None:
        return Ended(ScriptFailure.CONFIG, f"There is no scraper {gap.scraper!r} in the file of scrapers.")
    try:
        return scraper, find_script(scraper, plan.base), arguments(scraper, gap)
    except NoScript as error:
        return Ended(ScriptFailure.SCRIPT, str(error))
    except NoCommand as error:
        return Ended(ScriptFailure.CONFIG, str(error))


def queue_of(file: Path) -> str:
    """What the queue of a file is called in the database."""
    return str(file.resolve())


async def take_in(app: App, plan: Plan) -> TakenIn:
    """Make the stored queue what its file says."""
    return await _take_in(app, plan.queue, plan.read)


async def take_in_file(app: App, file: Path) -> TakenIn:
    """The same, without asking how its gaps could be filled."""
    return await _take_in(app, queue_of(file), read_gaps_file(file))


async def _take_in(app: App, queue: str, read: GapsRead) -> TakenIn:
    return await app.database.write(
        partial(
            gaps.take_in,
            queue=queue,
            gaps=[gap for gap in read.gaps if gap.status.lower() not in DONE_ALREADY],
            unread={problem.id for problem in read.problems if problem.id is not None},
            scanned_at=read.generated_at,
            now=app.now(),
        ),
        durable=True,
        name="gaps",
    )


# -- what there is, for those who look


async def listed(app: App, which: Which, limit: int, after: tuple[int, int, str] | None = None) -> list[StoredGap]:
    return await app.database.read(partial(gaps.listed, which=which, limit=limit, after=after))


async def said(app: App, gap_id: str) -> tuple[StoredGap, str, str]:
    """A gap, and the end of what its script said last."""
    return await app.database.read(lambda tx: (gaps.get(tx, gap_id), *gaps.said(tx, gap_id)))


async def retry(app: App, which: Which) -> int:
    """Have gaps done again that have failed, or those that are completed; how many."""
    write = partial(gaps.retry, which=which, now=app.now())
    return await app.database.write(write, durable=True, name="gaps")


class Counts(Frozen):
    """How the gaps of a queue stand."""

    by_status: Mapping[GapStatus, int]
    failures: Mapping[ScriptFailure, int]  # for which reasons they are given up


async def counts(app: App) -> dict[str, Counts]:
    """How the gaps of every queue stand."""
    rows = await app.database.read(partial(gaps.counted, which=Which()))
    return {
        name: _counts([row for row in rows if row.queue == name]) for name in dict.fromkeys(row.queue for row in rows)
    }


def _counts(rows: Sequence[Row]) -> Counts:
    by_status, failures = dict.fromkeys(GapStatus, 0), dict.fromkeys(ScriptFailure, 0)
    for row in rows:
        by_status[GapStatus(row.status)] += row.n
        if row.status == GapStatus.FAILED and row.failure is not None:
            failures[ScriptFailure(row.failure)] += row.n
    return Counts(by_status, failures)


def shown_path(path: Path, base: Path) -> str:
    """A script as people call it."""
    return str(path.relative_to(base)) if path.is_relative_to(base) else path.name
