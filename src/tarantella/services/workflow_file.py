"""A workflow file: the steps of a workflow, written down in YAML or JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.services.fields_file import parsed_file

REMEDY = "docs/workflows.md shows what it can say."


def read_workflow_file(path: Path) -> dict[str, Any]:
    """What is in it, as JSON knows it. Raises InvalidInput that names the file and, where it can, the line or the place."""
    found = parsed_file(path, "file", REMEDY, "FILE")
    if not isinstance(found, Mapping):
        raise InvalidInput(f"{path} has no name and steps in it.", remedy=REMEDY, field="file")
    _check(found, "", path)
    return dict(found)


def _check(value: Any, place: str, path: Path) -> None:
    """YAML knows more than JSON does: dates, bytes, sets, and numbers that are none."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                told = f"{path}: {place or 'its beginning'}: the name {str(name)[:40]!r} is no text."
                raise InvalidInput(told, remedy="Put it in quotation marks.", field=place or "file")
            _check(inner, f"{place}.{name}" if place else name, path)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check(inner, f"{place}.{number}", path)
    elif not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
        told = f"{path}: {place}: {str(value)[:40]} is nothing that JSON knows."
        raise InvalidInput(told, remedy="Write a text, a number, true, false, null, a list or an object.", field=place)
