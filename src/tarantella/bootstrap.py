"""Wires the parts together. The only file that knows all of them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tarantella.domain.strategy import STRATEGIES
from tarantella.engine.reader import Readers
from tarantella.engine.taster import TASTER, Taster
from tarantella.engine.tools import Tools
from tarantella.engine.visit import DirectVisitor
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.fetchers import FETCHERS
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.robots import Robots
from tarantella.services.app import App
from tarantella.services.python import make_scrape, make_scrape_async
from tarantella.services.seat import refused_endpoints
from tarantella.settings import Settings, load
from tarantella.store import schema
from tarantella.store.database import PATIENCE, Database

__all__ = ["make_tools", "open_app", "scrape", "scrape_async"]


def open_app(
    settings: Settings | None = None,
    *,
    data_dir: Path | None = None,
    database_url: str | None = None,
    patience: float = PATIENCE,
) -> App:
    """The application on one data directory and one database, created or brought up to date if need be.

    `patience` is for how many seconds a database that is locked or away is waited for.
    """
    settings = settings or load(data_dir=data_dir, database_url=database_url)
    schema.prepare(settings.database)
    database = Database(settings.database, patience=patience)

    def make_worker(tools: Tools, only_run: str | None) -> Worker:
        worker = WorkerSettings(
            folder=settings.workers_dir,
            max_running=settings.max_concurrent_tasks,
            slots=settings.engine_slots,
            only_run=only_run,
            drain_seconds=settings.drain_seconds,
            cleanup_interval=settings.cleanup_interval,
            remembers=settings.strategy_memory_seconds,
        )
        return Worker(database, tools, worker)

    def tools() -> Tools:
        made = make_tools(refused=refused_endpoints(settings.data_dir))
        return replace(made, recheck_share=settings.strategy_recheck_share)

    return App(settings, database, tools, make_worker, socket.gethostname())


def make_tools(guard: Guard | None = None, *, refused: Sequence[tuple[str, int]] = ()) -> Tools:
    """What attempts work with: one guard, one fetcher per strategy, robots, and a taster for lanes that kill."""
    guard = guard or Guard(refused_endpoints=refused)
    fetchers = {name: make(guard) for name, make in FETCHERS.items()}
    taster = Taster((*TASTER, *(f"--refuse={address}@{port}" for address, port in refused)))
    readers = Readers()
    return Tools(
        visitors={name: DirectVisitor(fetcher, readers) for name, fetcher in fetchers.items()},
        taster=taster,
        robots=Robots(fetchers["http"]),
        guard=guard,
        strategies={name: STRATEGIES[name] for name in fetchers},
        closers=(taster.close, readers.close, *(fetcher.close for fetcher in fetchers.values())),
    )


scrape_async = make_scrape_async(open_app)
scrape = make_scrape(scrape_async)
