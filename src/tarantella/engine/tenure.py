"""Which lanes a worker owns: takes its fair share, lets go of what it doesn't need, adopts what it didn't know it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from tarantella.domain.page import Skip
from tarantella.domain.run import Wanted
from tarantella.domain.spec import Spec
from tarantella.domain.struct import Mutable
from tarantella.domain.url import fingerprint
from tarantella.engine.clock import Clock
from tarantella.engine.holdings import Holdings
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.settler import Settler
from tarantella.store import closing, duties, lanes, pages, runs, sites, slots, steering, workers
from tarantella.store.database import Database
from tarantella.store.tx import Tx

LANE_LINGERS = 2.0
OTHERS_COME_WITHIN = 3.0
MAX_LANES = 512
RECALLED_AT_ONCE = 20_000


class View(Mutable):
    """What a tick sees of the database, in one read."""

    runs: list[runs.Run]
    stands: list[lanes.Stand]
    rulings: dict[str, sites.Ruling]
    ready_lanes: int
    peers: int
    strategies: frozenset[str]  # that somebody who lives can use
    owned_by_others: int  # lanes, of those who work for the same runs
    hungry: list[str]  # others who have nothing to do
    sated: list[str]  # others who have
    shares: dict[str, dict[str, int]]
    overdue: list[tuple[str, Skip]]
    parts: dict[str, int]


class Taken(NamedTuple):
    """What came of taking."""

    lanes: int = 0
    left: int = 0  # lanes that there were for us, if none was taken
    owes: bool = False  # slots of a run that are somebody else's share, as soon as what is in flight has ended
    gave: bool = False  # such slots
    lacks: bool = False  # slots of its own share that somebody else still has


class Tenure:
    """The taking and releasing of lanes, and of slots of the runs that stand in them."""

    def __init__(
        self,
        database: Database,
        holdings: Holdings,
        settler: Settler,
        worker_id: str,
        *,
        only_run: str | None,
        remembers: float,
        max_running: int,
        clock: Clock,
        has: Sequence[str] | None = None,
    ) -> None:
        self._database = database
        self._held = holdings
        self._settler = settler
        self._me = worker_id
        self._only_run = only_run
        self._remembers = remembers
        self._max_running = max_running
        self._clock = clock
        self._has = has
        self._expected, self._expected_until = 1, 0.0

    def expect(self, others: int) -> None:
        """So many others are about to come and help: for a moment, what would be theirs is left to them."""
        self._expected, self._expected_until = 1 + others, self._clock.monotonic() + OTHERS_COME_WITHIN

    async def look(self) -> View:
        """See what stands where, who else works, and what is wanted of our runs."""
        view = await self._database.read(self._read)
        await self._learn(view.runs)
        self._held.parts = view.parts
        self._held.forget({run.id for run in view.runs if not run.is_over})
        return view

    async def _learn(self, found: Sequence[runs.Run]) -> None:
        """Take over what is known of these runs, and of those that are new here, which pages they have already."""
        for run in self._held.learn(found):
            if run.run.counts.total == 1:
                # It has nothing but the page that it starts with.
                run.links.recall(map(fingerprint, run.run.roots))
                continue
            last = ""
            for _ in range(run.links.room // RECALLED_AT_ONCE):
                known = partial(pages.marks, run_id=run.id, after=last, limit=RECALLED_AT_ONCE)
                marks = await self._database.read(known)
                run.links.recall(marks)
                if len(marks) < RECALLED_AT_ONCE:
                    break
                last = marks[-1]

    def _read(self, tx: Tx) -> View:
        now = self._clock.wall()
        stands = lanes.stands_of(tx, list(self._held.lanes))
        kept = {self._only_run} if self._only_run is not None else set()
        ids = sorted({stand.run_id for stand in stands} | set(self._held.runs) | kept)
        living = workers.alive(tx)
        peers = [worker for worker in living if worker.serves == self._only_run or worker.id == self._me]
        if len(peers) >= self._expected:
            self._expected = 1  # they are there, and take what is theirs by themselves
        return View(
            runs=runs.served(tx, ids),
            stands=stands,
            rulings=sites.rulings(tx, self._held.lanes, now - self._remembers),
            ready_lanes=lanes.ready_count(tx, only_run=self._only_run, now=now, has=self._has),
            peers=max(len(peers), self._expecting),
            strategies=frozenset(name for worker in living for name in orjson.loads(worker.has)),
            owned_by_others=lanes.owned_count(tx, [worker.id for worker in peers if worker.id != self._me]),
            hungry=[worker.id for worker in peers if worker.hungry and worker.id != self._me],
            sated=[worker.id for worker in peers if not worker.hungry and worker.id != self._me],
            shares=slots.shares(tx, ids),
            overdue=closing.overdue(tx, now),
            parts=sites.in_parts(tx),
        )

    async def take(self, view: View) -> Taken:
        """Take lanes up to the fair share, and the share of slots of the runs that stand in them."""
        if not view.ready_lanes and not self._shares_differ(view):
            return Taken()
        room = min(self._fair(view), MAX_LANES) - len(self._held.lanes)
        for run_id, run in self._held.runs.items():
            # Lowered before it is written: what would start meanwhile might already be somebody else's.
            held = view.shares.get(run_id, {})
            run.slots = min(run.slots, slots.share(held, self._me, self._concurrency(run.spec, held), 0))
        in_use = {run_id: max(run.busy, run.slots) for run_id, run in self._held.runs.items()}

        def agree(
            tx: Tx,
        ) -> tuple[
            list[lanes.Lane], dict[str, sites.Ruling], list[lanes.Stand], list[runs.Run], dict[str, slots.Claimed]
        ]:
            workers.check_alive(tx, self._me)
            taken = lanes.acquire(tx, self._me, room, only_run=self._only_run, now=self._clock.wall(), has=self._has)
            if taken:
                workers.has_work(tx, self._me)
            stands = lanes.stands_of(tx, [*self._held.lanes, *(lane.name for lane in taken)])
            found = runs.lock(tx, {stand.run_id for stand in stands})
            wanted = {
                run.id: (self._concurrency(run.spec, view.shares.get(run.id, {})), in_use.get(run.id, 0))
                for run in found
                if run.wanted is Wanted.RUN and not run.is_over
            }
            mine = slots.claim(tx, self._me, wanted)
            since = self._clock.wall() - self._remembers
            return taken, sites.rulings(tx, [lane.name for lane in taken], since), stands, found, mine

        taken, rulings, view.stands, found, mine = await self._database.write(agree, name="take")
        view.rulings.update(rulings)
        self.adopt(taken)
        await self._learn(found)
        before = {run_id: view.shares.get(run_id, {}).get(self._me, 0) for run_id in mine}
        for run_id, share in mine.items():
            if run_id in self._held.runs:
                self._held.runs[run_id].slots = share.usable
        return Taken(
            len(taken),
            0 if taken or room <= 0 else view.ready_lanes,
            owes=any(share.held > share.usable for share in mine.values()),
            gave=any(share.held < before[run_id] for run_id, share in mine.items()),
            lacks=any(share.usable < share.fair for share in mine.values()),
        )

    def adopt(self, owned: Sequence[lanes.Lane]) -> None:
        """Hold these lanes: a take whose commit was unknown may have made us an owner without our knowing."""
        for lane in owned:
            if lane.name not in self._held.lanes and lane.name != duties.LANE:
                self._held.lanes[lane.name] = OwnedLane(lane, self._clock)

    def disown(self, owned: Sequence[lanes.Lane]) -> None:
        """Forget lanes that are not ours any more."""
        names = {lane.name for lane in owned}
        for name in set(self._held.lanes) - names:
            if not self._held.lanes[name].active:
                del self._held.lanes[name]

    def update_stands(self, view: View) -> None:
        """Who stands in our lanes now, and whether something is due in them that we don't hold yet."""
        now = self._clock.wall()
        by_lane: dict[str, set[str]] = {}
        ready: set[str] = set()
        for stand in view.stands:
            served = self._held.runs.get(stand.run_id)
            if served is None or not served.is_active:
                continue
            by_lane.setdefault(stand.lane, set()).add(stand.run_id)
            if stand.ready_at is not None and stand.ready_at <= now:
                ready.add(stand.lane)
        for name, lane in self._held.lanes.items():
            lane.pages.stands(by_lane.get(name, set()))
            lane.limits(self._held.runs, view.rulings.get(name, sites.UNRULED))
            if name in ready and not lane.pages.queued:
                lane.pages.look_again()

    async def release(self, view: View, *, others_wait: bool = False) -> int:
        """Give back lanes that have nothing to do, and the slots of runs that are paused or stand nowhere here; how many lanes."""
        if view.hungry and (excess := len(self._held.lanes) - self._fair(view)) > 0:
            # Somebody has nothing to do: lanes with the least in flight go to them.
            spared = sorted(self._held.lanes.values(), key=lambda lane: (lane.active, lane.pages.queued))
            for lane in spared[:excess]:
                lane.releasing = True
        # With as many lanes as there can be, those that have nothing to do make room for those that have.
        lingers = 0.0 if others_wait and len(self._held.lanes) >= MAX_LANES else LANE_LINGERS
        idle = [name for name, lane in self._held.lanes.items() if self._is_idle(lane, lingers)]
        holding = {
            run_id for run_id, run in self._held.runs.items() if run.slots or self._me in view.shares.get(run_id, {})
        }
        quiet = [run_id for run_id in sorted(holding) if self._is_quiet(run_id, frozenset(idle))]
        if not idle and not quiet:
            return 0
        for name in idle:
            # A read that is under way must not start anything in a lane that is somebody else's by then.
            self._held.lanes[name].releasing = True
        lacked = {name: lacks for name in idle if (lacks := self._held.lanes[name].lacks)}
        until = self._held.distances(idle)
        give_back = partial(self._give_back, idle=idle, lacked=lacked, until=until, quiet=quiet)
        await self._database.write(give_back, name="release")
        for name in idle:
            self._held.lanes.pop(name, None)
        for run_id in quiet:
            self._held.runs[run_id].slots = 0
        return len(idle)

    @property
    def _expecting(self) -> int:
        return self._expected if self._clock.monotonic() < self._expected_until else 1

    def _concurrency(self, spec: Spec, held: Mapping[str, int]) -> int:
        """What there is to share of a run's concurrency: not what is left to those who are about to come."""
        alone = held.keys() <= {self._me}
        return -(-spec.concurrency // self._expecting) if alone else spec.concurrency

    def _fair(self, view: View) -> int:
        """Lanes that are ready or owned ÷ workers that live."""
        all_of_them = view.ready_lanes + len(self._held.lanes) + view.owned_by_others
        return max(1, -(-all_of_them // max(1, view.peers)))

    def _shares_differ(self, view: View) -> bool:
        def differs(run: ServedRun, held: Mapping[str, int]) -> bool:
            concurrency = self._concurrency(run.spec, held)
            return slots.share(held, self._me, concurrency, 0) != run.slots or slots.share(
                held, self._me, concurrency, run.busy
            ) != held.get(self._me)

        return any(
            differs(run, view.shares.get(run_id, {}))
            for run_id, run in self._held.runs.items()
            if run.run.wanted is Wanted.RUN and not run.run.is_over and self._held.stands_in(run_id)
        )

    def _is_idle(self, lane: OwnedLane, lingers: float) -> bool:
        now = self._clock.monotonic()
        if lane.releasing:
            lane.pages.drop()
        elif lane.pages.wants_more():
            # What stands here is still to be read: where many lanes were taken at once, some wait longer than they linger.
            return False
        if lane.active or lane.pages.queued or lane.pages.held:
            lane.idle_since = None
            return False
        if lane.idle_since is None:
            lane.idle_since = now
        return lane.releasing or now - lane.idle_since >= lingers

    def _is_quiet(self, run_id: str, leaving: frozenset[str]) -> bool:
        """Nothing of the run is in flight or unsettled here, and nothing of it should be started."""
        run = self._held.runs[run_id]
        if run.busy or self._settler.holds(run_id):
            return False
        return run.run.wanted is not Wanted.RUN or run.run.is_over or not self._held.stands_in(run_id, but_not=leaving)

    def _give_back(
        self, tx: Tx, idle: list[str], lacked: Mapping[str, str], until: Mapping[str, float], quiet: list[str]
    ) -> None:
        lanes.keep_distance(tx, self._me, until)
        lanes.release(tx, self._me, idle, lacked)
        runs.lock(tx, quiet)
        slots.give_back(tx, quiet, self._me)
        steering.settle_pauses(tx, quiet, max_running=self._max_running, now=self._clock.wall())
