"""Tasks: one address, what it links to, and an export. A task is a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from tarantella.domain.backoff import Backoff
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import Link
from tarantella.domain.page import INCOMPLETE_SKIPS, PageState, Skip
from tarantella.domain.run import Priority, RunStatus
from tarantella.domain.struct import Frozen
from tarantella.domain.url import fingerprint
from tarantella.services.app import App
from tarantella.services.specs import spec_of, start_address
from tarantella.store import pages, records, runs
from tarantella.store.ids import new_id
from tarantella.store.runs import SCRAPING, Run
from tarantella.store.submission import Submission
from tarantella.store.tx import Tx

SLICE = 100
MOST_CHARACTERS = 8_000_000  # of text in one answer
MOST_ERRORS = 1_000
ErrorClass = Literal["timeout", "connection", "general"]
_ERROR_CLASSES: Mapping[str, ErrorClass] = {
    Failure.TIMEOUT: "timeout",
    Skip.DEADLINE: "timeout",
    Failure.NETWORK: "connection",
    Failure.PROXY: "connection",
    Skip.HOST_DOWN: "connection",
}
# What to expect of a crawl of so many levels, in minutes; its deadline comes first.
_USUAL_MINUTES = {1: 1, 2: 5, 3: 15}
_MANY_MINUTES = 30


class TaskRequest(Frozen):
    """What was asked for."""

    url: str
    max_depth: int
    deadline_seconds: float
    attempts: int
    partial_results_ok: bool
    export_format: str
    concurrency: int | None = None
    max_pages: int | None = None
    priority: Priority = Priority.MEDIUM
    backoff: Backoff | None = None

    @property
    def estimated_minutes(self) -> int:
        usual = _USUAL_MINUTES.get(self.max_depth, _MANY_MINUTES)
        return max(1, min(usual, round(self.deadline_seconds / 60)))


def submission_of(app: App, wanted: TaskRequest) -> Submission:
    """The run that a task is."""
    url = start_address(wanted.url, "url")
    spec = spec_of(
        app.settings,
        auto=True,
        depth=wanted.max_depth,
        deadline_seconds=wanted.deadline_seconds,
        concurrency=wanted.concurrency,
        # Who names a number means the site: all articles are on one.
        per_host=wanted.concurrency,
        attempts=wanted.attempts,
        partial_ok=wanted.partial_results_ok,
        max_pages=wanted.max_pages,
        priority=wanted.priority,
        backoff=wanted.backoff,
    )
    return Submission(
        run_id=new_id(),
        spec=spec,
        start=Link(url.href, fingerprint(url.href), url.lane, 1),
        source=SCRAPING,
        now=app.now(),
        requested_strategy=spec.wish,
        resolved_strategy=spec.strategy,
        export_format=wanted.export_format,
    )


async def tasks(
    app: App, *, statuses: Sequence[RunStatus] | None, limit: int, before: tuple[float, str] | None = None
) -> list[Run]:
    """The newest tasks first."""
    listed = partial(runs.listed, source=SCRAPING, limit=limit, before=before)
    found: list[Run] = []
    for status in statuses or (None,):
        found += await app.database.read(partial(listed, status=status))
    return sorted(found, key=lambda run: (run.created_at, run.id), reverse=True)[:limit]


# -- results


class Results(Frozen):
    """Some of what a task collected, and how its pages stand."""

    run: Run
    items: list[tuple[int, dict[str, Any], int]]  # the record's number, the record, its page's attempts
    more: bool
    errors: list[dict[str, Any]] | None
    troubles: Mapping[str, int]  # pages that failed or were left, by reason


async def results(app: App, run_id: str, *, after: int, limit: int, include_errors: bool) -> Results:
    """A slice of the results, as much as can be sent at once."""
    run = await app.database.read(partial(runs.seen, run_id=run_id))
    items: list[tuple[int, dict[str, Any], int]] = []
    size, more = 0, True
    while more and len(items) < limit and size < MOST_CHARACTERS:
        wanted = min(SLICE, limit - len(items))
        work = partial(records.with_attempts, run_id=run_id, last=items[-1][0] if items else after, limit=wanted + 1)
        found = await app.database.read(work)
        more = len(found) > wanted
        items += found[:wanted]
        size += sum(len(record.get("text") or "") for _, record, _ in found[:wanted])
    errors = await app.database.read(partial(_errors, run_id=run_id)) if include_errors else None
    troubles = await app.database.read(partial(pages.troubles, run_id=run_id))
    counted = {
        row["reason"]: row["count"] for row in troubles if row["state"] == "failed" or row["reason"] in INCOMPLETE_SKIPS
    }
    return Results(run, items, more, errors, counted)


def _errors(tx: Tx, run_id: str) -> list[dict[str, Any]]:
    """The pages that failed, and those that were left undone; the first of them, where there are many."""
    found = pages.listed(tx, run_id, state=PageState.FAILED, limit=MOST_ERRORS)
    for reason in sorted(INCOMPLETE_SKIPS):
        if len(found) < MOST_ERRORS:
            left = MOST_ERRORS - len(found)
            found += pages.listed(tx, run_id, state=PageState.SKIPPED, reason=reason, limit=left)
    return found


def error_class(reason: str | None) -> ErrorClass:
    """Which of three kinds of errors a failure is."""
    return _ERROR_CLASSES.get(reason or "", "general")
