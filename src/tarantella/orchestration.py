"""Workflows, queues of scrapers and infrastructure from Python, wired: `from tarantella import JobOrchestrator, ScraperOrchestrator`."""

from __future__ import annotations

from tarantella.bootstrap import open_app
from tarantella.services.infra_orchestrator import Orchestrator
from tarantella.services.orchestrator import WorkflowDefinition, WorkflowOrchestrator, WorkflowStep
from tarantella.services.scraper_orchestrator import QueueOrchestrator
from tarantella.services.step_handlers import StepContext

__all__ = [
    "JobOrchestrator",
    "Orchestrator",
    "ScraperOrchestrator",
    "StepContext",
    "WorkflowDefinition",
    "WorkflowStep",
]


class JobOrchestrator(WorkflowOrchestrator):
    """Workflows in one database, by default that of the data directory."""

    open_app = staticmethod(open_app)


class ScraperOrchestrator(QueueOrchestrator):
    """The queue of a file, by default on the database of the data directory."""

    open_app = staticmethod(open_app)
