"""What one worker does for all: repair, admit, check the log's size, forget."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from tarantella.domain.errors import StoreError
from tarantella.engine.lane import Clock
from tarantella.store import admission, duties, runs, workers
from tarantella.store.database import Database
from tarantella.store.tx import Tx

FORGET_WORKERS_AFTER = 7 * 86_400.0


class Duties:
    """Done by the owner of the duties lane, a little at a time."""

    def __init__(self, database: Database, worker_id: str, *, max_running: int, clock: Clock) -> None:
        self._database = database
        self._worker_id = worker_id
        self._max_running = max_running
        self._clock = clock
        self._repaired_to: tuple[str, str] = ("", "")
        self.ours = False

    async def run_once(self) -> None:
        """Do what is due."""
        self.ours = await self._database.write(partial(duties.take, worker_id=self._worker_id), name="duties")
        if not self.ours:
            return
        await self._database.write(self._sweep, name="sweep")
        for run_id in await self._database.read(self._half_runs):
            while not await self._database.write(
                partial(runs.delete_some, run_id=run_id, unacknowledged=True), name="sweep"
            ):
                pass

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
