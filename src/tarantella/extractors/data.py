"""What a JSON document holds."""

from __future__ import annotations

from typing import Any

import orjson

from tarantella.extractors.text import without_nul

MAX_BYTES = 1_000_000


def read_json(text: str) -> Any:
    """The values in a JSON text, or None where it isn't one."""
    try:
        data = orjson.loads(text)
    except ValueError:
        return None
    return _cleaned(data) if "\\u0000" in text else data


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_nul(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(key): _cleaned(item) for key, item in value.items()}
    return value
