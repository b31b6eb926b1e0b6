"""Questions that are asked only once, however many wait for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


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
