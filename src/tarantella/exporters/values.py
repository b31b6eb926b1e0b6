"""Values that every format can hold, whatever was found on a page."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

import orjson

from tarantella.exporters.stored import StoredRecord

Cell: TypeAlias = str | int | float | bool | None

_MOST = 2**64 - 1
_LEAST = -(2**63)
_MOST_IN_SQL = 2**63 - 1
_DEEPEST = 200


def to_json(value: Any) -> bytes:
    """JSON, always: what JSON has no word for becomes the nearest thing that it has."""
    if isinstance(value, StoredRecord):
        return value.text.encode()
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_storable(value, 0))


def to_cell(value: Any) -> Cell:
    """One cell of a table: a plain value as it is, anything nested as JSON."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, int):
        return value if _LEAST <= value <= _MOST_IN_SQL else _digits(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return to_json(value).decode()
    return valid_text(str(value))


def valid_text(text: str) -> str:
    """The text without halves of characters, which no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _storable(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return "…"
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value if _LEAST <= value <= _MOST else _digits(value)
    if isinstance(value, Mapping):
        return {valid_text(str(key)): _storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_storable(item, depth + 1) for item in value]
    return valid_text(str(value))


def _digits(number: int) -> str:
    # Python refuses to write numbers of thousands of digits in decimal, because that takes for ever.
    return str(number) if number.bit_length() < 10_000 else hex(number)
