"""Answers that are worth keeping for a while, and asking for only once however many wait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from time import monotonic
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Shared(Generic[K, V]):
    """A bounded memory of answers; failures are shared with those who wait, and then forgotten."""

    def __init__(self, ttl: float, size: int, clock: Callable[[], float] = monotonic) -> None:
        self._ttl = ttl
        self._size = size
        self._clock = clock
        self._known: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._running: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, find_out: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """What is known about the key, else what is being or will be found out."""
        known = self._known.get(key)
        if known is not None and known[0] > self._clock():
            self._known.move_to_end(key)
            return known[1]
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(find_out())
            task.add_done_callback(lambda done: self._finished(key, done))
        # Others may wait for the same answer: a page that is cancelled must not take it from them.
        return await asyncio.shield(task)

    def _finished(self, key: K, task: asyncio.Task[V]) -> None:
        del self._running[key]
        # Looking at the exception here keeps asyncio from complaining when nobody waits any more.
        if task.cancelled() or task.exception() is not None:
            return
        self._known[key] = (self._clock() + self._ttl, task.result())
        self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
