"""The demo's second act: a list that scripts fill, collected with a browser and then by replay."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any
from urllib.parse import urljoin

from tarantella.demo import market
from tarantella.domain.field import Field
from tarantella.domain.job import Wish
from tarantella.domain.struct import Frozen, replace
from tarantella.fetchers.browser.finding import find_browser
from tarantella.services import intake, jobs
from tarantella.services.app import App
from tarantella.services.demo import NETWORK
from tarantella.services.foreground import Interrupt, work_on
from tarantella.services.intake import Answer
from tarantella.services.probe import Prober
from tarantella.store import events
from tarantella.store import jobs as store
from tarantella.store import records as kept
from tarantella.store.jobs import Job
from tarantella.store.runs import Run

FIELDS = tuple(Field(name, css=f".{name}") for name in ("goods", "keeper", "price"))


class Collected(Frozen):
    """What one run of the market gave."""

    seconds: float
    values: list[dict[str, Any]]
    before: list[dict[str, Any]] | None = None
    trouble: str | None = None

    @property
    def records(self) -> int:
        return len(self.values)

    @property
    def is_right(self) -> bool:
        return self.trouble is None

    @property
    def same(self) -> str:
        return "the same ones" if self.values == self.before else "other ones"


def missing_browser(app: App) -> str | None:
    """What is missing, and what to do about it; None where there is a browser."""
    found = find_browser(app.settings.browser)
    return found.missing if found.program is None else None


async def collect_market(app: App, site_url: str, interrupt: Interrupt) -> tuple[Collected, Collected]:
    """The list twice, by two runs of one job."""
    app = replace(app, settings=dataclasses.replace(app.settings, allow_networks=(NETWORK,)))
    prober = Prober(app.make_tools)
    try:
        draft = jobs.JobDraft(
            urljoin(site_url, market.PATH), FIELDS, strategy=Wish.API_REPLAY, name="demo", options={"item": ".stall"}
        )
        job = await jobs.drafted(app, prober, draft)
        await app.database.write(partial(store.create, job=job), name="job")
        first = await _run(app, prober, job, interrupt)
        second = await _run(app, prober, job, interrupt) if not interrupt.is_set else first
    finally:
        await prober.close()
    return first, replace(second, before=first.values, trouble=second.trouble or _trouble(first, second))


async def _run(app: App, prober: Prober, job: Job, interrupt: Interrupt) -> Collected:
    new = await jobs.new_run(app, prober, job)

    async def prepare(_run_id: str, _keeper: str) -> None:
        await intake.submit(app, new, Answer(201, ""), None)

    run = await work_on(app, new.run_id, prepare, engines=1, interrupt=interrupt)
    found = await app.database.read(partial(kept.after, run_id=run.id, last=0, limit=1_000))
    values = sorted((record["fields"] for _, record in found), key=lambda fields: str(fields["goods"]))
    return Collected(_seconds(run), values, trouble=None if run.records == market.STALLS else await _why(app, run))


def _seconds(run: Run) -> float:
    return (run.finished_at or 0.0) - (run.started_at or 0.0)


async def _why(app: App, run: Run) -> str:
    said = await app.database.read(partial(events.listed, run_id=run.id, limit=100))
    return f"{run.records} records instead of {market.STALLS} ({', '.join(event['message'] for event in said)})"


def _trouble(first: Collected, second: Collected) -> str | None:
    if first.trouble is not None:
        return first.trouble
    return None if second.values == first.values else "the records differ"
