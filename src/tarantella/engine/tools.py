"""What an attempt works with."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping

from tarantella.domain.learning import RECHECKED_SHARE
from tarantella.domain.strategy import Strategy
from tarantella.domain.struct import Mutable, field
from tarantella.engine.artifacts import Artifacts
from tarantella.engine.clock import Clock
from tarantella.engine.visit import Visitor
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.robots import Robots


class Tools(Mutable):
    """What an attempt works with."""

    visitors: Mapping[str, Visitor]
    taster: Visitor
    robots: Robots
    strategies: Mapping[str, Strategy]  # that pages may be fetched with
    elsewhere: frozenset[str] = frozenset()  # of them, those that only other workers have
    clock: Clock = Clock()
    luck: Callable[[], float] = random.random
    recheck_share: float = RECHECKED_SHARE  # of pages for which a cheaper strategy is tried, too
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()
    guard: Guard = field(default_factory=Guard)
    artifacts: Artifacts | None = None  # where they are kept
    no_browser: str | None = None  # why pages that need one fail here, where there is none

    async def close(self) -> None:
        for closer in self.closers:
            await closer()
