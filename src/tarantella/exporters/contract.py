"""What a format has to be able to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO, Protocol, TypeAlias

Record: TypeAlias = Mapping[str, Any]


class Exporter(Protocol):
    """Writes records one after the other, never holding more than a few; says how many there were."""

    # How names of such files end, without the dot.
    extension: str
    # True where the format can't be written from front to back, hence not to a pipe: then `out` has a name.
    needs_file: bool

    def write(self, records: Iterable[Record], fields: Sequence[str], out: BinaryIO) -> int:
        """`fields` are the names that records may have below `fields`, for formats with columns."""
        ...
