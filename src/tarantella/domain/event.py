"""One line of a run's history."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tarantella.domain.struct import Frozen, field


class Level(StrEnum):
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class Event(Frozen):
    """A short sentence for people and its facts for machines."""

    message: str
    level: Level = Level.INFO
    meta: Mapping[str, Any] = field(default_factory=dict)


RUN_CREATED = "Run created"
RUN_SCHEDULED = "Run scheduled"
RUN_STARTED = "Run started"
RUN_COMPLETED = "Run completed"
RUN_FAILED = "Run failed"
RUN_PAUSED = "Run paused"
RUN_RESUMED = "Run resumed"
RUN_CANCELLED = "Run cancelled"
RUN_REQUEUED = "Run requeued"
STRATEGY_ESCALATED = "Strategy escalated"
RETRY_SCHEDULED = "Retry scheduled"
PAGE_FAILED = "Page failed"
PAGE_CUT = "Page read in part"
HOST_WAITS = "Host asked us to wait"
ROBOTS_UNREADABLE = "robots.txt could not be read"
BREAKER_OPENED = "Breaker opened"
BREAKER_CLOSED = "Breaker closed"
MAX_PAGES_REACHED = "Page limit reached"
DEADLINE_REACHED = "Deadline reached"
SITEMAP_READ = "Sitemap read"
SITEMAPS_NAMED = "Sitemaps named"
NO_SITEMAP = "No sitemap found"
TRAP_STOPPED = "Trap stopped"
STRATEGY_MISSING = "Strategy not available"
STRATEGY_LEARNED = "Strategy learned"
REQUIRED_MISSING = "Required fields missing"
COVERAGE_FELL = "Field coverage fell"
RECORDING_MADE = "Recording made"
RECORDING_STOPPED = "Recording stopped working"
NO_RECORDING = "No recording made"
WORKFLOW_CREATED = "Workflow created"
WORKFLOW_STARTED = "Workflow started"
WORKFLOW_PAUSED = "Workflow paused"
WORKFLOW_RESUMED = "Workflow resumed"
WORKFLOW_COMPLETED = "Workflow completed"
WORKFLOW_FAILED = "Workflow failed"
WORKFLOW_CANCELLED = "Workflow cancelled"
WORKFLOW_RECOVERING = "Workflow recovering"
STEP_STARTED = "Step started"
STEP_COMPLETED = "Step completed"
STEP_FAILED = "Step failed"
STEP_SKIPPED = "Step skipped"
STEP_RETRIED = "Step retry scheduled"
STEP_REQUEUED = "Step requeued"
