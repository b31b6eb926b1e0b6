"""A memory that forgets."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Recent(Generic[T]):
    """Remembers at least the last half of `limit` things it was given, and never more than `limit`."""

    __slots__ = ("_new", "_old", "half")

    def __init__(self, limit: int) -> None:
        self.half = max(1, limit // 2)
        self._new: set[T] = set()
        self._old: set[T] = set()

    def __contains__(self, thing: T) -> bool:
        return thing in self._new or thing in self._old

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def add(self, thing: T) -> bool:
        """Remember it; False if it was known."""
        if thing in self._new or thing in self._old:
            return False
        if len(self._new) >= self.half:
            self._old, self._new = self._new, set()
        self._new.add(thing)
        return True

    def drop(self, thing: T) -> None:
        """Forget what was added last."""
        self._new.discard(thing)

    def clear(self) -> None:
        self._old, self._new = set(), set()
