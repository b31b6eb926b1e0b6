"""Tasks, as clients of `/scraping` know them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tarantella.api.views.common import Said, Told, moment
from tarantella.domain.backoff import Backoff
from tarantella.domain.run import Priority, RunStatus
from tarantella.domain.url import redact
from tarantella.services.progress import Progress
from tarantella.services.scraping import TaskRequest

EXAMPLE_ID = "0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10"
Address = Annotated[
    str,
    Field(
        min_length=1,
        max_length=8_192,
        description="An http or https address.",
        examples=["https://www.lesswrong.com"],
    ),
]


class PriorityName(StrEnum):
    """Who goes first: each step counts as much as ten minutes of waiting."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> Priority:
        return Priority[self.name]


class TaskStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    PARTIAL = "partial"
    CANCELLED = "cancelled"

    @classmethod
    def of(cls, status: RunStatus) -> TaskStatus:
        """A run that waits, for a slot or because somebody paused it, is pending here."""
        waits = status in (RunStatus.QUEUED, RunStatus.PAUSED)
        return cls.PENDING if waits else cls(status.value)


class AsyncScrapeRequest(Said):
    """What to scrape: an address, how far to follow its links, and how patient to be."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"url": "https://www.lesswrong.com", "max_depth": 2, "timeout_minutes": 30},
                {
                    "url": "https://www.lesswrong.com",
                    "max_depth": 2,
                    "timeout_minutes": 30,
                    "max_concurrent_articles": 10,
                    "retry_attempts": 3,
                    "partial_results_ok": True,
                    "export_format": "json",
                },
            ]
        }
    )

    url: Address
    max_depth: int = Field(2, ge=1, le=5, description="1 is the page alone, 2 also what it links to, and so on.")
    timeout_minutes: int | None = Field(
        None, ge=5, le=120, description="When to stop and keep what there is; 30 if nothing is said."
    )
    timeout_seconds: float | None = Field(
        None, ge=0.1, le=7_200, description="The same in seconds, for short tasks. Only one of the two can be given."
    )
    max_concurrent_articles: int | None = Field(
        None, ge=1, le=25, description="Pages in flight at a time; 10, and 8 of one host, if nothing is said."
    )
    retry_attempts: int = Field(3, ge=1, le=5, description="Requests for one page in all, the first included.")
    partial_results_ok: bool = Field(
        True, description="Whether a task with failed pages is `partial`; otherwise it has failed."
    )
    export_format: Literal["json", "csv", "db"] = Field("json", description="What `metadata.export.url` leads to.")
    priority: PriorityName = Field(PriorityName.MEDIUM, description="Who goes first when tasks have to wait.")
    max_pages: int | None = Field(None, ge=1, le=1_000_000, description="Pages at most; 10,000 if nothing is said.")
    retry_delay_seconds: float | None = Field(
        None,
        ge=0,
        le=300,
        description="How long to wait before the first retry; each further one waits three times as long.",
    )

    @model_validator(mode="after")
    def _one_timeout(self) -> Self:
        if self.timeout_minutes is not None and self.timeout_seconds is not None:
            raise ValueError("timeout_minutes and timeout_seconds say the same thing: give one of them")
        return self

    def wanted(self) -> TaskRequest:
        seconds = self.timeout_seconds if self.timeout_seconds is not None else (self.timeout_minutes or 30) * 60.0
        return TaskRequest(
            url=self.url,
            max_depth=self.max_depth,
            deadline_seconds=seconds,
            attempts=self.retry_attempts,
            partial_results_ok=self.partial_results_ok,
            export_format=self.export_format,
            concurrency=self.max_concurrent_articles,
            max_pages=self.max_pages,
            priority=self.priority.rank,
            backoff=Backoff(base=self.retry_delay_seconds) if self.retry_delay_seconds is not None else None,
        )


class TaskSubmitted(Told):
    """The task was stored, and survives whatever happens from here on."""

    task_id: str = Field(description="Also the id of its run.", examples=[EXAMPLE_ID])
    status: TaskStatus = Field(examples=["pending"])
    message: str = Field(examples=["Scraping task submitted"])
    estimated_duration_minutes: int = Field(description="Roughly; the deadline is the most it can be.", examples=[5])


class Eta(BaseModel):
    """Between so many seconds and so many."""

    low: float
    high: float

    @classmethod
    def of(cls, eta: tuple[float, float] | None) -> Self | None:
        return None if eta is None else cls(low=round(eta[0], 1), high=round(eta[1], 1))


class TaskStatusView(Told):
    """How far a task is. `total_items` is what has been found so far; it grows while `phase` is `discovering`."""

    task_id: str = Field(examples=[EXAMPLE_ID])
    status: TaskStatus
    progress: float = Field(description="How much of what was found is finished, 0 to 100.", ge=0, le=100)
    total_items: int
    completed_items: int
    failed_items: int
    skipped_items: int
    pending_items: int
    success_rate: float | None = Field(description="Of the pages that were done or failed, the share that was done.")
    current_item: str | None = Field(description="A page that is next or under way.")
    phase: str = Field(description="What it is doing: queued, discovering, fetching, waiting, paused, or how it ended.")
    reason: str | None = Field(description="Why it waits, or ended as it did.")
    items_per_minute: float | None
    eta_seconds: Eta | None = Field(
        description="How much longer it will take, as a range; null when that can't be told."
    )
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    duration_seconds: float

    @classmethod
    def of(cls, progress: Progress) -> Self:
        run, counts, rate = progress.run, progress.run.counts, progress.rate
        return cls(
            task_id=run.id,
            status=TaskStatus.of(run.status),
            progress=progress.percent,
            total_items=counts.total,
            completed_items=counts.done,
            failed_items=counts.failed,
            skipped_items=counts.skipped,
            pending_items=counts.pending,
            success_rate=progress.success_rate,
            current_item=redact(progress.current) if progress.current else None,
            phase=progress.phase,
            reason=run.reason,
            items_per_minute=round(rate * 60, 1) if rate is not None else None,
            eta_seconds=Eta.of(progress.eta),
            created_at=moment(run.created_at),
            updated_at=moment(run.finished_at or run.paused_at or (progress.now if run.started_at else run.created_at)),
            started_at=moment(run.started_at),
            completed_at=moment(run.finished_at),
            duration_seconds=round(progress.duration, 3),
        )
