"""A transaction fails, or is committed and said to have failed: each that there is, one at a time."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from tarantella.domain.errors import Conflict, NotFound, StoreBroken, StoreBusy, StoreError
from tarantella.engine.clock import Clock
from tarantella.engine.duties import Duties
from tarantella.engine.lifeline import lifeline_path
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.export import Target, export
from tarantella.services.foreground import work_on
from tarantella.services.submit import new_id, submit
from tarantella.store import duties, workers
from tarantella.store import runs as store
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tarantella.store.tx import Tx
from tests.fault.crawler import quick_app, spec_of
from tests.fault.engines import engine
from tests.fault.invariants import Crawled, check, read_run, read_runs
from tests.fault.places import NewPlace
from tests.fault.processes import SiteProcess

T = TypeVar("T")

AT_ONCE = 8
TOLD_AT_MOST = 8
PATIENCE = 60.0
SPEC = '{"concurrency": 4, "attempts": 2, "scope": "any"}'


@dataclass
class Trouble:
    """What happens to the n-th transaction of a name."""

    name: str
    number: int
    after: bool  # its commit
    met: Counter[str] = field(default_factory=Counter)

    def strikes(self, name: str) -> bool:
        self.met[name] += 1
        return name == self.name and self.met[name] == self.number

    @property
    def struck(self) -> bool:
        return self.met[self.name] >= self.number

    def __str__(self) -> str:
        return f"{self.name} {self.number} {'was made and denied' if self.after else 'was not made'}"


class FaultyDatabase(Database):
    """Real, but for one transaction."""

    def __init__(self, place: Place, trouble: Trouble) -> None:
        super().__init__(place)
        self._trouble = trouble

    def _write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True) -> T:
        if not self._trouble.strikes(name):
            return super()._write(work, name, patient=patient)
        if self._trouble.after:
            super()._write(work, name, patient=patient)
            raise StoreBusy("It is said that this failed.")
        raise StoreBroken("There is no room left.")

    def _read(self, work: Callable[[Tx], T]) -> T:
        if self._trouble.strikes("read"):
            raise StoreBusy("It could not be read.")
        return super()._read(work)


Story = Callable[[App, SiteProcess, str], Awaitable[None]]


async def told(story: Story, data_dir: Path, site: SiteProcess, trouble: Trouble) -> None:
    """Tell a story with one trouble in it."""
    app = quick_app(data_dir, database=lambda place: FaultyDatabase(place, trouble))
    try:
        async with asyncio.timeout(PATIENCE):
            await story(app, site, f"{data_dir.parent.parent.name}-{data_dir.parent.name}")
            app.close()
            await somebody_else_comes(data_dir)
        check(data_dir, at_rest=True)
    except Exception as error:
        error.add_note(f"{story.__name__}: {trouble}\n{dict(trouble.met)}")
        raise
    finally:
        app.close()


async def somebody_else_comes(data_dir: Path) -> None:
    """What others do later: notice who ended without a word, and remove what an unlucky submission left unseen."""
    app = quick_app(data_dir)
    later = app.now() + duties.SUBMISSION_PATIENCE
    half = partial(duties.unfinished_submissions, reason=store.SUBMITTING, now=later)
    try:
        await runs.reap(app)
        for run_id in await app.database.read(half):
            while not await app.database.write(partial(store.delete_some, run_id=run_id, unacknowledged=True)):
                pass
    finally:
        app.close()


async def with_every_trouble(story: Story, new_place: NewPlace, site: SiteProcess, *, after: bool, most: int) -> None:
    """First undisturbed, then once for each transaction that it made, up to some of each name.

    Several at a time, for most of a story is waiting. On a busy machine a run may be over before it is cancelled, and then
    nothing is closed: a story in which something did not come up is told again.
    """
    undisturbed = Trouble("", 1, after)
    for again in range(TOLD_AT_MOST):
        await told(story, new_place(f"undisturbed-{again}"), site, undisturbed)
        if CALLERS[story] <= set(undisturbed.met):
            break
    assert CALLERS[story] <= set(undisturbed.met), undisturbed.met
    names = [name for name in undisturbed.met if name != "read" or not after]
    troubles = [Trouble(n, k, after) for n in names for k in range(1, min(undisturbed.met[n], most) + 1)]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(trouble: Trouble) -> None:
        async with gate:
            for again in range(TOLD_AT_MOST):
                await told(story, new_place(f"{trouble}-{again}".replace(" ", "-")), site, trouble)
                if trouble.struck or trouble.number > 1:
                    return
                trouble.met.clear()

    async with asyncio.TaskGroup() as group:
        for trouble in troubles:
            group.create_task(one(trouble))
    print(f"{story.__name__}: {len(troubles)} troubles with {names}")
    # Others come up by chance: something was left over that could be pruned.
    sure = [trouble for trouble in troubles if trouble.number == 1 and trouble.name in CALLERS[story]]
    assert not [str(trouble) for trouble in sure if not trouble.struck]


async def insists(ask: Callable[[], Awaitable[T]]) -> T | None:
    """A user who gives a command again when the store could not be had; that it was heard already is fine."""
    for _ in range(3):
        try:
            return await ask()
        except StoreError:
            continue
        except (Conflict, NotFound):
            return None
    raise AssertionError("It failed three times, though there was only one trouble.")


def start_page(site: SiteProcess, key: str) -> str:
    hrefs = f"/ok|/404|/flaky?code=503&key={key}&n=1|/redirect?to={site.url_for('/item/moved', '127.0.0.2')}"
    return site.url_for(f"/links?hrefs={hrefs.replace('&', '%26').replace('?', '%3F')}")


def is_complete(run: Crawled) -> bool:
    return (run.status, len(run.done), len(run.records), len(run.pages)) == ("partial", 4, 4, 5)


async def go_on(app: App, url: str) -> None:
    """What a user does until there is a run that is over: resume it, or ask for it."""
    await runs.reap(app)
    found = await runs.listed(app)
    unfinished = [run.id for run in found if not run.is_over]
    if found and not unfinished:
        return

    async def prepare(run_id: str, keeper: str) -> None:
        if unfinished:
            await runs.resume(app, run_id, keeper)
        else:
            await submit(app, spec_of(SPEC), [url], run_id=run_id, keeper=keeper)

    await work_on(app, unfinished[0] if unfinished else new_id(), prepare, engines=1, watch=lambda _: None)


# -- one command that does it all


async def a_scrape(app: App, site: SiteProcess, key: str) -> None:
    """Submit, crawl and export in the foreground; what was interrupted is resumed."""
    url = start_page(site, key)

    async def exported() -> Path | None:
        [run] = await runs.listed(app)
        return (await asyncio.to_thread(export, app, run, Target())).path

    for _ in range(3):
        await insists(lambda: go_on(app, url))
    path = await insists(exported)
    data_dir = app.settings.data_dir
    assert is_complete(read_run(data_dir)), read_run(data_dir)
    assert path is not None
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 4


# -- an engine, and users who want something of it


async def a_days_work(app: App, site: SiteProcess, key: str) -> None:
    """Submit, pause, resume, cancel, retry and delete beside an engine that serves all runs."""
    urls = [site.url_for(f"/slow?s=0.2&n={n}&key={key}") for n in range(4)]
    spec = spec_of('{"concurrency": 1}')

    async def until(*wanted: str) -> None:
        while (got := await insists(lambda: runs.get(app, run_id))) is None or got.status not in wanted:
            await asyncio.sleep(0.02)

    async def until_done(pages: int) -> None:
        while (got := await insists(lambda: runs.get(app, run_id))) is None or got.counts.done < pages:
            await asyncio.sleep(0.02)

    async with steadfast_engine(app):
        run_id = str(await insists(lambda: submit(app, spec, urls)))
        await until_done(1)
        await insists(lambda: runs.pause(app, run_id))
        await until("paused", "completed")
        await insists(lambda: runs.resume(app, run_id, None))
        await insists(lambda: runs.cancel(app, run_id))
        await until("cancelled", "completed")
        await insists(lambda: runs.retry_failed(app, run_id, None))
        await until("completed")
        assert read_run(app.settings.data_dir).done == set(urls)
        await insists(lambda: runs.delete(app, run_id))
        assert not read_runs(app.settings.data_dir)


@asynccontextmanager
async def steadfast_engine(app: App) -> AsyncIterator[None]:
    """One that is started again when it can't begin. Once it has begun, nothing ends it."""
    async with AsyncExitStack() as stack:
        await insists(lambda: stack.enter_async_context(engine(app)))
        yield


# -- a command that comes after another one died


async def a_takeover(app: App, site: SiteProcess, key: str) -> None:
    """Somebody was killed in the middle of a run; the next command notices it and goes on."""
    url, gone = start_page(site, key), new_id()
    info = workers.WorkerInfo(gone, None, app.hostname, 1, "0")
    with suppress(StoreError):
        await app.database.write(partial(workers.register, worker=info, now=app.now()), name="register")
        await submit(app, spec_of(SPEC), [url], keeper=gone)
    app.settings.workers_dir.mkdir(parents=True, exist_ok=True)
    lifeline_path(app.settings.workers_dir, gone).touch()
    for _ in range(3):
        await insists(lambda: go_on(app, url))
    [run] = read_runs(app.settings.data_dir)
    assert is_complete(run), run


CALLERS: dict[Story, set[str]] = {
    a_scrape: {*"register submit take settle duties sweep retire read".split()},
    a_days_work: {*"submit take settle beat pause resume cancel close retry release delete".split()},
    a_takeover: {*"reap resume take settle".split()},
}


@pytest.mark.parametrize(("new_place", "most"), [("sqlite", 8), ("postgresql", 2)], indirect=["new_place"])
@pytest.mark.parametrize("after", [False, True], ids=["not made", "made and denied"])
@pytest.mark.parametrize("story", CALLERS)
def test_whichever_transaction_fails_everybody_copes(
    story: Story, after: bool, new_place: NewPlace, most: int, site: SiteProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarantella.engine.settler.RETRY_SECONDS", 0.02)
    monkeypatch.setattr("tarantella.engine.tenure.LANE_LINGERS", 0.1)
    asyncio.run(with_every_trouble(story, new_place, site, after=after, most=most))


# -- what a user does not even notice


def scraped(data_dir: Path, site: SiteProcess, database: Callable[[Place], Database]) -> Crawled:
    """A scrape that must not fail, whatever becomes of its transactions."""

    async def crawl() -> None:
        app = quick_app(data_dir, database=database)
        try:
            await go_on(app, start_page(site, data_dir.parent.name))
        finally:
            app.close()

    asyncio.run(crawl())
    return read_run(data_dir)


@pytest.mark.parametrize("after", [False, True], ids=["not made", "made and denied"])
def test_a_command_whose_goodbye_is_not_heard_has_done_its_work(data_dir: Path, site: SiteProcess, after: bool) -> None:
    trouble = Trouble("retire", 1, after)
    assert is_complete(scraped(data_dir, site, lambda place: FaultyDatabase(place, trouble)))
    assert trouble.struck
    asyncio.run(somebody_else_comes(data_dir))
    check(data_dir, at_rest=True)


def test_a_submission_that_was_committed_and_denied_goes_on(data_dir: Path, site: SiteProcess) -> None:
    trouble = Trouble("submit", 1, after=True)
    assert is_complete(scraped(data_dir, site, lambda place: FaultyDatabase(place, trouble)))
    assert trouble.struck
    check(data_dir, at_rest=True)


class UnreadableDatabase(Database):
    """Once something was settled, nothing can be read for a while."""

    unreadable = 0

    def _write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True) -> T:
        if name == "settle" and not self.unreadable:
            self.unreadable = 20
        return super()._write(work, name, patient=patient)

    def _read(self, work: Callable[[Tx], T]) -> T:
        if self.unreadable > 1:
            self.unreadable -= 1
            raise StoreBusy("It can't be read.")
        return super()._read(work)


def test_a_crawl_goes_on_while_nothing_can_be_read(data_dir: Path, site: SiteProcess) -> None:
    assert is_complete(scraped(data_dir, site, UnreadableDatabase))
    check(data_dir, at_rest=True)


def test_a_log_that_cant_be_put_away_now_ends_nothing(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse() -> None:
        raise StoreBroken("There is no room left.")

    async def after_a_commit() -> None:
        app = quick_app(data_dir)
        try:
            monkeypatch.setattr(app.database, "checkpoint", refuse)
            duties = Duties(app.database, "me", max_running=1, clock=Clock())
            duties.ours = True
            await duties.after_commit()
        finally:
            app.close()

    asyncio.run(after_a_commit())
