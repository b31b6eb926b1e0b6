"""Wires the parts together. The only file that knows all of them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from tarantella.domain.strategy import STRATEGIES
from tarantella.engine.artifacts import Artifacts
from tarantella.engine.reader import Readers
from tarantella.engine.taster import TASTER, Taster
from tarantella.engine.tools import Tools
from tarantella.engine.visit import DirectVisitor
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.fetchers import FETCHERS, Means
from tarantella.fetchers.browser.finding import find_browser
from tarantella.fetchers.browser.means import BrowserMeans
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.missing import MissingFetcher
from tarantella.fetchers.robots import Robots
from tarantella.services.app import App
from tarantella.services.python import make_scrape, make_scrape_async
from tarantella.services.seat import refused_endpoints
from tarantella.settings import Settings, load
from tarantella.store import schema
from tarantella.store.database import PATIENCE, Database

__all__ = ["make_tools", "means_of", "open_app", "scrape", "scrape_async"]


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
            artifacts=settings.artifacts_dir,
        )
        return Worker(database, tools, worker)

    def tools() -> Tools:
        return make_tools(
            refused=refused_endpoints(settings.data_dir), means=means_of(settings), artifacts=settings.artifacts_dir
        )

    def strategies() -> list[str]:
        browser = means_of(settings).browser
        return [name for name in FETCHERS if name != "browser" or browser is not None]

    return App(settings, database, tools, make_worker, socket.gethostname(), strategies=strategies)


def means_of(settings: Settings) -> Means:
    """What the settings and this machine give the strategies to work with."""
    found = find_browser(settings.browser)
    if found.program is None:
        return Means(no_browser=found.missing)
    return Means(
        BrowserMeans(
            found.program,
            sandbox=settings.browser_sandbox,
            navigation_seconds=settings.browser_nav_timeout_ms / 1000,
            pages_at_once=settings.browser_pages,
            most_memory=settings.browser_memory,
            sessions=settings.sessions_dir,
        )
    )


def make_tools(
    guard: Guard | None = None,
    *,
    refused: Sequence[tuple[str, int]] = (),
    means: Means | None = None,
    artifacts: Path | None = None,
) -> Tools:
    """What attempts work with: one guard, one fetcher per strategy, robots, and a taster for lanes that kill."""
    guard = guard or Guard(refused_endpoints=refused)
    means = means or Means()
    fetchers = {name: make(guard, means) for name, make in FETCHERS.items()}
    taster = Taster((*TASTER, *(f"--refuse={address}@{port}" for address, port in refused)))
    readers = Readers()
    return Tools(
        visitors={name: DirectVisitor(fetcher, readers) for name, fetcher in fetchers.items()},
        taster=taster,
        robots=Robots(fetchers["http"]),
        guard=guard,
        artifacts=Artifacts(artifacts) if artifacts is not None else None,
        no_browser=None if means.browser is not None else means.no_browser,
        # A strategy that is missing here is nothing to escalate to; who asks for it is told what to do.
        strategies={name: STRATEGIES[name] for name, each in fetchers.items() if not isinstance(each, MissingFetcher)},
        closers=(taster.close, readers.close, *(fetcher.close for fetcher in fetchers.values())),
    )


scrape_async = make_scrape_async(open_app)
scrape = make_scrape(scrape_async)
