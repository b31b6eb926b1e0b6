"""What a worker has in its hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from tarantella.domain.outcome import LaneNews, Outcome
from tarantella.domain.page import Page
from tarantella.domain.parts import lane_for
from tarantella.domain.struct import Mutable, field
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.store.runs import Run

BATCH = 200  # pages read from the store at once


class Holdings(Mutable):
    """The lanes it owns, the runs that stand in them, and the pages in flight."""

    wall: Callable[[], float]
    lanes: dict[str, OwnedLane] = field(default_factory=dict)
    runs: dict[str, ServedRun] = field(default_factory=dict)
    tasks: dict[asyncio.Task[None], Page] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)  # of hosts that are split

    def learn(self, found: Iterable[Run]) -> list[ServedRun]:
        """Take over what the database says of these runs; those that are new here."""
        new = []
        for run in found:
            if run.id in self.runs:
                self.runs[run.id].update(run)
            elif not run.is_over:
                self.runs[run.id] = ServedRun(run, self.wall)
                new.append(self.runs[run.id])
        return new

    def forget(self, living: set[str]) -> None:
        """Drop runs that are over or deleted, once nothing of them is in flight."""
        for run_id in [id_ for id_, run in self.runs.items() if id_ not in living and not run.busy]:
            del self.runs[run_id]

    def stands_in(self, run_id: str, *, but_not: frozenset[str] = frozenset()) -> bool:
        """Whether the run has pages in one of our lanes."""
        return any(run_id in lane.pages.run_ids for name, lane in self.lanes.items() if name not in but_not)

    def is_full(self, run_id: str) -> bool:
        """Whether the run has all the pages that it may have."""
        run = self.runs.get(run_id)
        return run is not None and run.full

    def spread(self, outcomes: list[Outcome]) -> list[Outcome]:
        """The outcomes, with the pages that they found in the parts of hosts that are split."""
        return [self._spread(outcome) for outcome in outcomes] if self.parts else outcomes

    def _spread(self, outcome: Outcome) -> Outcome:
        run = self.runs.get(outcome.page.run_id)
        if run is None or not any(link.lane in self.parts for link in outcome.links):
            return outcome
        limit = run.spec.per_host
        links = tuple(
            link._replace(lane=lane_for(link.lane, link.fingerprint, self.parts[link.lane], limit))
            if link.lane in self.parts
            else link
            for link in outcome.links
        )
        return outcome._replace(links=links)

    def distances(self, names: Iterable[str]) -> dict[str, float]:
        """Until when those of these lanes must be left alone whose hosts were asked a moment ago."""
        return {name: until for name in names if (until := self.lanes[name].left_alone_until) is not None}

    def news(self) -> list[LaneNews]:
        return [news for lane in self.lanes.values() if (news := lane.news(BATCH)) is not None]
