"""Tarantella runs web data collection so that nobody has to watch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "JobOrchestrator",
    "Orchestrator",
    "ScrapeFailed",
    "ScraperOrchestrator",
    "StepContext",
    "WorkflowDefinition",
    "WorkflowStep",
    "__version__",
    "scrape",
    "scrape_async",
]

if TYPE_CHECKING:
    from tarantella.bootstrap import ScrapeFailed, scrape, scrape_async
    from tarantella.orchestration import (
        JobOrchestrator,
        Orchestrator,
        ScraperOrchestrator,
        StepContext,
        WorkflowDefinition,
        WorkflowStep,
    )


def __getattr__(name: str) -> object:
    # Importing the package stays instant: the engine is loaded by the first use of one of these names.
    if name in {"ScrapeFailed", "scrape", "scrape_async"}:
        from tarantella import bootstrap

        return getattr(bootstrap, name)
    if name in {
        "JobOrchestrator",
        "Orchestrator",
        "ScraperOrchestrator",
        "StepContext",
        "WorkflowDefinition",
        "WorkflowStep",
    }:
        from tarantella import orchestration

        return getattr(orchestration, name)
    raise AttributeError(f"module 'tarantella' has no attribute {name!r}")
