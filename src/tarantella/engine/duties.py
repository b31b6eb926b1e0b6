"""What one worker does for all: repair, admit, check the log's size, forget."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

from tarantella.domain.errors import Conflict, StoreError
from tarantella.engine.artifacts import Artifacts
from tarantella.engine.clock import Clock
from tarantella.store import admission, duties, idempotency, retention, retrying, runs, wakes, workers
from tarantella.store.database import Database
from tarantella.store.tx import Tx

FORGET_WORKERS_AFTER = 7 * 86_400.0
KEYS_ARE_KEPT = 86_400.0  # by when whoever did not hear the answer has asked again
RUNS_AT_ONCE = 500
LONGEST_PRUNE = LONGEST_RETAKE = 1.0  # seconds
LOOKS_AT_ARTIFACTS_EVERY = 60.0


class Duties:
    """Done by the owner of the duties lane, a little at a time."""

    def __init__(
        self,
        database: Database,
        worker_id: str,
        *,
        max_running: int,
        clock: Clock,
        cleanup_interval: float = retention.TASKS_ARE_KEPT,
        artifacts: Path | None = None,
    ) -> None:
        self._database = database
        self._worker_id = worker_id
        self._max_running = max_running
        self._clock = clock
        self._cleanup_interval = cleanup_interval
        self._artifacts = Artifacts(artifacts) if artifacts is not None else None
        self._looks_at_artifacts_at = 0.0
        self._repaired_to: tuple[str, str] = ("", "")
        self.ours = False

    async def run_once(self) -> None:
        """Do what is due."""
        self.ours = await self._database.write(partial(duties.take, worker_id=self._worker_id), name="duties")
        if not self.ours:
            return
        await self._take_back()
        await self._database.write(self._sweep, name="sweep")
        await self._prune()
        await self._remove_artifacts()

    async def _take_back(self) -> None:
        """Go on with the retries of runs: in a second more pages than a crawl gets done until we come again."""
        enough = self._clock.monotonic() + LONGEST_RETAKE
        for run_id in await self._database.read(retrying.unfinished):
            is_more = True
            while is_more and self._clock.monotonic() < enough:
                go_on = partial(retrying.go_on, run_id=run_id, now=self._clock.wall())
                is_more = await self._database.write(go_on, name="retake")

    async def _prune(self) -> None:
        """Delete what is left of half runs, and runs that nobody wants to keep any longer: a little at a time, others wait."""
        enough = self._clock.monotonic() + LONGEST_PRUNE
        for run_id in await self._database.read(self._half_runs):
            if not await self._delete(run_id, enough, unacknowledged=True):
                return
        now = self._clock.wall()
        old = now - KEYS_ARE_KEPT
        if await self._database.read(partial(idempotency.some_are_older, before=old)):
            await self._database.write(partial(idempotency.forget_old, before=old), name="prune")
        expired = partial(retention.expired, cleanup_interval=self._cleanup_interval, now=now, limit=RUNS_AT_ONCE)
        for run_id in await self._database.read(expired):
            # Somebody may have brought it back to life meanwhile.
            with suppress(Conflict):
                if not await self._delete(run_id, enough):
                    return

    async def _delete(self, run_id: str, enough: float, *, unacknowledged: bool = False) -> bool:
        """False when the time is up: the rest is for the next time; what was begun, nobody sees any more."""
        delete = partial(runs.delete_some, run_id=run_id, unacknowledged=unacknowledged)
        while not await self._database.write(delete, name="prune"):
            if self._clock.monotonic() > enough:
                return False
        return self._clock.monotonic() <= enough

    async def _remove_artifacts(self) -> None:
        """Artifacts go when their run has gone, whoever deleted it."""
        now = self._clock.monotonic()
        if self._artifacts is None or now < self._looks_at_artifacts_at:
            return
        self._looks_at_artifacts_at = now + LOOKS_AT_ARTIFACTS_EVERY
        kept = await asyncio.to_thread(self._artifacts.runs)
        if kept:
            living = await self._database.read(partial(runs.existing, run_ids=kept))
            await asyncio.to_thread(self._artifacts.remove, [run_id for run_id in kept if run_id not in living])

    async def after_commit(self) -> None:
        """Put the database's log away when it has grown: right after a commit of ours, and only here."""
        if self.ours:
            # What can't be put away now stays in the log until after another commit.
            with suppress(StoreError):
                await self._database.checkpoint()

    def _half_runs(self, tx: Tx) -> list[str]:
        now = self._clock.wall()
        return [run_id for reason in runs.UNSEEN for run_id in duties.unfinished_submissions(tx, reason, now)]

    def _sweep(self, tx: Tx) -> None:
        now = self._clock.wall()
        self._repaired_to = duties.repair_stands(tx, self._repaired_to) or ("", "")
        admission.yield_slots(tx, self._max_running, now)
        admission.admit(tx, self._max_running, now)
        workers.forget_old(tx, now - FORGET_WORKERS_AFTER)
        wakes.forget_old(tx, now - wakes.KEPT)
