"""Tasks: one address, what it links to, and an export. A task is a run."""

from __future__ import annotations

from dataclasses import dataclass

from tarantella.domain.backoff import Backoff
from tarantella.domain.outcome import Link
from tarantella.domain.run import Priority
from tarantella.domain.url import fingerprint, start_url
from tarantella.services.app import App
from tarantella.services.specs import spec_of
from tarantella.store.ids import new_id
from tarantella.store.runs import SCRAPING
from tarantella.store.submission import Submission

# What to expect of a crawl of so many levels, in minutes; its deadline comes first.
_USUAL_MINUTES = {1: 1, 2: 5, 3: 15}
_MANY_MINUTES = 30


@dataclass(frozen=True, slots=True)
class TaskRequest:
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
    url = start_url(wanted.url)
    spec = spec_of(
        app.settings,
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
        requested_strategy=spec.strategy,
        resolved_strategy=spec.strategy,
        export_format=wanted.export_format,
    )
