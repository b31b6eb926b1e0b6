"""A database that says that a write failed: before it did anything, or when all of it was committed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from tarantella.domain.errors import StoreBusy
from tarantella.store.database import Database
from tarantella.store.tx import Tx

T = TypeVar("T")


class Fault(StrEnum):
    """What happens to a write."""

    NONE = "none"
    BEFORE = "before"  # nothing was stored, and that is said
    AFTER = "after"  # everything was stored, and it is said that it was not


class Unsure(Database):
    """Lets faults happen to the next writes, in the order in which they were planned."""

    def __init__(self, real: Database, committed: Callable[[Any], None] = lambda _: None) -> None:
        self.real = real
        self.dialect = real.dialect
        self.faults: deque[Fault] = deque()
        self._committed = committed

    async def write(
        self,
        work: Callable[[Tx], T],
        *,
        durable: bool = False,
        name: str = "write",
        here: bool = False,
        limited: bool = True,
        within: float | None = None,
    ) -> T:
        fault = self.faults.popleft() if self.faults else Fault.NONE
        if fault is Fault.BEFORE:
            raise StoreBusy("It failed.")
        result = self.real.write_now(work, durable=durable, name=name)
        self._committed(result)
        if fault is Fault.AFTER:
            raise StoreBusy("It is said that this failed.")
        return result

    async def read(self, work: Callable[[Tx], T], *, within: float | None = None) -> T:
        return self.real.read_now(work)
