"""Answers that are worth keeping for a while, and asking for only once however many wait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from time import monotonic
from typing import Any, Generic, TypeVar

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


class Flights(Generic[K, V]):
    """Questions under way; who asks the same meanwhile waits for the same answer."""

    def __init__(self) -> None:
        self._running: dict[K, asyncio.Task[V]] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._running

    def __len__(self) -> int:
        return len(self._running)

    async def join(self, key: K, find_out: Callable[[], Coroutine[Any, Any, V]]) -> V:
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(find_out())
            task.add_done_callback(lambda done: self._landed(key, done))
        # A page that is cancelled must not take the answer from the others.
        return await asyncio.shield(task)

    def _landed(self, key: K, task: asyncio.Task[V]) -> None:
        del self._running[key]
        # Looking at the exception here keeps asyncio from complaining when nobody waits any more.
        if not task.cancelled():
            task.exception()
