"""Ends what will not be done any more: cancelled runs, runs whose time is up, pages of a host that is gone."""

from __future__ import annotations

from functools import partial

from tarantella.domain.page import Skip
from tarantella.engine.clock import Clock
from tarantella.engine.holdings import Holdings
from tarantella.engine.lane import OwnedLane
from tarantella.store import closing
from tarantella.store.database import Database
from tarantella.store.settle import Settled


class Closer:
    """Skips pending pages, a slice at a time, through the settle."""

    def __init__(
        self, database: Database, holdings: Holdings, worker_id: str, *, max_running: int, clock: Clock
    ) -> None:
        self._database = database
        self._worker_id = worker_id
        self._held = holdings
        self._max_running = max_running
        self._clock = clock

    async def close_run(self, run_id: str, reason: Skip) -> set[str]:
        """Close all that is pending in a run; the runs that ended by it."""
        announce = partial(closing.announce, run_id=run_id, reason=reason, now=self._clock.wall())
        await self._database.write(announce, name="close")
        return await self._close(run_id, reason)

    async def close_hopeless(self, lane: OwnedLane) -> set[str]:
        """Three probes of a host failed: the pages that waited for it then will not come.

        What was found, moved here or taken back since has seen none of them fail: it waits for the next.
        """
        if not lane.breaker.is_hopeless or lane.pages.unsettled:
            # What the last probe has to say is stored first: closed with the others, its page would lose it.
            return set()
        ended: set[str] = set()
        for run_id in lane.pages.run_ids:
            ended |= await self._close(run_id, Skip.HOST_DOWN, lane=lane.name, waiting_at=lane.breaker.opened_at)
        lane.pages.drop()
        lane.forget_probes()
        return ended

    async def _close(
        self, run_id: str, reason: Skip, *, lane: str | None = None, waiting_at: float | None = None
    ) -> set[str]:
        ended: set[str] = set()
        while True:
            closed: Settled = await self._database.write(
                partial(
                    closing.close_pages,
                    run_id=run_id,
                    reason=reason,
                    worker_id=self._worker_id if lane is not None else None,
                    lane=lane,
                    waiting_at=waiting_at,
                    max_running=self._max_running,
                    now=self._clock.wall(),
                ),
                name="close",
            )
            ended |= set(closed.ended)
            if not closed.pages and not closed.lost:
                return ended
