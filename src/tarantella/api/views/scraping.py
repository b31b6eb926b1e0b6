"""Tasks, as clients of `/scraping` know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlencode

from pydantic import ConfigDict, Field, model_validator

from tarantella.api.views.base import EXAMPLE_ID, LONGEST_ADDRESS, Flag, Number, Said, Told, Whole, moment
from tarantella.api.views.priority import PriorityName
from tarantella.api.views.progress import Eta
from tarantella.domain.backoff import Backoff
from tarantella.domain.reasons import in_words
from tarantella.domain.run import RunStatus
from tarantella.domain.url import redact
from tarantella.services.progress import Progress, success_rate
from tarantella.services.scraping import Results, TaskRequest, error_class
from tarantella.store.runs import Run

EXCERPT = 500
Address = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_ADDRESS,
        description="An http or https address.",
        examples=["https://www.lesswrong.com"],
    ),
]


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

    @property
    def statuses(self) -> tuple[RunStatus, ...]:
        """Those of runs that look like this here."""
        return tuple(status for status in RunStatus if TaskStatus.of(status) is self)


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
    max_depth: Whole = Field(2, ge=1, le=5, description="1 is the page alone, 2 also what it links to, and so on.")
    timeout_minutes: Whole | None = Field(
        None, ge=5, le=120, description="When to stop and keep what there is; 30 if nothing is said."
    )
    timeout_seconds: Number | None = Field(
        None, ge=0.1, le=7_200, description="The same in seconds, for short tasks. Only one of the two can be given."
    )
    max_concurrent_articles: Whole | None = Field(
        None, ge=1, le=25, description="Pages in flight at a time; 10, and 8 of one host, if nothing is said."
    )
    retry_attempts: Whole = Field(3, ge=1, le=5, description="Requests for one page in all, the first included.")
    partial_results_ok: Flag = Field(
        True, description="Whether a task with failed pages is `partial`; otherwise it has failed."
    )
    export_format: Literal["json", "csv", "db"] = Field("json", description="What `metadata.export.url` leads to.")
    priority: PriorityName = Field(PriorityName.MEDIUM, description="Who goes first when tasks have to wait.")
    max_pages: Whole | None = Field(None, ge=1, le=1_000_000, description="Pages at most; 10,000 if nothing is said.")
    retry_delay_seconds: Number | None = Field(
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
            reason=_why(run),
            items_per_minute=round(rate * 60, 1) if rate is not None else None,
            eta_seconds=Eta.of(progress.eta),
            created_at=moment(run.created_at),
            updated_at=moment(run.finished_at or run.paused_at or (progress.now if run.started_at else run.created_at)),
            started_at=moment(run.started_at),
            completed_at=moment(run.finished_at),
            duration_seconds=round(progress.duration, 3),
        )


class TaskCancelled(Told):
    """What became of a task that was to be cancelled. Cancelling one that is over changes nothing."""

    task_id: str = Field(examples=[EXAMPLE_ID])
    status: TaskStatus = Field(examples=["cancelled"])
    message: str = Field(examples=["Task cancelled"])


class Item(Told):
    """One page of the results."""

    url: str
    title: str | None
    text: str = Field(description="The beginning of the text.")
    full_text: str
    source: str = Field(description="`main_page`, or `article-depth-N` for what was found N links deep.")
    timestamp: str | None = Field(description="When it was fetched.")
    depth: int
    word_count: int
    char_count: int
    retry_attempt: int = Field(description="How many retries it took.")

    @classmethod
    def of(cls, record: Mapping[str, Any], attempts: int) -> Self:
        text = record.get("text") or ""
        depth = record.get("depth", 1)
        return cls(
            url=redact(record["url"]),
            title=record.get("title"),
            text=text if len(text) <= EXCERPT else text[:EXCERPT] + "…",
            full_text=text,
            source="main_page" if depth == 1 else f"article-depth-{depth}",
            timestamp=record.get("fetched_at"),
            depth=depth,
            word_count=record.get("word_count") or 0,
            char_count=len(text),
            retry_attempt=max(0, attempts - 1),
        )


class Summary(Told):
    """How the pages of a task stand. The counts add up."""

    total_pages: int
    successful_pages: int
    failed_pages: int
    skipped_pages: int
    pending_pages: int
    success_rate: float | None
    total_processing_time: float = Field(description="Seconds since the task was started, or that it took.")
    items_per_minute: float | None
    timeout_errors: int
    connection_errors: int
    general_errors: int


class ErrorView(Told):
    """A page that failed, or had to be left."""

    url: str
    error: str = Field(description="What went wrong, in words.")
    error_type: Literal["timeout", "connection", "general"]
    code: str = Field(description="The exact reason.")
    detail: str | None
    attempts: int
    depth: int

    @classmethod
    def of(cls, page: Mapping[str, Any]) -> Self:
        code = str(page["reason"])
        return cls(
            url=redact(page["url"]),
            error=in_words(code),
            error_type=error_class(code),
            code=code,
            detail=page["detail"],
            attempts=page["charged"],
            depth=page["depth"],
        )


class ExportView(Told):
    """Where all the results are in one piece."""

    format: str
    url: str = Field(examples=[f"/jobs/runs/{EXAMPLE_ID}/export?format=json"])


class Metadata(Told):
    """What was asked for, and where the rest is."""

    url: str | None
    max_depth: int | None
    export: ExportView
    returned_items: int
    total_results: int
    next_cursor: str | None = Field(description="For the next call, if there is more.")
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    reason: str | None


class TaskResults(Told):
    """What a task has collected so far; all of it once it is over."""

    task_id: str = Field(examples=[EXAMPLE_ID])
    status: TaskStatus
    results: list[Item]
    summary: Summary
    errors: list[ErrorView] | None = Field(None, description="With `include_errors=true`: the first thousand.")
    metadata: Metadata

    @classmethod
    def of(cls, found: Results, now: float, next_cursor: str | None) -> Self:
        run = found.run
        seconds = max(0.0, (run.finished_at or now) - run.started_at) if run.started_at is not None else 0.0
        ended = run.counts.total - run.counts.pending
        classes = Counter[str]()
        for reason, pages in found.troubles.items():
            classes[error_class(reason)] += pages
        export_format = run.export_format or "json"
        return cls(
            task_id=run.id,
            status=TaskStatus.of(run.status),
            results=[Item.of(record, attempts) for _, record, attempts in found.items],
            summary=Summary(
                total_pages=run.counts.total,
                successful_pages=run.counts.done,
                failed_pages=run.counts.failed,
                skipped_pages=run.counts.skipped,
                pending_pages=run.counts.pending,
                success_rate=success_rate(run.counts),
                total_processing_time=round(seconds, 3),
                items_per_minute=round(60 * ended / seconds, 1) if seconds > 0.001 else None,
                timeout_errors=classes["timeout"],
                connection_errors=classes["connection"],
                general_errors=classes["general"],
            ),
            errors=[ErrorView.of(page) for page in found.errors] if found.errors is not None else None,
            metadata=Metadata(
                url=redact(run.roots[0]) if run.roots else None,
                max_depth=run.spec.depth,
                export=ExportView(
                    format=export_format, url=f"/jobs/runs/{run.id}/export?{urlencode({'format': export_format})}"
                ),
                returned_items=len(found.items),
                total_results=run.records,
                next_cursor=next_cursor,
                created_at=moment(run.created_at),
                started_at=moment(run.started_at),
                completed_at=moment(run.finished_at),
                reason=_why(run),
            ),
        )


def _why(run: Run) -> str | None:
    """Why it waits; or, where all of it failed, what was wrong with its first page."""
    return run.reason or (run.error_message if run.status is RunStatus.FAILED else None)
