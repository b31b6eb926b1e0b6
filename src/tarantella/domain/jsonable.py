"""What every JSON can hold: found on a page, or given by a user, a value may be something else."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

MOST = 2**64 - 1
LEAST = -(2**63)
_DEEPEST = 200


def is_jsonable(value: Any, depth: int = 0) -> bool:
    """Whether a value comes back from JSON as it was."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return valid_text(value) == value
    if isinstance(value, int):
        return LEAST <= value <= MOST
    if isinstance(value, float):
        return isfinite(value)
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(
            isinstance(key, str) and valid_text(key) == key and is_jsonable(item, depth + 1)
            for key, item in value.items()
        )
    return isinstance(value, list) and all(is_jsonable(item, depth + 1) for item in value)


def jsonable(value: Any, depth: int = 0) -> Any:
    """The value, or the nearest thing to it that JSON has a word for."""
    if depth > _DEEPEST:
        return "…"
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if LEAST <= value <= MOST else digits(value)
    if isinstance(value, Mapping):
        return {valid_text(str(key)): jsonable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item, depth + 1) for item in value]
    return valid_text(str(value))


def valid_text(text: str) -> str:
    """The text without halves of characters, which no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def digits(number: int) -> str:
    # Python refuses to write numbers of thousands of digits in decimal, because that takes for ever.
    return str(number) if number.bit_length() < 10_000 else hex(number)
