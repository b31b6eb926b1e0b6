"""A memory that forgets."""

from __future__ import annotations


class Recent:
    """Remembers at least the last half of `limit` strings it was given, and never more than `limit`."""

    __slots__ = ("_new", "_old", "half")

    def __init__(self, limit: int) -> None:
        self.half = max(1, limit // 2)
        self._new: set[str] = set()
        self._old: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return text in self._new or text in self._old

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def add(self, text: str) -> bool:
        """Remember it; False if it was known."""
        if text in self._new or text in self._old:
            return False
        if len(self._new) >= self.half:
            self._old, self._new = self._new, set()
        self._new.add(text)
        return True

    def drop(self, text: str) -> None:
        """Forget what was added last."""
        self._new.discard(text)

    def clear(self) -> None:
        self._old, self._new = set(), set()
