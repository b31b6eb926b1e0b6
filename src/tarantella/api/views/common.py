"""What views have in common."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload

from pydantic import BaseModel, ConfigDict


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
