"""The pages of a lane that its owner has at hand, and whose turn it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

from tarantella.domain.page import Page
from tarantella.engine.served import ServedRun

# More is read when fewer pages than this are at hand; where many are fetched at a time, when each slot has fewer than so many.
LOW_WATER = 64
AT_HAND_PER_SLOT = 16


class AtHand:
    """A queue for each run that stands in the lane; what was taken from one is held until it is settled."""

    def __init__(self) -> None:
        self.held: set[int] = set()
        self.looks = 0  # how often there may have been new pages in the store
        self.is_low = False  # fewer pages are at hand than should be
        self.low_water = LOW_WATER
        self._queues: dict[str, deque[Page]] = {}
        self._only: tuple[str, deque[Page]] | None = None  # the queue of the run that is alone here
        self._turns: dict[str, float] = {}
        self._exhausted: set[str] = set()

    def serve(self, slots: int) -> None:
        """So many pages may be fetched at a time: as many as they need should be at hand."""
        self.low_water = max(LOW_WATER, AT_HAND_PER_SLOT * slots)

    def stands(self, run_ids: set[str]) -> None:
        """Keep only the queues of runs that stand here."""
        for run_id in set(self._queues) - run_ids:
            for page in self._queues.pop(run_id):
                self.held.discard(page.id)
            self._turns.pop(run_id, None)
            self._exhausted.discard(run_id)
        for run_id in run_ids:
            self._queues.setdefault(run_id, deque())
            self._turns.setdefault(run_id, min(self._turns.values(), default=0.0))
        self._only = next(iter(self._queues.items())) if len(self._queues) == 1 else None

    def wants_more(self) -> list[str]:
        """The runs whose queue here runs low and may have more in the store."""
        low, exhausted = self.low_water, self._exhausted
        return [run_id for run_id, queue in self._queues.items() if len(queue) < low and run_id not in exhausted]

    def add(self, run_id: str, pages: list[Page], asked_for: int) -> None:
        if len(pages) < asked_for:
            self._exhausted.add(run_id)
        queue = self._queues.get(run_id)
        if queue is None:
            return
        for page in pages:
            if page.id not in self.held:
                self.held.add(page.id)
                queue.append(page)

    def look_again(self) -> None:
        """There may be new pages in the store."""
        self.looks += 1
        self._exhausted.clear()

    def pick(self, runs: Mapping[str, ServedRun]) -> Page | None:
        """The next page of the run whose turn it is, the runs' priorities being their weights."""
        if self._only is not None:
            # Nobody else has a turn.
            run_id, queue = self._only
            if not queue or (served := runs.get(run_id)) is None or not served.may_start:
                return None
            self.is_low = len(queue) <= self.low_water
            return queue.popleft()
        best: str | None = None
        for run_id, queue in self._queues.items():
            if queue and (served := runs.get(run_id)) is not None and served.may_start:
                if best is None or self._turns[run_id] < self._turns[best]:
                    best = run_id
        if best is None:
            return None
        self._turns[best] += 1 / runs[best].weight
        self.is_low = self.queued <= self.low_water
        return self._queues[best].popleft()

    def line_up(self, lane: str, runs: Mapping[str, ServedRun]) -> None:
        """Let this lane wait for a slot of those runs that have pages here and all their slots in use."""
        for run_id, queue in self._queues.items():
            if queue and (served := runs.get(run_id)) is not None and served.is_active:
                served.line.setdefault(lane)

    def put_back(self, page: Page) -> None:
        """A page that was picked and not fetched goes to the front of its queue."""
        queue = self._queues.get(page.run_id)
        if queue is None:
            self.held.discard(page.id)
        else:
            queue.appendleft(page)

    def drop(self) -> None:
        """Let go of all that nobody has picked."""
        for queue in self._queues.values():
            self.held.difference_update(page.id for page in queue)
            queue.clear()
        self._exhausted.clear()

    def settled(self, page_ids: Collection[int]) -> None:
        self.held.difference_update(page_ids)

    @property
    def run_ids(self) -> set[str]:
        return set(self._queues)

    @property
    def unsettled(self) -> int:
        """How many pages are in flight, or on their way to the store."""
        return len(self.held) - self.queued

    @property
    def queued(self) -> int:
        return sum(map(len, self._queues.values()))
