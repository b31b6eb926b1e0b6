"""What every page makes several of: values that are quick to make and to read, and can't be changed."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from msgspec.structs import asdict, replace


class Struct(msgspec.Struct, frozen=True, gc=False):
    """Used like a named tuple, by its names alone. None of them holds what holds it, so nobody has to look for cycles."""

    def _replace(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def _asdict(self) -> dict[str, Any]:
        return asdict(self)
