"""The whole, as clients of `/scraping` see it."""

from __future__ import annotations

from collections import Counter
from typing import Literal, Self

from pydantic import Field

from tarantella.api.views.base import Told
from tarantella.api.views.scraping import TaskStatus
from tarantella.domain.failure import Failure
from tarantella.domain.page import INCOMPLETE_SKIPS, Skip
from tarantella.domain.run import RunStatus
from tarantella.services.overview import SystemStatus
from tarantella.services.scraping import error_class


class ErrorStatistics(Told):
    """What went wrong in the last day."""

    timeout_errors: int
    connection_errors: int
    general_errors: int
    cancelled_tasks: int
    circuit_breaker_blocked: int = Field(description="Pages that were given up because their host was down.")


class CircuitBreaker(Told):
    """Hosts that are left alone for a while, and how often hosts have failed in a row."""

    blocked_domains: list[str]
    domain_failure_counts: dict[str, int]


class SystemStatusView(Told):
    """How the whole is doing."""

    status: Literal["healthy", "degraded", "at_capacity"] = Field(
        description="`at_capacity` when all slots are taken, `degraded` when there is work and nobody to do it."
    )
    active_tasks: int
    queued_tasks: int
    available_task_slots: int
    max_concurrent_tasks: int
    workers: int = Field(description="Engines that are alive.")
    task_status_distribution: dict[str, int]
    error_statistics: ErrorStatistics
    circuit_breaker: CircuitBreaker

    @classmethod
    def of(cls, found: SystemStatus) -> Self:
        distribution = dict.fromkeys((status.value for status in TaskStatus), 0)
        for status, count in found.runs.items():
            distribution[TaskStatus.of(RunStatus(status)).value] += count
        classes = Counter[str]()
        for reason, pages in found.troubles.items():
            if reason in set(Failure) or reason in INCOMPLETE_SKIPS:
                classes[error_class(reason)] += pages
        active = found.runs.get(RunStatus.RUNNING, 0)
        return cls(
            status=found.health,
            active_tasks=active,
            queued_tasks=found.runs.get(RunStatus.QUEUED, 0),
            available_task_slots=max(0, found.slots - active),
            max_concurrent_tasks=found.slots,
            workers=found.workers,
            task_status_distribution=distribution,
            error_statistics=ErrorStatistics(
                timeout_errors=classes["timeout"],
                connection_errors=classes["connection"],
                general_errors=classes["general"],
                cancelled_tasks=distribution["cancelled"],
                circuit_breaker_blocked=found.troubles.get(Skip.HOST_DOWN, 0),
            ),
            circuit_breaker=CircuitBreaker(
                blocked_domains=[host.name for host in found.hosts if host.open_until > found.now],
                domain_failure_counts={host.name: host.failures for host in found.hosts},
            ),
        )
