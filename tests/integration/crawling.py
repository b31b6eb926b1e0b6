"""Real crawls in this process against the test site, and short ways to look at what came of them."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ParamSpec, Protocol, Self
from urllib.parse import urlsplit

from tarantella.bootstrap import make_tools
from tarantella.domain.backoff import Backoff
from tarantella.domain.errors import NotFound
from tarantella.domain.spec import Spec
from tarantella.domain.struct import replace
from tarantella.engine.clock import Clock
from tarantella.engine.timing import Timing
from tarantella.engine.tools import Tools
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.fetchers.guard import Guard
from tarantella.services import runs as use_cases
from tarantella.services.app import App
from tarantella.services.foreground import Interrupt, Snapshot, work_on
from tarantella.services.submit import submit
from tarantella.store import events, pages, records
from tarantella.store.ids import new_id
from tarantella.store.runs import Run
from tests.contract.world import World
from tests.site import Hit, Site

P = ParamSpec("P")

LOOPBACK = ("127.0.0.0/8",)
QUICK = Backoff(base=0.05, factor=2.0, cap=1.0, jitter=0.0)
LONGEST_TEST = 60.0
# Looks often, and doesn't mind a clock that jumps.
EAGER = Timing(
    tick=0.05,
    beat=1.0,
    duty=1.0,
    dials_nothing_after=1e8,
    thought_dead_after=2e8,
    looks_at_most_apart=1e8,
)

# By themselves they would look again long after the test has been given up.
RARELY = replace(EAGER, tick=600.0, beat=600.0, duty=600.0)


def awaited(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an asynchronous test in an event loop of its own, and not for ever."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), LONGEST_TEST))

    return run


class FakeClock:
    """A clock that goes on as usual, and can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def advance(self, seconds: float) -> None:
        self.ahead += seconds

    def wall(self) -> float:
        return time.time() + self.ahead

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


def with_clock(app: App, clock: FakeClock) -> App:
    """The same application, living by this clock and looking often."""

    def tools() -> Tools:
        return replace(make_tools(), clock=Clock(clock.wall, clock.monotonic))

    return replace(eager(app), make_tools=tools, now=clock.wall)


def guarded(app: App, guard: Guard) -> App:
    """The same application behind this guard."""
    return replace(app, make_tools=lambda: make_tools(guard))


def eager(app: App) -> App:
    """The same application with workers that look twenty times a second."""

    def make_worker(tools: Tools, only_run: str | None) -> Worker:
        settings = app.settings
        worker = WorkerSettings(
            folder=settings.workers_dir,
            max_running=settings.max_concurrent_tasks,
            slots=settings.engine_slots,
            only_run=only_run,
            drain_seconds=settings.drain_seconds,
            timing=EAGER,
        )
        return Worker(app.database, tools, worker)

    return replace(app, make_worker=make_worker)


def looking(app: App, timing: Timing) -> App:
    """The same application, with workers that look this often."""

    def make_worker(tools: Tools, only_run: str | None) -> Worker:
        settings = WorkerSettings(app.settings.workers_dir, only_run=only_run, timing=timing)
        return Worker(app.database, tools, settings)

    return replace(app, make_worker=make_worker)


class Served(Protocol):
    """A site, in this process or in another."""

    @property
    def port(self) -> int: ...

    def url_for(self, path: str) -> str: ...


@dataclass
class Crawled:
    """A run as the store has it, seen from the site that it crawled."""

    app: App
    site: Served
    run: Run

    def read(self, work: Callable[..., Any], **values: Any) -> Any:
        return self.app.database.read_now(partial(work, **values))

    @property
    def id(self) -> str:
        return self.run.id

    @property
    def status(self) -> str:
        return self.run.status.value

    @cached_property
    def pages(self) -> dict[str, dict[str, Any]]:
        """The pages by their short address."""
        found = self.read(pages.listed, run_id=self.id, limit=1_000_000)
        return {self.short(page["url"]): page for page in found}

    @property
    def states(self) -> dict[str, str]:
        """Short address → `done`, `pending`, `skipped(reason)` or `failed(reason)`."""
        return {
            address: (f"{page['state']}({page['reason']})" if page["state"] in ("failed", "skipped") else page["state"])
            for address, page in self.pages.items()
        }

    @cached_property
    def records(self) -> dict[str, dict[str, Any]]:
        """What was extracted, by the short address of its page."""
        found = self.read(records.after, run_id=self.id, last=0, limit=1_000_000)
        return {self.short(record["url"]): record for _, record in found}

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.read(events.listed, run_id=self.id, limit=1_000_000)
        return found

    @property
    def messages(self) -> list[str]:
        return [event["message"] for event in self.events]

    def event(self, message: str) -> dict[str, Any]:
        """The facts of the only event with this message."""
        [event] = [event for event in self.events if event["message"] == message]
        meta: dict[str, Any] = event["meta"]
        return meta

    def attempts(self, address: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.read(pages.attempts, page_id=self.pages[address]["id"])
        return found

    def short(self, url: str) -> str:
        """An address as tests write it: the path, after the host if that is not the first."""
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return path if parts.netloc == f"127.0.0.1:{self.site.port}" else f"{parts.hostname}{path}"


@dataclass
class Ongoing:
    """A crawl under way."""

    app: App
    site: Served
    run_id: str
    interrupt: Interrupt
    task: asyncio.Task[Run]
    snapshots: list[Snapshot] = field(default_factory=list)

    async def end(self) -> Crawled:
        """Wait until it is over, one way or the other, and see that everything adds up."""
        run = await self.task
        World(self.app.database).check()
        return Crawled(self.app, self.site, run)

    async def look(self) -> Crawled:
        """As it stands now."""
        return Crawled(self.app, self.site, await use_cases.get(self.app, self.run_id))

    async def until(self, condition: Callable[[Crawled], bool], seconds: float = 10.0) -> Crawled:
        """Wait until the store says so."""
        async with asyncio.timeout(seconds):
            while True:
                with suppress(NotFound):
                    if condition(found := await self.look()):
                        return found
                await asyncio.sleep(0.02)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.interrupt.set()
        await asyncio.gather(self.task, return_exceptions=True)


def spec_of(**values: Any) -> Spec:
    return Spec(**{"allow_networks": LOOPBACK, "backoff": QUICK, "text": "none", **values})


def begin(app: App, site: Served, *addresses: str, **values: Any) -> Ongoing:
    """Start a crawl of these addresses (paths of the site, or whole ones) and go on."""
    urls = [site.url_for(address) if address.startswith("/") else address for address in addresses]
    spec = spec_of(**values)

    async def prepare(run_id: str, keeper: str) -> None:
        await submit(app, spec, urls, run_id=run_id, keeper=keeper)

    return _work(app, site, new_id(), prepare)


def resume(app: App, site: Served, run_id: str) -> Ongoing:
    async def prepare(run_id: str, keeper: str) -> None:
        await use_cases.resume(app, run_id, keeper)

    return _work(app, site, run_id, prepare)


def retry_failed(app: App, site: Served, run_id: str) -> Ongoing:
    async def prepare(run_id: str, keeper: str) -> None:
        await use_cases.retry_failed(app, run_id, keeper)

    return _work(app, site, run_id, prepare)


def _work(app: App, site: Served, run_id: str, prepare: Callable[[str, str], Awaitable[None]]) -> Ongoing:
    interrupt = Interrupt()
    snapshots: list[Snapshot] = []
    work = work_on(app, run_id, prepare, engines=1, watch=snapshots.append, interrupt=interrupt)
    return Ongoing(app, site, run_id, interrupt, asyncio.create_task(work), snapshots)


async def crawl(app: App, site: Served, *addresses: str, **values: Any) -> Crawled:
    """Crawl these addresses to the end."""
    async with begin(app, site, *addresses, **values) as ongoing:
        return await ongoing.end()


def hits(site: Site, path: str | None = None) -> list[Hit]:
    """What was asked of the site, robots.txt aside; of one path only, if it is given."""
    return [hit for hit in site.hits if hit.path != "/robots.txt" and path in (None, hit.path)]


def asked(site: Site) -> list[str]:
    """The addresses that were asked for, as `Crawled.short` writes them."""
    return [
        ("" if hit.hostname == "127.0.0.1" else hit.hostname) + hit.path + (f"?{hit.query}" if hit.query else "")
        for hit in hits(site)
    ]


def gaps(found: list[Hit]) -> list[float]:
    """The seconds between the beginnings of one request and the next."""
    starts = sorted(hit.start for hit in found)
    return [later - earlier for earlier, later in pairwise(starts)]
