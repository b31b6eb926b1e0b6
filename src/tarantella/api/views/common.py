"""What views have in common."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, overload

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict

from tarantella.domain.run import Priority
from tarantella.domain.url import redact

EXAMPLE_ID = "0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10"
LONGEST_ADDRESS = 8_192


def _no_text(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError("Input should be a number")
    return value


# A client that sends "2" or true for a number may mean anything.
Whole = Annotated[int, BeforeValidator(_no_text)]
Number = Annotated[float, BeforeValidator(_no_text)]
Flag = Annotated[bool, Strict()]


class Said(BaseModel):
    """Something that a client says: what it means must be known, or it is refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=100_000)


class Told(BaseModel):
    """Something that a client is told."""


@overload
def moment(at: float) -> datetime: ...
@overload
def moment(at: None) -> None: ...
@overload
def moment(at: float | None) -> datetime | None: ...
def moment(at: float | None) -> datetime | None:
    """A time as the store has it, for people and programs."""
    return None if at is None else datetime.fromtimestamp(round(at, 3), UTC)


class PriorityName(StrEnum):
    """Who goes first: each step counts as much as ten minutes of waiting."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> Priority:
        return Priority[self.name]


class Eta(BaseModel):
    """Between so many seconds and so many."""

    low: float
    high: float

    @classmethod
    def of(cls, eta: tuple[float, float] | None) -> Eta | None:
        return None if eta is None else cls(low=round(eta[0], 1), high=round(eta[1], 1))


def shown_job(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """A job as it may be seen: its addresses can have secrets in them."""
    shown = dict(snapshot)
    if shown.get("target_url"):
        shown["target_url"] = redact(shown["target_url"])
    if shown.get("sitemaps"):
        shown["sitemaps"] = [redact(address) for address in shown["sitemaps"]]
    return shown
