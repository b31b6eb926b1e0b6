"""What an inventory can do: say which files there are, one after the other, and what it could not look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tarantella.domain.struct import Frozen

MOST_PROBLEMS = 1_000  # that are told; one is enough not to trust a scan


class Found(Frozen):
    """A file: its path in the inventory, with slashes and without one in front."""

    path: str
    bytes: int
    modified: float
    trouble: str | None = None  # why the other two could not be seen


class Inventory(Protocol):
    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def problems(self) -> list[str]:
        """What could not be looked at so far, in words. Whatever would be there is not known to be missing."""

    def list(self, folder: str, depth: int | None) -> Iterator[Found]:
        """The files below a folder, lazily and in any order: those so many levels deep at most, None is all.

        A folder that does not exist has no files. Never raises for what can't be read: that is a problem.
        """
