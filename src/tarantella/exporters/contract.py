"""What a format has to be able to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

Record: TypeAlias = Mapping[str, Any]


class Output(Protocol):
    """Where an export goes: an open file, or something that is written to like one."""

    @property
    def name(self) -> str: ...

    def write(self, data: bytes, /) -> int: ...


class Exporter(Protocol):
    """Writes records one after the other, never holding more than a few, and says how many there were."""

    # How the names of such files end, without the dot.
    extension: str
    # True where a format can't be written from front to back: then `out` is an empty file, found by its name.
    needs_file: bool

    def write(self, records: Iterable[Record], fields: Sequence[str], out: Output) -> int:
        """`fields` are the names that records can have below their `fields`, for formats with columns."""
        ...


class FolderExporter(Protocol):
    """Writes records one after the other into a folder that is empty, and says how many there were."""

    # How the names of such folders end, without the dot.
    extension: str

    def write(self, records: Iterable[Record], folder: Path) -> int: ...
