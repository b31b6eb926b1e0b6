"""Runs, and what belongs to them, as clients see them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from tarantella.api.views.base import EXAMPLE_ID, Said, Told, moment
from tarantella.api.views.jobs import shown_job
from tarantella.api.views.priority import PriorityName
from tarantella.domain.failure import Failure
from tarantella.domain.run import Counts
from tarantella.domain.url import redact
from tarantella.services.progress import success_rate
from tarantella.store.runs import Run

# The six codes that clients know; the exact one stands beside it.
_CODES: Mapping[str, str] = {
    Failure.NOT_FOUND: "bad_response",
    Failure.TOO_LARGE: "bad_response",
    Failure.DENIED: "bad_response",
    Failure.PROXY: "network",
    Failure.BROWSER: "unknown",
    Failure.NEEDS_RENDER: "unknown",
    Failure.RECORDING: "bad_response",
}


def public_code(failure: str | None) -> str | None:
    """The one of them that an exact code is."""
    return None if failure is None else _CODES.get(failure, failure)


class RunCreate(Said):
    """What may be said of a run; all of it can be left out, and so can the body."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"priority": "high"}]})

    priority: PriorityName | None = Field(None, description="Instead of the job's own.")


class CountsView(BaseModel):
    """How a run's pages stand: total = done + failed + skipped + pending, always."""

    total: int
    done: int
    failed: int
    skipped: int
    pending: int

    @classmethod
    def of(cls, counts: Counts) -> Self:
        return cls(
            total=counts.total, done=counts.done, failed=counts.failed, skipped=counts.skipped, pending=counts.pending
        )


class CostView(Told):
    """What a run took so far."""

    requests: int
    bytes: int = Field(description="Of the bodies that came back.")
    browser_seconds: float = Field(description="The time that a browser was busy with its pages.")
    pages_by_strategy: dict[str, int] = Field(
        description="The pages that are done, by how they were had.", examples=[{"http": 120, "browser": 3}]
    )


class RunView(Told):
    """A run. What it was made of does not change, whatever becomes of its job."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": EXAMPLE_ID,
                    "job_id": "0199f3a1-2b6c-7e0d-8c44-5a8e9d1f7c22",
                    "status": "queued",
                    "attempt": 1,
                    "max_attempts": 3,
                    "requested_strategy": "auto",
                    "resolved_strategy": "http",
                    "failure_code": None,
                    "failure_detail": None,
                    "error_message": None,
                    "stats": {},
                    "created_at": "2026-01-11T12:00:00Z",
                    "started_at": None,
                    "finished_at": None,
                    "source": "job",
                    "wanted": "run",
                    "reason": "waits for one of the 5 runs before it to end",
                    "priority": "medium",
                    "target_url": "https://example.com/",
                    "counts": {"total": 1, "done": 0, "failed": 0, "skipped": 0, "pending": 1},
                    "success_rate": None,
                    "records": 0,
                    "requests": 0,
                    "bytes": 0,
                    "cost": {"requests": 0, "bytes": 0, "browser_seconds": 0.0, "pages_by_strategy": {}},
                    "job": {"id": "0199f3a1-2b6c-7e0d-8c44-5a8e9d1f7c22", "version": 1, "fields": ["title"]},
                }
            ]
        }
    )

    id: str
    job_id: str | None = Field(description="Null for a run of `/scraping` or of the command line.")
    status: str = Field(description="queued, running, paused, completed, partial, failed or cancelled.")
    attempt: int = Field(description="At which attempt its first page is.")
    max_attempts: int
    requested_strategy: str
    resolved_strategy: str = Field(description="What the strategy came to when the run was made.")
    failure_code: str | None = Field(
        description="blocked, rate_limited, timeout, network, bad_response or unknown, if a page failed."
    )
    failure_detail: str | None = Field(description="The same, exactly.")
    error_message: str | None
    stats: dict[str, Any] = Field(description="Of its first page, once the run is over.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    source: str = Field(description="Who asked for it: job, scraping or cli.")
    wanted: str = Field(description="What was asked of it last: run, pause or cancel.")
    reason: str | None = Field(description="Why it waits, was interrupted, or ended as it did.")
    priority: PriorityName
    target_url: str | None
    counts: CountsView
    success_rate: float | None
    records: int
    requests: int
    bytes: int
    cost: CostView
    coverage: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="The share of its records that have each field, and how many lack it."
    )
    job: dict[str, Any] | None = Field(description="The job as it was when the run was made.")

    @classmethod
    def of(cls, run: Run, attempt: int) -> Self:
        return cls(
            id=run.id,
            job_id=run.job_id,
            status=run.status.value,
            attempt=min(attempt, run.spec.attempts),
            max_attempts=run.spec.attempts,
            requested_strategy=run.requested_strategy or run.spec.wish,
            resolved_strategy=run.resolved_strategy or run.spec.strategy,
            failure_code=public_code(run.failure_code),
            failure_detail=run.failure_code,
            error_message=run.error_message or None,
            stats=run.stats,
            created_at=moment(run.created_at),
            started_at=moment(run.started_at),
            finished_at=moment(run.finished_at),
            source=run.source,
            wanted=run.wanted.value,
            reason=run.reason,
            priority=PriorityName[run.spec.priority.name],
            target_url=redact(run.roots[0]) if run.roots else None,
            counts=CountsView.of(run.counts),
            success_rate=success_rate(run.counts),
            records=run.records,
            requests=run.requests,
            bytes=run.bytes,
            cost=CostView(**run.cost),
            coverage={each.name: each.to_json() for each in run.coverage},
            job=shown_job(run.snapshot) if run.snapshot is not None else None,
        )


class Retried(Told):
    """How many pages are tried again, and the run that they belong to."""

    pages: int
    run: RunView


class EventView(Told):
    """One line of a run's history. `sequence` grows by one and has no gaps."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "0199f3a2-7c20-7b1a-b3f5-2c0d9a7e4f11",
                    "run_id": EXAMPLE_ID,
                    "sequence": 2,
                    "level": "info",
                    "message": "Run started",
                    "meta": {"attempt": 1, "strategy": "http"},
                    "created_at": "2026-01-11T12:00:01Z",
                }
            ]
        }
    )

    id: str
    run_id: str
    sequence: int
    level: str = Field(description="info, warn or error.")
    message: str
    meta: dict[str, Any]
    created_at: datetime

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        return cls(**{**event, "created_at": moment(event["created_at"])})


class PageView(Told):
    """One address within a run."""

    id: int
    url: str
    final_url: str | None = Field(description="Where redirects led to, if that is somewhere else.")
    depth: int
    status: str = Field(description="pending, done, failed or skipped.")
    reason: str | None = Field(description="Why it failed, was skipped, or is tried again.")
    detail: str | None
    attempts: int
    strategy: str
    next_at: datetime | None = Field(description="When it is due, while it is pending.")
    http_status: int | None
    found_on: int | None = Field(description="The page that linked to it; null for where the run started.")
    kind: str = Field(description="page; or what only lists addresses: sitemap, sitemap_guess.")

    @classmethod
    def of(cls, page: Mapping[str, Any]) -> Self:
        return cls(
            id=page["id"],
            url=redact(page["url"]),
            final_url=redact(page["final_url"]) if page["final_url"] else None,
            depth=page["depth"],
            status=page["state"],
            reason=page["reason"],
            detail=page["detail"],
            attempts=page["charged"],
            strategy=page["strategy"],
            next_at=moment(page["next_at"]) if page["state"] == "pending" else None,
            http_status=page["status"],
            found_on=page["found_on"],
            kind=page["kind"],
        )


class AttemptView(Told):
    """One try at a page."""

    n: int
    strategy: str
    started_at: datetime
    elapsed_ms: int
    protocol: str | None
    http_status: int | None
    bytes: int
    failure: str | None
    detail: str | None
    decision: str = Field(description="What followed from it.")

    @classmethod
    def of(cls, attempt: Mapping[str, Any]) -> Self:
        return cls(
            n=attempt["n"],
            strategy=attempt["strategy"],
            started_at=moment(attempt["started_at"]),
            elapsed_ms=attempt["elapsed_ms"],
            protocol=attempt["protocol"],
            http_status=attempt["status"],
            bytes=attempt["bytes"],
            failure=attempt["failure"],
            detail=attempt["detail"],
            decision=attempt["decision"],
        )


class Explanation(Told):
    """The whole story of a page: where it was found, every attempt, what was decided and why."""

    page: PageView
    found_on: str | None = Field(description="The address of the page that linked to it.")
    waits: str | None = Field(description="What keeps a pending page, beside the time at which it is due.")
    attempts: list[AttemptView]
    fields: list[dict[str, Any]] = Field(
        description="Each field of its records: its value, where that came from, and what was wrong with it."
    )

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        parent = told["found_on"]
        return cls(
            page=PageView.of(told["page"]),
            found_on=redact(parent["url"]) if parent else None,
            waits=told["waits"],
            attempts=[AttemptView.of(attempt) for attempt in told["attempts"]],
            fields=told["fields"],
        )
