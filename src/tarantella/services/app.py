"""What the use cases work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from tarantella.domain.struct import Frozen
from tarantella.engine.tools import Tools
from tarantella.engine.worker import Worker
from tarantella.queues.contract import Bell, News
from tarantella.settings import Settings
from tarantella.store.database import Database


class App(Frozen):
    """The parts, wired by bootstrap."""

    settings: Settings
    database: Database
    make_tools: Callable[[], Tools]
    make_worker: Callable[[Tools, str | None], Worker]
    hostname: str
    make_bell: Callable[[], Bell]
    make_news: Callable[[], News | None]
    now: Callable[[], float] = time.time
    strategies: Callable[[], Collection[str]] = lambda: ("http",)  # those that this machine has

    def close(self) -> None:
        self.database.close()
