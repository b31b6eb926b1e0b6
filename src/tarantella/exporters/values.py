"""Values that every format can hold, whatever was found on a page."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

import orjson

from tarantella.domain.jsonable import LEAST, digits, jsonable, valid_text
from tarantella.exporters.stored import StoredRecord

Cell: TypeAlias = str | int | float | bool | None

_MOST_IN_SQL = 2**63 - 1


def to_json(value: Any) -> bytes:
    """JSON, always: what JSON has no word for becomes the nearest thing that it has."""
    if isinstance(value, StoredRecord):
        return value.text.encode()
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(jsonable(value))


def to_cell(value: Any) -> Cell:
    """One cell of a table: a plain value as it is, anything nested as JSON."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, int):
        return value if LEAST <= value <= _MOST_IN_SQL else digits(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return to_json(value).decode()
    return valid_text(str(value))
