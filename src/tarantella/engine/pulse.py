"""What a worker tells of itself and of its hosts with every beat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from tarantella.domain.learning import REFUSALS, Sight
from tarantella.domain.page import PageState
from tarantella.domain.parts import host_of
from tarantella.domain.site import Tally
from tarantella.domain.struct import Frozen
from tarantella.domain.vitals import Vitals
from tarantella.engine.clock import Clock
from tarantella.engine.counters import Counters
from tarantella.engine.groups import Group, grouped
from tarantella.engine.holdings import Holdings
from tarantella.engine.lane import OwnedLane
from tarantella.engine.process import memory
from tarantella.engine.settler import Settler
from tarantella.store import counters, sites, wakes
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tarantella.store.wakes import Wake

HOSTS_AT_ONCE = 500  # a few milliseconds of the write lock
MOST_HOSTS = 20_000  # that wait to be told; what is more is not worth the memory
MOST_WAKES = 10_000
LOOKS_AT_LEAST_EVERY = 30.0


class Reading(Frozen):
    """What one beat tells."""

    vitals: Vitals
    counted: Counter[str]
    tallies: dict[str, Tally]
    remembers: float
    woken: list[Wake]

    def store(self, tx: Tx, worker_id: str, now: float) -> None:
        counters.add(tx, self.counted)
        sites.tally(tx, self.tallies, now, self.remembers)
        wakes.note(tx, worker_id, self.woken)


def _sights(group: Group, strategy: str) -> tuple[Sight, ...]:
    """What these pages show of strategies: what they say themselves, or what their attempt does."""
    if group.sights:
        return group.sights
    shows = group.state is PageState.DONE or group.failure in REFUSALS
    return ((strategy, group.failure),) if shows else ()


class Pulse:
    """Collects between two beats."""

    def __init__(self, held: Holdings, settler: Settler, clock: Clock, remembers: float) -> None:
        self._remembers = remembers  # for how many seconds, what a site has taught
        self.counters = Counters()
        self._held = held
        self._settler = settler
        self._clock = clock
        self._progress = 0
        self._ready_lanes = 0
        self._looked = clock.monotonic()
        self._told: Counter[str] = Counter()
        self._tallies: dict[str, Tally] = {}
        self._woken: list[Wake] = []
        self._progress_at: float | None = None
        self._pages = 0
        self._pages_since = self._looked

    def woken(self, task_id: str, run_ids: Sequence[str]) -> None:
        """A message arrived."""
        now = self._clock.wall()
        if len(self._woken) < MOST_WAKES:
            self._woken += [Wake(task_id, run_id, now) for run_id in run_ids]

    def settled(self, settled: Settled) -> None:
        """Something was stored."""
        groups = grouped(settled.outcomes)
        self.counters.count(groups, settled.lost)
        self._moves_on(1)
        self._pages += settled.pages
        for group in groups:
            if group.strategy is not None and (tally := self._tally(group.lane)) is not None:
                pages = len(group.outcomes)
                tally.add(group.failure, group.elapsed_ms, pages)
                for sight in _sights(group, group.strategy):
                    tally.saw(sight, group.outcomes[-1].page, pages)

    def _tally(self, lane: str) -> Tally | None:
        tally = self._tallies.get(lane)
        if tally is None and len(self._tallies) < MOST_HOSTS:
            tally = self._tallies[lane] = Tally()
        return tally

    def looked(self, took: int, left: int) -> None:
        """A look at what there is to do has ended: so many lanes were taken, and so many left that could have been."""
        self._moves_on(took)
        self._ready_lanes = left
        self._looked = self._clock.monotonic()

    def read(self) -> Reading:
        """What there is to tell now; whoever reads it stores it, or says that they could not."""
        series = self.counters.series()
        counted = Counter(series)
        counted.subtract(self._told)
        self._told = series
        tallies: dict[str, Tally] = {}
        for name in list(islice(self._tallies, HOSTS_AT_ONCE)):
            tally = tallies.setdefault(host_of(name), Tally())
            tally.merge(self._tallies.pop(name))
            if (lane := self._held.lanes.get(name)) is not None:
                tally.slots, tally.slots_limit, tally.delay = lane.throttle.slots, lane.throttle.limit, lane.delay
        woken, self._woken = self._woken, []
        return Reading(self._vitals(), counted, tallies, self._remembers, woken)

    def untold(self, reading: Reading) -> None:
        """It could not be stored, and is told with the next."""
        self._told.subtract(reading.counted)
        for name, tally in reading.tallies.items():
            self._tallies.setdefault(name, Tally()).merge(tally)
        self._woken[:0] = reading.woken

    def _moves_on(self, steps: int) -> None:
        if steps:
            self._progress += steps
            self._progress_at = self._clock.wall()

    def _rate(self) -> float:
        """Pages a second since this was last asked."""
        now = self._clock.monotonic()
        seconds, self._pages_since = now - self._pages_since, now
        pages, self._pages = self._pages, 0
        return pages / seconds if seconds > 0 else 0.0

    def _vitals(self) -> Vitals:
        held = self._held
        startable = sum(self._could_start(lane) for lane in held.lanes.values())
        work = len(held.tasks) + startable + self._ready_lanes + (not self._settler.is_idle)
        if self._clock.monotonic() - self._looked > LOOKS_AT_LEAST_EVERY:
            # Who does not look can't know that there is nothing to do.
            work += 1
        patience = max((run.spec.total_timeout for run in held.runs.values()), default=0.0)
        return Vitals(
            work,
            self._progress,
            len(held.tasks),
            patience,
            lanes=len(held.lanes),
            rate=self._rate(),
            memory=memory(),
            progress_at=self._progress_at,
        )

    def _could_start(self, lane: OwnedLane) -> bool:
        """Whether a page waits at a host that does not have to be waited for."""
        if lane.active or not lane.pages.queued or lane.wait_time():
            return False
        runs = self._held.runs
        return any(runs[run_id].may_start for run_id in lane.pages.run_ids if run_id in runs)
