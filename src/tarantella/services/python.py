"""Scraping from Python: records as an iterator, in scripts, in coroutines and in notebooks."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tarantella.domain.errors import TarantellaError
from tarantella.domain.job import Wish, wish_of, wished
from tarantella.domain.reasons import in_words
from tarantella.domain.sitemap import chosen as chosen_sitemap
from tarantella.domain.spec import Spec
from tarantella.domain.url import redact
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.foreground import Interrupt, work_on
from tarantella.services.python_options import (
    Fields,
    fields_wanted,
    path_of,
    secrets_wanted,
    several,
    spec_values,
    trap_limits,
)
from tarantella.services.submit import submit
from tarantella.store import records
from tarantella.store.ids import new_id
from tarantella.store.runs import Run

POLL_SECONDS = 0.1
Record = dict[str, Any]
OpenApp = Callable[..., App]


class ScrapeFailed(TarantellaError):
    """No page could be had."""

    code = "scrape_failed"


def make_scrape_async(open_app: OpenApp) -> Callable[..., AsyncGenerator[Record, None]]:
    """The asynchronous way in, for an application that bootstrap opens."""

    async def scrape_async(
        urls: str | Sequence[str] = (),
        *,
        data_dir: str | Path | None = None,
        database_url: str | None = None,
        fields: Fields = None,
        fields_file: str | Path | None = None,
        sitemap: str | Sequence[str] = (),
        traps: dict[str, int | None] | bool = True,
        strategy: str = Wish.AUTO,
        requires_auth: bool = False,
        headers: Mapping[str, str] | None = None,
        cookies_file: str | Path | None = None,
        proxy: str | None = None,
        fill: Mapping[str, str] | None = None,
        **options: Any,
    ) -> AsyncGenerator[Record, None]:
        """Scrape and yield each record as soon as it is stored.

        Options are those of `tarantella scrape`, as in `depth=2, max_pages=100, text="none"`.
        Fields are names that are found by themselves, as in `["title", "price"]`, or `{"name": "css@attr"}`, or specifications
        as in a fields file.
        Left to us, pages that need a browser get one if there is any; `strategy="http"` reads them as they are sent, and
        `strategy="browser"` reads pages as their scripts have left them; `browser={"wait_for": ".price", "scroll": 5}` says how.
        `headers`, as in `{"Authorization": "Bearer ..."}`, go only to the servers where the run starts. `cookies_file` is a
        cookies.txt, `proxy` an address like `http://host:3128`; `fill` has what a browser's actions fill in, by its name.
        With `cache=True` answers are kept for later runs.
        `sitemap` is "auto", an address or several; `traps` are limits as in `{"dates": 100, "queries": None}`, or False for none.
        Leaving the loop early pauses the run; `tarantella runs resume` goes on with it.
        """
        app = open_app(data_dir=path_of(data_dir, "data_dir"), database_url=database_url)
        try:
            starts = several(urls, "urls")
            wanted = fields_wanted(fields, fields_file)
            spec = Spec(
                fields=wanted.fields,
                item=wanted.item,
                pagination=wanted.pagination,
                sitemaps=tuple(map(chosen_sitemap, several(sitemap, "sitemap"))),
                traps=trap_limits(traps),
                secrets=secrets_wanted(headers, cookies_file, proxy, fill),
                **spec_values(app.settings, options, ("urls", *(scrape_async.__kwdefaults__ or ()))),
            )
            spec = wished(spec, wish_of(strategy), requires_auth=requires_auth)
            # Closed by hand: the run must have been let go of before the database is.
            async with aclosing(_records(app, spec, starts)) as found:
                async for record in found:
                    yield record
        finally:
            app.close()

    return scrape_async


def make_scrape(scrape_async: Callable[..., AsyncGenerator[Record, None]]) -> Callable[..., Iterator[Record]]:
    """The ordinary way in: works wherever Python does, because it brings its own thread and event loop."""

    def scrape(urls: str | Sequence[str] = (), **options: Any) -> Iterator[Record]:
        """Scrape and yield each record as soon as it is stored; see `scrape_async` for the options."""
        found: queue.Queue[Record | BaseException | None] = queue.Queue(maxsize=1_000)
        stop: Future[Callable[[], None]] = Future()
        reader_left = threading.Event()

        async def collect() -> None:
            stop.set_result(_canceller())
            async with aclosing(scrape_async(urls, **options)) as records_found:
                async for record in records_found:
                    while not _put(found, record):  # noqa: ASYNC110 - the reader is in another thread
                        await asyncio.sleep(POLL_SECONDS)

        def work() -> None:
            ending: BaseException | None = None
            try:
                asyncio.run(collect())
            except BaseException as error:
                ending = error
            if not stop.done():
                stop.set_result(lambda: None)  # it never came to anything that could be stopped
            # Whoever reads may be slow: then there is no room yet.
            while not reader_left.is_set() and not _put(found, ending, POLL_SECONDS):
                pass

        thread = threading.Thread(target=work, name="tarantella-scrape", daemon=True)
        thread.start()
        try:
            while (item := found.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            reader_left.set()
            stop.result()()
            thread.join()

    return scrape


def _canceller() -> Callable[[], None]:
    """A way for another thread to cancel the task that calls this; its clean-up lets go of the run."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        with suppress(RuntimeError):  # the loop has ended already
            loop.call_soon_threadsafe(task.cancel)

    return cancel


def _put(
    found: queue.Queue[Record | BaseException | None], item: Record | BaseException | None, within: float = 0.0
) -> bool:
    try:
        found.put(item, block=within > 0, timeout=within or None)
    except queue.Full:
        return False
    return True


async def _why(app: App, run: Run) -> str:
    """What became of most of its pages, in words."""
    found = await runs.troubles(app, run.id)
    if not found:
        return f"the run is {run.status}"
    most = max(found, key=lambda each: int(each["count"]))
    detail = f" ({redact(most['detail']).rstrip('.')})" if most["detail"] else ""
    return f"{in_words(most['reason'])}{detail}"


async def _records(app: App, spec: Spec, urls: Sequence[str]) -> AsyncGenerator[Record, None]:
    run_id = new_id()
    interrupt = Interrupt()

    async def prepare(run: str, keeper: str) -> None:
        await submit(app, spec, urls, run_id=run, keeper=keeper)

    work: asyncio.Task[Run] = asyncio.create_task(work_on(app, run_id, prepare, engines=1, interrupt=interrupt))
    last = 0
    try:
        while True:
            over = work.done()
            found = await app.database.read(partial(records.after, run_id=run_id, last=last))
            for number, record in found:
                last = number
                yield record
            if over and not found:
                break
            if not found:
                await asyncio.wait({work}, timeout=POLL_SECONDS)
        run = work.result()
        if run.counts.total and not run.counts.done:
            raise ScrapeFailed(
                f"Nothing could be scraped: {await _why(app, run)}.",
                remedy=f"`tarantella runs show {run.id}` tells more.",
            )
    finally:
        interrupt.set()
        await asyncio.gather(work, return_exceptions=True)
