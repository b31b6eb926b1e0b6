"""Wires the parts together. The only file that knows all of them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.struct import replace
from tarantella.engine.artifacts import Artifacts
from tarantella.engine.reader import Readers
from tarantella.engine.taster import TASTER, Taster
from tarantella.engine.timing import Timing
from tarantella.engine.tools import Tools
from tarantella.engine.visit import DirectVisitor
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.fetchers import FETCHERS, Means
from tarantella.fetchers.browser.finding import find_browser
from tarantella.fetchers.browser.means import BrowserMeans
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.missing import MissingFetcher
from tarantella.fetchers.robots import Robots
from tarantella.queues import embedded
from tarantella.queues.contract import Bell, Hints, News
from tarantella.services.app import App
from tarantella.services.python import ScrapeFailed, make_scrape, make_scrape_async
from tarantella.services.seat import refused_endpoints
from tarantella.settings import Settings, load
from tarantella.store import schema
from tarantella.store.database import PATIENCE, Database

__all__ = ["ScrapeFailed", "make_tools", "means_of", "open_app", "scrape", "scrape_async"]


def open_app(
    settings: Settings | None = None,
    *,
    data_dir: Path | None = None,
    database_url: str | None = None,
    patience: float = PATIENCE,
    limit: float | None = None,
    node: str | None = None,
) -> App:
    """The application on one data directory and one database, created or brought up to date if need be.

    `patience` is for how many seconds a database that is locked or away is waited for, and `limit` for how many a server
    that says nothing; `node` is Celery's name for the worker that this process is a child of.
    """
    settings = settings or load(data_dir=data_dir, database_url=database_url)
    schema.prepare(settings.database)
    database = Database(settings.database, patience=patience, limit=limit)

    def make_worker(tools: Tools, only_run: str | None) -> Worker:
        worker = WorkerSettings(
            folder=settings.workers_dir,
            max_running=settings.max_concurrent_tasks,
            slots=settings.engine_slots,
            only_run=only_run,
            drain_seconds=settings.drain_seconds,
            cleanup_interval=settings.cleanup_interval,
            remembers=settings.strategy_memory_seconds,
            artifacts=settings.artifacts_dir,
            node=node,
            in_fleet=settings.broker_url is not None,
            timing=Timing.of_life(settings.worker_life_seconds),
        )
        return Worker(database, tools, worker, partial(make_hints, settings))

    def tools() -> Tools:
        made = make_tools(
            refused=refused_endpoints(settings.data_dir),
            means=means_of(settings),
            artifacts=settings.artifacts_dir,
            data_dir=settings.data_dir,
        )
        return replace(made, recheck_share=settings.strategy_recheck_share)

    def strategies() -> list[str]:
        # In a fleet somebody else may have a browser; pages that need one wait for them.
        browser = means_of(settings).browser is not None or settings.broker_url is not None
        return [name for name in FETCHERS if name != "browser" or browser]

    return App(
        settings,
        database,
        tools,
        make_worker,
        socket.gethostname(),
        strategies=strategies,
        make_bell=partial(make_bell, settings),
        make_news=partial(make_news, settings),
    )


# -- how word of work gets around: on one machine by sockets, in a fleet by Redis and Celery too, which only a fleet loads


def make_hints(settings: Settings, worker_id: str) -> Hints:
    near = embedded.Hints(settings.workers_dir, worker_id)
    if not settings.wire_url:
        return near
    from tarantella.queues.wire import FleetHints, Wire

    return FleetHints(near, Wire(settings.wire_url), worker_id)


def make_bell(settings: Settings) -> Bell:
    near = embedded.Bell(settings.workers_dir)
    if not settings.broker_url or not settings.wire_url:
        return near
    from tarantella.queues.caller import CeleryPost, FleetBell
    from tarantella.queues.wire import Wire

    def open_post() -> CeleryPost:
        from tarantella.queues.celery import configuration

        return CeleryPost(configuration(settings.broker_url, drain_seconds=settings.drain_seconds))

    return FleetBell(near, Wire(settings.wire_url), open_post)


def make_news(settings: Settings) -> News | None:
    if not settings.wire_url:
        return None
    from tarantella.queues.wire import Wire, WireNews

    return WireNews(Wire(settings.wire_url))


# -- what attempts work with


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
    data_dir: Path | None = None,
) -> Tools:
    """What attempts work with: one guard, one fetcher per strategy, robots, and a taster for lanes that kill."""
    guard = guard or Guard(refused_endpoints=refused)
    means = means or Means()
    fetchers = {name: make(guard, means) for name, make in FETCHERS.items()}
    known = () if data_dir is None else (f"--data-dir={data_dir}",)  # stored logins are there
    taster = Taster((*TASTER, *known, *(f"--refuse={address}@{port}" for address, port in refused)))
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
