"""Priorities, as clients name them."""

from __future__ import annotations

from enum import StrEnum

from tarantella.domain.run import Priority


class PriorityName(StrEnum):
    """Who goes first: each step counts as much as ten minutes of waiting."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> Priority:
        return Priority[self.name]
