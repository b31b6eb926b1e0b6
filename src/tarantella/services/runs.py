"""What a user asks of runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tarantella.domain import sitemap
from tarantella.domain.errors import NotFound
from tarantella.domain.event import STRATEGY_MISSING, Level
from tarantella.domain.page import PageState, Skip
from tarantella.domain.run import RunStatus
from tarantella.domain.scope import kept_out_by
from tarantella.domain.spec import Field, Spec
from tarantella.domain.trap_counts import Traps
from tarantella.domain.url import Url, fingerprint, redact, resolve, start_url
from tarantella.engine.artifacts import Artifacts
from tarantella.engine.clock import Clock
from tarantella.engine.reaper import Reaper
from tarantella.exporters.stored import StoredRecord
from tarantella.services.app import App
from tarantella.services.target import forget
from tarantella.store import closing, events, first_page, pages, records, runs, steering, workers
from tarantella.store.runs import Run
from tarantella.store.standing import standings
from tarantella.store.tx import Tx

__all__ = [
    "Run",
    "attempts",
    "cancel",
    "delete",
    "event_list",
    "explain",
    "field_names",
    "find",
    "get",
    "listed",
    "page_list",
    "pause",
    "reap",
    "record_list",
    "record_stream",
    "resume",
    "retry_failed",
    "seen",
    "troubles",
    "workers_alive",
]

# Records that are read together. Those behind small ones may be large.
FIRST_SLICE = 50
LARGEST_SLICE = 500
SLICE_BYTES = 1_000_000

USER = "paused by the user"


async def reap(app: App) -> list[str]:
    """Notice commands that died: their runs are shown as interrupted, not as running. The ids of the dead."""
    clock = Clock()
    reaper = Reaper(
        app.database, app.settings.workers_dir, app.hostname, max_running=app.settings.max_concurrent_tasks, clock=clock
    )
    return await reaper.run_once()


async def find(app: App, text: str) -> str:
    return await app.database.read(partial(runs.find, prefix=text))


async def get(app: App, run_id: str) -> Run:
    return await app.database.read(partial(runs.get, run_id=run_id))


async def listed(
    app: App,
    *,
    status: RunStatus | None = None,
    source: str | None = None,
    job_id: str | None = None,
    limit: int = 50,
    before: tuple[float, str] | None = None,
) -> list[Run]:
    return await app.database.read(
        partial(runs.listed, status=status, source=source, job_id=job_id, limit=limit, before=before)
    )


async def seen(app: App, run_id: str) -> Run:
    """A run as users see them; one that is being deleted is not there."""
    return await app.database.read(partial(runs.seen, run_id=run_id))


async def attempts(app: App, found: Sequence[Run]) -> dict[str, int]:
    """At which attempt the first page of each of these runs is."""
    firsts = await app.database.read(partial(first_page.first_pages, run_ids=[run.id for run in found]))
    return {run.id: firsts[run.id].attempt if run.id in firsts else run.attempt for run in found}


async def troubles(app: App, run_id: str) -> list[dict[str, Any]]:
    return await app.database.read(partial(pages.troubles, run_id=run_id))


async def page_list(
    app: App,
    run_id: str,
    *,
    state: PageState | None = None,
    reason: str | None = None,
    after: int = 0,
    limit: int = 100,
) -> list[dict[str, Any]]:
    return await app.database.read(
        partial(pages.listed, run_id=run_id, state=state, reason=reason, after=after, limit=limit)
    )


async def record_list(app: App, run_id: str, *, after: int = 0, limit: int = 100) -> list[tuple[int, dict[str, Any]]]:
    return await app.database.read(partial(records.after, run_id=run_id, last=after, limit=limit))


async def event_list(
    app: App, run_id: str, *, after: int = 0, limit: int = 1_000, level: Level | None = None
) -> list[dict[str, Any]]:
    return await app.database.read(partial(events.listed, run_id=run_id, after=after, limit=limit, level=level))


async def missing_strategy(app: App, run_id: str) -> dict[str, Any] | None:
    """What the run has said of a strategy that it would have needed and was not there, if it has."""
    warnings = await event_list(app, run_id, level=Level.WARN)
    return next((event["meta"] for event in warnings if event["message"] == STRATEGY_MISSING), None)


async def pause(app: App, run_id: str) -> RunStatus:
    want = partial(
        steering.want_pause, run_id=run_id, why=USER, max_running=app.settings.max_concurrent_tasks, now=app.now()
    )
    return await app.database.write(want, durable=True, name="pause")


async def cancel(app: App, run_id: str) -> RunStatus:
    """Ask for the end, and close the run's pages here: nobody else may be there to do it."""
    await app.database.write(partial(steering.want_cancel, run_id=run_id), durable=True, name="cancel")
    close = partial(
        closing.close_pages,
        run_id=run_id,
        reason=Skip.CANCELLED,
        max_running=app.settings.max_concurrent_tasks,
        now=app.now(),
    )
    run = await get(app, run_id)
    while not run.is_over:
        closed = await app.database.write(close, name="close")
        run = await get(app, run_id)
        if not closed.pages and not closed.lost:
            # What is pending now was found meanwhile, by a worker that will see what is wanted of it.
            break
    return run.status


async def resume(app: App, run_id: str, keeper: str | None) -> RunStatus:
    work = partial(
        steering.resume, run_id=run_id, keeper=keeper, max_running=app.settings.max_concurrent_tasks, now=app.now()
    )
    return await app.database.write(work, durable=True, name="resume")


async def retry_failed(app: App, run_id: str, keeper: str | None) -> int:
    work = partial(
        steering.retry_failed,
        run_id=run_id,
        keeper=keeper,
        max_running=app.settings.max_concurrent_tasks,
        now=app.now(),
    )
    return await app.database.write(work, durable=True, name="retry")


async def delete(app: App, run_id: str) -> None:
    """Remove a run that is over, and all that it stored. It is gone with the first slice; should we die, others go on."""
    while not await app.database.write(partial(runs.delete_some, run_id=run_id), name="delete"):
        pass
    await asyncio.to_thread(Artifacts(app.settings.artifacts_dir).remove, [run_id])
    forget(app, run_id)
    await app.database.kept()


async def explain(app: App, run_id: str, address: str) -> dict[str, Any]:
    """The whole story of a page: where it was found, every attempt, what was decided and why."""

    def look(tx: Tx) -> dict[str, Any]:
        run = runs.get(tx, run_id)
        urls = _meant(run, address)
        marks = (mark for url in urls for mark in (fingerprint(url.href), *sitemap.marks(url.href)))
        found = (pages.find(tx, run_id, mark) for mark in marks)
        page = next((each for each in found if each is not None), None)
        if page is None:
            raise _no_page(run, urls[0], app.now())
        parent = pages.by_id(tx, page["found_on"]) if page["found_on"] else None
        found_there = records.of_page(tx, page["id"]) if page["state"] == PageState.DONE else []
        return {
            "page": page,
            "found_on": parent,
            "waits": _why_it_waits(tx, app, run, page),
            "attempts": pages.attempts(tx, page["id"]),
            "fields": [field for record in found_there for field in field_origins(record, run.spec)],
        }

    return await app.database.read(look)


def _why_it_waits(tx: Tx, app: App, run: Run, page: Mapping[str, Any]) -> str | None:
    """What keeps a pending page, beside the time at which it is due."""
    if page["state"] != PageState.PENDING:
        return None
    if run.status in (RunStatus.QUEUED, RunStatus.PAUSED):
        return f"its run is {run.status}"
    now = app.now()
    standing = standings(tx, [run.id], list(app.strategies()), now, lane=page["lane"]).get(run.id)
    return standing.why_a_page_waits(now) if standing is not None else None


def _meant(run: Run, address: str) -> list[Url]:
    """An address as a person types it; a path is one at each of the servers where the run starts."""
    if not run.roots or not address.startswith("/") or address.startswith("//"):
        return [start_url(address)]
    return list(dict.fromkeys(resolve(address, root) for root in run.roots))


def _no_page(run: Run, url: Url, now: float) -> NotFound:
    """Why an address is not a page of a run, as far as that can be told."""
    message = f"{redact(url.href)} is not a page of this run."
    roots = [resolve(root) for root in run.roots]
    if (kept_out := kept_out_by(run.spec.scope, roots, run.spec.include, run.spec.exclude, url)) is not None:
        why, other = kept_out
        return NotFound(f"{message} {why}.", remedy=f"To let it in, scrape with {other}.")
    trap = Traps(run.spec.traps, time.gmtime(now).tm_year, run.traps).stopped_by(url)
    if trap is not None:
        why = f"Addresses like it were taken for a trap: {trap.in_words} ({redact(trap.pattern)})."
        return NotFound(
            f"{message} {why}", remedy=f"To let it through, scrape with the trap limit {trap.let_through_by}."
        )
    remedy = "It was never found, or too deep; `tarantella runs show` tells how many links were refused, and why."
    return NotFound(message, remedy=remedy)


def record_stream(app: App, run_id: str) -> Iterator[StoredRecord]:
    """All records of a run in order, read in slices: many of small ones, few of large ones."""
    last, limit = 0, FIRST_SLICE

    def look(tx: Tx) -> Sequence[Sequence[Any]]:
        runs.still_there(tx, run_id)
        return records.as_stored(tx, run_id, last, limit)

    while found := app.database.read_now(look):
        for _, text in found:
            yield StoredRecord(text)
        last = found[-1][0]
        limit = min(LARGEST_SLICE, 1 + SLICE_BYTES * len(found) // sum(len(text) for _, text in found))


async def workers_alive(app: App) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in await app.database.read(workers.alive)]


def field_origins(record: Mapping[str, Any], spec: Spec) -> list[dict[str, Any]]:
    """Each field of a record: its value, where it came from, and what was wrong with it."""
    values, sources = record.get("fields") or {}, record.get("sources") or {}
    problems = record.get("problems") or {}
    chosen = {wanted.name: wanted for wanted in spec.fields}
    named = [*values, *(name for name in (*sources, *problems) if name not in values)]
    return [
        {
            "name": name,
            "value": values.get(name, record.get(name)),
            "source": sources.get(name) or _selector(chosen.get(name)),
            **({"item": record["item"]} if "item" in record else {}),
            **problems.get(name, {}),
        }
        for name in named
    ]


def _selector(wanted: Field | None) -> str | None:
    """How a field was looked for."""
    if wanted is None or not wanted.selectors:
        return None
    told = ", ".join(f"{kind} {text}" for kind, text in wanted.selectors.items())
    return f"{told} @{wanted.attr}" if wanted.attr else told


def field_names(spec: Spec) -> list[str]:
    return [wanted.name for wanted in spec.fields]
