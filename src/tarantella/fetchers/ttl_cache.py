"""Answers that are worth keeping for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memory(Generic[K, V]):
    """What was found out lately; the least recently used is forgotten first."""

    def __init__(self, ttl: float, size: int, clock: Callable[[], float] = monotonic) -> None:
        self._ttl = ttl
        self._size = size
        self._clock = clock
        self._known: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        known = self._known.get(key)
        if known is None or known[0] <= self._clock():
            return None
        self._known.move_to_end(key)
        return known[1]

    def put(self, key: K, value: V) -> None:
        self._known[key] = (self._clock() + self._ttl, value)
        self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)

    def drop(self, key: K) -> None:
        self._known.pop(key, None)
