"""Workflows and queues of scrapers from Python, wired: `from tarantella import JobOrchestrator, ScraperOrchestrator`."""

from __future__ import annotations

from tarantella.bootstrap import open_app
from tarantella.services.orchestrator import Orchestrator, WorkflowDefinition, WorkflowStep
from tarantella.services.scraper_orchestrator import QueueOrchestrator
from tarantella.services.step_handlers import StepContext

__all__ = ["JobOrchestrator", "ScraperOrchestrator", "StepContext", "WorkflowDefinition", "WorkflowStep"]


class JobOrchestrator(Orchestrator):
    """Workflows in one database, by default that of the data directory."""

    open_app = staticmethod(open_app)


class ScraperOrchestrator(QueueOrchestrator):
    """The queue of a file, by default on the database of the data directory."""

    open_app = staticmethod(open_app)
