"""Workflows from Python, wired: `from tarantella import JobOrchestrator, WorkflowDefinition, WorkflowStep`."""

from __future__ import annotations

from tarantella.bootstrap import open_app
from tarantella.services.orchestrator import Orchestrator, WorkflowDefinition, WorkflowStep
from tarantella.services.step_handlers import StepContext

__all__ = ["JobOrchestrator", "StepContext", "WorkflowDefinition", "WorkflowStep"]


class JobOrchestrator(Orchestrator):
    """Workflows in one database, by default that of the data directory."""

    open_app = staticmethod(open_app)
