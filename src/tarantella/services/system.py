"""What a user asks of the whole: is it alive, does it get on, what does it wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from tarantella.domain.errors import StoreError
from tarantella.domain.struct import Frozen
from tarantella.domain.url import redact
from tarantella.domain.vitals import Condition
from tarantella.queues.broker import Away, ask
from tarantella.services.app import App
from tarantella.services.supervisor import Supervisor
from tarantella.services.vigils import Vigils, Watched
from tarantella.services.writing import Writing
from tarantella.store import counters, workflow_sums
from tarantella.store import system as store
from tarantella.store import workflows as stored_workflows
from tarantella.store.system import Census
from tarantella.store.tx import Tx

STORE_PATIENCE = 2.0
BROKER_PATIENCE = 1.0
MOST_WAITING = 100
KEPT = "The server starts its engines again by itself; `tarantella doctor` tells more."
KEPT_IN_PART = "The server starts its own engines again by itself, but no worker: `tarantella workers list` shows them."
NOT_KEPT = "A worker that stands still is not started again by itself: `tarantella workers list` shows which it is."
NOBODY = "This server has no engines of its own: start a worker with `tarantella worker`, or the server with engines."
GETS_ON = (Condition.IDLE, Condition.WORKING)


class Readiness(Frozen):
    """Whether work that is submitted now will be done, and why not."""

    store: str
    engines: str
    is_ready: bool
    remedy: str | None = None


class Broker(Frozen):
    """How word of new runs gets to workers of other machines."""

    url: str  # as people may see it
    messages: int | None  # that wait; None when it does not answer
    trouble: str | None = None


class Workflows(Frozen):
    """How many there are, and how long steps took, also those of workflows that are gone."""

    counts: dict[str, int]  # by status
    steps: Sequence[tuple[str, str, int, float]]  # type, how they ended, how many, and seconds


class System(Frozen):
    """The whole at one moment."""

    census: Census
    waiting: list[dict[str, Any]]
    workers: Sequence[Watched]
    workflows: dict[str, int]  # by status
    broker: Broker | None = None


async def readiness(vigils: Vigils, writing: Writing, supervisor: Supervisor | None) -> Readiness:
    """The store answers and can be written, and an engine gets on with what there is to do. That there is much is no fault."""
    try:
        await asyncio.wait_for(vigils.look(), STORE_PATIENCE)
    except TimeoutError:
        silent = f"it has not answered within {STORE_PATIENCE:.0f} s"
        return Readiness(silent, "unknown", False, "See whether its disk or its server answers.")
    except StoreError as error:
        return Readiness(error.message, "unknown", False, error.remedy)
    if (refusal := await writing.refusal(STORE_PATIENCE)) is not None:
        return Readiness(refusal.message, "unknown", False, refusal.remedy)
    serving = vigils.serving()
    getting_on = [worker for worker in serving if worker.condition in GETS_ON]
    if getting_on:
        busy = any(worker.condition is Condition.WORKING for worker in getting_on)
        return Readiness("ok", "working" if busy else "idle", True)
    if not serving:
        return Readiness("ok", "no engine is at work", False, _who_mends_it(serving, supervisor))
    worst = max(serving, key=lambda worker: max(worker.silent_for, worker.stuck_for))
    stuck = max(worst.silent_for, worst.stuck_for)
    return Readiness("ok", f"no engine has made progress for {stuck:.0f} s", False, _who_mends_it(serving, supervisor))


def _who_mends_it(serving: Sequence[Watched], supervisor: Supervisor | None) -> str:
    """Who of those that don't get on is started again by itself, and who is not."""
    if supervisor is None or not supervisor.engines:
        return NOT_KEPT if serving else NOBODY
    return KEPT if all(map(supervisor.keeps, serving)) else KEPT_IN_PART


async def system(app: App, vigils: Vigils) -> System:
    workers = await vigils.look()

    def look(tx: Tx) -> tuple[Census, list[dict[str, Any]], dict[str, int]]:
        return store.census(tx, app.now()), store.waiting_runs(tx, MOST_WAITING), stored_workflows.counts(tx)

    (seen, waiting, workflows), asked = await asyncio.gather(app.database.read(look), broker(app))
    return System(seen, waiting, workers, workflows, asked)


async def broker(app: App) -> Broker | None:
    """How the broker is, if there is one."""
    if (url := app.settings.broker_url) is None:
        return None
    try:
        _, messages = await asyncio.to_thread(ask, url, BROKER_PATIENCE)
    except Away as error:
        return Broker(redact(url), None, redact(str(error)))
    return Broker(redact(url), messages)


async def totals(app: App) -> tuple[Census, dict[str, int]]:
    """How much there is of everything, and what all workers have done so far."""
    seen = await app.database.read(partial(store.census, now=app.now()))
    return seen, await app.database.read(counters.totals)


async def workflows(app: App) -> Workflows:
    def look(tx: Tx) -> Workflows:
        return Workflows(stored_workflows.counts(tx), workflow_sums.totals(tx))

    return await app.database.read(look)
