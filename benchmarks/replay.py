"""How much faster a replay is than the browser that made its recording, on the same records."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import feed
from tarantella.bootstrap import open_app
from tarantella.domain.browsing import Browsing
from tarantella.domain.field import Field
from tarantella.domain.job import Wish as Strategy
from tarantella.domain.struct import replace
from tarantella.fetchers.browser.finding import find_browser
from tarantella.services import intake, jobs
from tarantella.services.app import App
from tarantella.services.foreground import work_on
from tarantella.services.intake import Answer
from tarantella.services.probe import Prober
from tarantella.settings import load
from tarantella.store import jobs as store
from tarantella.store import records
from tarantella.store.jobs import Job

PAGES = 40
REPLAYS = 3
WANTED = 20.0
FIELDS = tuple(Field(name, css=f".{name}") for name in ("name", "price", "about"))

HOW = """\
A list of {pages} pages whose scripts ask for its {records:,} records as JSON, each page with links to all others. One job
collects it: first with the browser, which makes the recording, four pages at a time and each read as soon as its records are there; then by replay,
{replays} times. Timed from the start of a run to its end, as its own row says, in one process beside the site's. The first run also
starts the browser. All runs must give the same records."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A run of the list."""

    strategy: str
    seconds: float
    pages: int
    records: int

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.seconds


def run(setting: Setting) -> Findings:
    if (found := find_browser(load().browser)).program is None:
        return Findings([], [], absent={"replay": found.missing or "there is no browser"})
    folder = setting.work_dir / "replay"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with feed.serving(PAGES) as url:
            timed, same = asyncio.run(_measure(folder, url))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    browser, replays = timed[:2], timed[2:]
    ratio = median(one.pages_per_second for one in replays) / max(one.pages_per_second for one in browser)
    complaints = [] if same else ["the runs gave different records"]
    return Findings(
        tables=[_table(browser, replays)],
        raw=[asdict(one) for one in timed],
        wishes=[Wish("replay ÷ browser, pages a second", ratio, WANTED, "×", at_most=False)],
        notes=[HOW.format(pages=PAGES, records=PAGES * feed.ITEMS, replays=REPLAYS)],
        complaints=complaints,
    )


async def _measure(folder: Path, url: str) -> tuple[list[Timed], bool]:
    app = open_app(load(data_dir=folder, allow_networks=["127.0.0.0/8"]))
    prober = Prober(app.make_tools)
    try:
        draft = jobs.JobDraft(
            url, FIELDS, strategy=Strategy.BROWSER, options={"item": ".goods", "pagination": "a.page"}
        )
        job = await jobs.drafted(app, prober, draft)
        await app.database.write(partial(store.create, job=job), name="job")
        results = [await _run(app, prober, job) for _ in range(2)]
        # The browser made the recording; from here on the job replays it.
        job = replace(job, strategy=Strategy.AUTO)
        results += [await _run(app, prober, job) for _ in range(REPLAYS)]
    finally:
        await prober.close()
        app.close()
    return [timed for timed, _ in results], all(values == results[0][1] for _, values in results)


async def _run(app: App, prober: Prober, job: Job) -> tuple[Timed, list[str]]:
    new = await jobs.new_run(app, prober, job)
    spec = replace(new.spec, browser=Browsing(wait_for=f".goods:nth-child({feed.ITEMS})"))
    new = replace(new, spec=spec)

    async def prepare(_run_id: str, _keeper: str) -> None:
        await intake.submit(app, new, Answer(201, ""), None)

    done = await work_on(app, new.run_id, prepare, engines=1)
    assert done.finished_at is not None and done.started_at is not None
    found = await app.database.read(partial(records.after, run_id=done.id, last=0, limit=1_000_000))
    timed = Timed(spec.strategy, done.finished_at - done.started_at, done.counts.done, len(found))
    say(f"{timed.strategy}: {timed.pages} pages, {timed.records} records in {timed.seconds:.2f} s")
    return timed, sorted(str(record["fields"]) for _, record in found)


def _table(browser: Sequence[Timed], replays: Sequence[Timed]) -> Table:
    def row(name: str, runs: Sequence[Timed]) -> list[str]:
        best = median(one.pages_per_second for one in runs)
        seconds = median(one.seconds for one in runs)
        return [name, f"{best:,.1f}", f"{median(one.records / one.seconds for one in runs):,.0f}", f"{seconds:.2f}"]

    rows = [row("browser, first run", browser[:1]), row("browser, second run", browser[1:]), row("**replay**", replays)]
    return Table(("run", "pages/s", "records/s", "seconds"), rows)


BENCHMARK = Benchmark("replay", "How much faster is a replay than the browser?", run)
