"""Gaps, as clients see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from tarantella.api.views.base import EXAMPLE_ID, Said, Told, moment
from tarantella.domain.gap import LONGEST_NAME, PRIORITIES
from tarantella.domain.script_end import POLICY, ScriptFailure
from tarantella.services.queue import GapStatus, StoredGap, Which

LONGEST_QUEUE = 4_096
PriorityName = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]


class GapPolicyView(Told):
    """What follows from how it failed."""

    retry: bool = Field(description="Whether it is tried again, as often as its scraper says.")
    words: str


class GapView(Told):
    """Something that is missing, and what came of its scraper."""

    id: str = Field(examples=[EXAMPLE_ID])
    queue: str = Field(description="The file that it stands in.", examples=["inventory/gaps.json"])
    name: str = Field(description="What the file calls it.", examples=["task_000001"])
    priority: PriorityName
    source: str
    scraper: str
    params: dict[str, Any] = Field(description="What its script is told.")
    estimated_time_minutes: float | None
    reason: str | None = Field(description="Why it is a gap.")
    status: GapStatus = Field(description="`resolved` is what a later scan does not find missing any more.")
    failure: ScriptFailure | None
    detail: str | None
    policy: GapPolicyView | None
    executions: int
    exit_code: int | None
    records: int | None = Field(description="What its script says it collected.")
    seconds: float | None
    next_at: datetime | None = Field(description="When it may be tried again, where it waits.")
    started_at: datetime | None
    finished_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, gap: StoredGap, **more: str) -> Self:
        policy = POLICY[gap.failure] if gap.failure is not None else None
        told: dict[str, Any] = {name: getattr(gap, name) for name in _SAME}
        told |= {name: moment(getattr(gap, name)) for name in ("started_at", "finished_at", "created_at")}
        return cls(
            **told,
            **more,  # type: ignore[arg-type]  # what a view of more has
            priority=gap.priority.name,  # type: ignore[arg-type]  # one of the four
            estimated_time_minutes=gap.estimated_minutes,
            policy=GapPolicyView(retry=policy.retry, words=policy.words) if policy is not None else None,
            executions=gap.tries,
            next_at=moment(gap.next_at) if gap.status is GapStatus.PENDING and gap.next_at else None,
        )


_SAME = (
    *("id", "queue", "name", "source", "scraper", "params", "reason", "status", "failure", "detail", "exit_code"),
    *("records", "seconds"),
)


class GapDetail(GapView):
    """The same, with the end of what its script said last."""

    stdout: str
    stderr: str


class QueueView(Told):
    """A file of gaps, and how many of them are so."""

    queue: str = Field(examples=["inventory/gaps.json"])
    pending: int
    running: int
    completed: int
    failed: int
    resolved: int
    failures: dict[ScriptFailure, int] = Field(description="For which reasons those that failed were given up.")


class GapsRetry(Said):
    """Which gaps are to be done again; all that have failed, if nothing is said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"failure": "timeout"}]})

    queue: str | None = Field(None, min_length=1, max_length=LONGEST_QUEUE, description="Only those of this file.")
    status: Literal["failed", "completed"] = Field("failed", description="Those that are so.")
    priority: PriorityName | None = Field(None, description="Only those that are so urgent.")
    scraper: str | None = Field(None, min_length=1, max_length=LONGEST_NAME, description="Only those of this scraper.")
    source: str | None = Field(None, min_length=1, max_length=LONGEST_NAME, description="Only those of this source.")
    failure: ScriptFailure | None = Field(None, description="Only those that failed for this reason.")

    def which(self) -> Which:
        return Which(
            self.queue,
            status=GapStatus(self.status),
            priority=PRIORITIES[self.priority] if self.priority is not None else None,
            scraper=self.scraper,
            source=self.source,
            failure=self.failure,
        )


class TakenBack(Told):
    """How many gaps will be done again."""

    taken_back: int
