"""What views are made of: what a client says and is told, and the kinds of values in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, overload

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict

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
