"""Everything that can happen to a store, in any order: users, workers that live, die and wake up again, clocks that jump."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.errors import Conflict, NotFound, WorkerDead
from tarantella.domain.event import RETRY_SCHEDULED, Event
from tarantella.domain.outcome import Attempt, LaneNews, Link, Move, Outcome
from tarantella.domain.page import INCOMPLETE_SKIPS, Page, PageState, Skip
from tarantella.domain.run import TERMINAL, Priority, RunStatus
from tarantella.domain.spec import Spec
from tarantella.domain.url import fingerprint, resolve
from tarantella.engine.clock import Clock
from tarantella.store import admission, closing, duties, retrying, runs, steering, workers
from tarantella.store.database import Database
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tests.model.hand import UNSTORABLE, Hand
from tests.model.laws import Row, Seen, broken
from tests.model.unsure import Fault

T = TypeVar("T")

NOW = 1_700_000_000.0
HOUR = 3_600.0
A_MOMENT = 0.01
HOSTS = ("a.example", "b.example", "c.example")
PATHS = 6
MOST_HANDS, MOST_RUNS = 4, 5
SLICE = 2
DRAIN_STEPS = 100
DRAIN_WAITS = 300.0

hosts = st.sampled_from(HOSTS)
paths = st.integers(0, PATHS - 1)
addresses = st.lists(st.tuples(hosts, paths), min_size=1, max_size=4)
specs = st.builds(
    Spec,
    max_pages=st.sampled_from([10_000, 10_000, 3, 1]),
    priority=st.sampled_from(Priority),
    deadline_seconds=st.sampled_from([None, None, 30.0]),
    partial_ok=st.booleans(),
    concurrency=st.sampled_from([1, 3]),
)
End = tuple[str, list[tuple[str, int]], float]  # how a page comes to its end, addresses that it names, seconds to wait
ends: st.SearchStrategy[End] = st.tuples(
    st.sampled_from(["links"] * 5 + ["done", "again", "again", "failed", "moved", "led", "skipped", "unstorable"]),
    addresses,
    st.sampled_from([0.0, 10.0, 300.0]),
)
some = st.integers(0, 11)  # picks one of however many there are
faults = st.lists(st.sampled_from(list(Fault)), max_size=3)


def link(host: str, path: int, depth: int = 2) -> Link:
    url = resolve(f"https://{host}/{path}")
    return Link(url.href, fingerprint(url.href), url.lane, depth)


def pick(found: list[T], number: int) -> T:
    return found[number % len(found)]


def _is_unfinished(page: Row) -> bool:
    """Whether a retry is about this page."""
    return page["state"] == PageState.FAILED or (
        page["state"] == PageState.SKIPPED and page["reason"] in INCOMPLETE_SKIPS
    )


def _is_over(run: Row | None) -> bool:
    return run is None or RunStatus(run["status"]) in TERMINAL


@dataclass(frozen=True)
class Draft:
    """A run whose submission is under way."""

    id: str
    keeper: str | None
    created_at: float


class StoreMachine(RuleBasedStateMachine):
    """A store, its users and its workers. What they were promised is kept in `promised`."""

    def __init__(self, new_database: Callable[[], Database]) -> None:
        super().__init__()
        self.database = new_database()
        self.wall = self.latest = NOW
        self.monotonic = 0.0
        self.clock = Clock(wall=lambda: self.wall, monotonic=lambda: self.monotonic)
        self.max_running = 2
        self.hands: list[Hand] = []
        self.gone: list[str] = []  # processes that ended without a word
        self.drafts: list[Draft] = []
        self.promised: dict[str, set[str]] = defaultdict(set)  # run → the addresses that belong to it
        self.again: dict[str, list[Row]] = {}  # run → the pages that are to be tried again before it ends
        self.numbers = 0
        self.repaired_to = ("", "")
        self.seen = Seen.in_(self.database)  # after the last step

    # -- short ways

    def write(self, work: Callable[..., T], **values: Any) -> T:
        return self.database.write_now(partial(work, **values))

    def new_name(self, kind: str) -> str:
        self.numbers += 1
        return f"{kind}-{self.numbers}"

    def committed(self, result: object) -> None:
        """What a settle took in belongs to its run from now on."""
        if isinstance(result, Settled):
            for outcome in result.outcomes:
                self.promised[outcome.page.run_id] |= {found.fingerprint for found in outcome.links}

    @initialize(max_running=st.integers(1, 3), urls=addresses, workers_=st.integers(1, 2))
    def begin(self, max_running: int, urls: list[tuple[str, int]], workers_: int) -> None:
        self.max_running = max_running
        for _ in range(workers_):
            self._start_a_worker(None)
        draft = self._create(urls, Spec(concurrency=3), None)
        self.write(runs.seal, run_id=draft.id, max_running=max_running, now=self.wall)

    # -- submissions

    @precondition(lambda self: len(self.seen.runs) < MOST_RUNS)
    @rule(urls=addresses, spec=specs, keeper=st.none() | some, sealed=st.sampled_from([True, True, False]))
    def submit(self, urls: list[tuple[str, int]], spec: Spec, keeper: int | None, sealed: bool) -> None:
        """A submission; it may take more than one transaction, and others act in between."""
        draft = self._create(urls, spec, self._keeper(keeper))
        self.drafts.append(draft)
        if sealed:
            self._seal(draft)

    @precondition(lambda self: self.drafts)
    @rule(which=some, urls=st.none() | addresses)
    def go_on_submitting(self, which: int, urls: list[tuple[str, int]] | None) -> None:
        draft = pick(self.drafts, which)
        if urls is None:
            self._seal(draft)
            return
        links = [link(host, path, depth=1) for host, path in urls]
        if self._submits(draft, runs.add_start_pages, links=links, strategy="http", now=self.wall):
            self.promised[draft.id] |= {found.fingerprint for found in links}

    def _create(self, urls: list[tuple[str, int]], spec: Spec, keeper: str | None) -> Draft:
        draft = Draft(self.new_name("run"), keeper, self.wall)
        links = [link(host, path, depth=1) for host, path in urls]

        def begin(tx: Tx) -> None:
            runs.create(tx, draft.id, spec, [found.url for found in links], keeper=keeper, now=self.wall)
            runs.add_start_pages(tx, draft.id, links, spec.strategy, self.wall)

        self.write(begin)
        self.promised[draft.id] |= {found.fingerprint for found in links}
        return draft

    def _seal(self, draft: Draft) -> None:
        if self._submits(draft, runs.seal, max_running=self.max_running, now=self.wall):
            self.drafts.remove(draft)

    def _submits(self, draft: Draft, work: Callable[..., None], **values: Any) -> bool:
        """The next step of a submission; one whose command is thought dead, or takes for ever, is swept away."""
        dead = draft.keeper is not None and draft.keeper not in self.seen.living
        try:
            self.write(work, run_id=draft.id, **values)
        except (Conflict, NotFound, WorkerDead):
            assert dead or draft.id not in self.seen.runs or self.seen.runs[draft.id]["reason"] == runs.DELETING
            self.drafts.remove(draft)
            return False
        assert not dead or work is not runs.seal, f"{draft.keeper} is dead, and its run was taken in"
        return True

    def _keeper(self, number: int | None) -> str | None:
        """A command that works on the run itself; it may have been declared dead, and not know it."""
        return pick(self.hands, number).name if number is not None and self.hands else None

    # -- what users ask of runs, of any at any time

    @precondition(lambda self: self.seen.runs)
    @rule(
        which=some,
        what=st.sampled_from(["pause", "resume", "cancel", "retry", "delete", "cancel and delete"]),
        keeper=st.none() | some,
    )
    def ask(self, which: int, what: str, keeper: int | None) -> None:
        run_id, kept_by = pick(sorted(self.seen.runs), which), self._keeper(keeper)
        admitting = {"max_running": self.max_running, "now": self.wall}
        if what == "pause":
            self.steer(steering.want_pause, run_id, why="asked to", **admitting)
        elif what == "resume":
            self.steer(steering.resume, run_id, keeper=kept_by, **admitting)
        elif what == "cancel":
            self.steer(steering.want_cancel, run_id)
        elif what == "retry":
            self._retry(run_id, keeper=kept_by, **admitting)
        elif what == "delete":
            # Nobody promises that the command which deletes lives to the last slice.
            self.steer(runs.delete_some, run_id, limit=SLICE)
        else:
            self._cancel_and_delete(run_id)

    def _retry(self, run_id: str, **values: Any) -> None:
        unfinished = [page for page in self.seen.of_run("pages", run_id) if _is_unfinished(page)]
        if pages := self.steer(steering.retry_failed, run_id, **values):
            assert pages == len(unfinished), f"{pages} pages are tried again, and {len(unfinished)} should be"
            self.again[run_id] = unfinished

    def _cancel_and_delete(self, run_id: str) -> None:
        """All of it, at once. What workers have of it in flight comes too late, and somebody else's page may have its number."""
        self.steer(steering.want_cancel, run_id)
        while (run_id, Skip.CANCELLED) in self._overdue():
            self._close(run_id, Skip.CANCELLED)
        self.the_laws_hold()
        while self.steer(runs.delete_some, run_id, limit=SLICE) is False:
            self.the_laws_hold()

    def steer(self, work: Callable[..., T], run_id: str, **values: Any) -> T | None:
        """It may be refused, and then nothing has changed."""
        keeper = values.get("keeper")
        try:
            done = self.write(work, run_id=run_id, **values)
        except WorkerDead:
            assert keeper not in (None, *self.seen.living)
        except (Conflict, NotFound):
            pass
        else:
            assert keeper in (None, *self.seen.living), f"{keeper} is dead, and was let through"
            return done
        assert Seen.in_(self.database) == self.seen
        return None

    # -- closings

    @precondition(lambda self: self._overdue())
    @rule(which=some)
    def close_what_is_overdue(self, which: int) -> None:
        """One slice of it; whoever sees it, does it."""
        run_id, reason = pick(self._overdue(), which)
        self.write(closing.announce, run_id=run_id, reason=reason, now=self.wall)
        self._close(run_id, reason)

    def _overdue(self) -> list[tuple[str, Skip]]:
        return self.database.read_now(partial(closing.overdue, now=self.wall))

    def _close(
        self,
        run_id: str,
        reason: Skip,
        lane: str | None = None,
        worker_id: str | None = None,
        waiting_at: float | None = None,
    ) -> Settled:
        return self.write(
            closing.close_pages,
            run_id=run_id,
            reason=reason,
            lane=lane,
            worker_id=worker_id,
            waiting_at=waiting_at,
            max_running=self.max_running,
            now=self.wall,
        )

    # -- workers

    @precondition(lambda self: len(self.hands) < MOST_HANDS)
    @rule(serves=st.none() | some)
    def start_a_worker(self, serves: int | None) -> None:
        self._start_a_worker(pick(sorted(self.seen.runs), serves) if serves is not None and self.seen.runs else None)

    def _start_a_worker(self, serves: str | None) -> None:
        hand = Hand(self.new_name("worker"), serves, self.database, self.clock, self.max_running, self.committed)
        hand.register()
        self.hands.append(hand)

    def _lives(self, hand: Hand) -> bool:
        return hand.name in self.seen.living

    def _does(self, hand: Hand, work: Callable[[], T]) -> T | None:
        """Let it work; who is thought dead is told so, changes nothing, and ends."""
        if self._lives(hand):
            return work()
        try:
            work()
        except WorkerDead:
            pass
        else:
            raise AssertionError(f"{hand.name} is dead, and was let through")
        assert Seen.in_(self.database) == self.seen
        self.hands.remove(hand)
        return None

    @precondition(lambda self: self.hands)
    @rule(who=some)
    def beat(self, who: int) -> None:
        hand = pick(self.hands, who)
        alive = self._lives(hand)
        assert hand.beat() == alive
        if not alive:
            self.hands.remove(hand)

    @precondition(lambda self: self.hands)
    @rule(who=some, lanes=st.integers(1, 3), pages=st.integers(0, 4))
    def take(self, who: int, lanes: int, pages: int) -> None:
        """Own some lanes, and read what is due in them."""
        hand = pick(self.hands, who)
        self._does(hand, lambda: hand.take_lanes(lanes))
        if hand in self.hands:
            self._read(hand, pages)

    def _is_work_left(self) -> bool:
        return bool(self.hands) and any(stand["ready_at"] is not None for stand in self.seen.tables["stands"])

    @precondition(_is_work_left)
    @rule(who=some, ends=st.lists(ends, min_size=3, max_size=6), planned=faults)
    def work(self, who: int, ends: list[End], planned: list[Fault]) -> None:
        hand = pick(self.hands, who)
        self._begin_to_work(hand, ends)
        self._store_what_is_finished(hand, planned)

    @precondition(_is_work_left)
    @rule(ends=st.lists(ends, min_size=3, max_size=6))
    def everybody_works(self, ends: list[End]) -> None:
        for hand in list(self.hands):
            self._begin_to_work(hand, ends)
            self._store_what_is_finished(hand, [])
            self.the_laws_hold()

    @precondition(_is_work_left)
    @rule(who=some, ends=st.lists(ends, min_size=3, max_size=6), others=st.booleans(), planned=faults)
    def work_too_slowly(self, who: int, ends: list[End], others: bool, planned: list[Fault]) -> None:
        """Between the fetching and the settle it is thought dead, and others may do the same again."""
        hand = pick(self.hands, who)
        self._begin_to_work(hand, ends)
        self.write(workers.declare_dead, worker_id=hand.name, max_running=self.max_running, now=self.wall)
        self.the_laws_hold()
        for other in [other for other in self.hands if others and other is not hand]:
            self._begin_to_work(other, ends)
            self._store_what_is_finished(other, [])
            self.the_laws_hold()
        self._store_what_is_finished(hand, planned)

    def _begin_to_work(self, hand: Hand, ends: list[End]) -> None:
        """Take, read and finish, with nobody in between."""
        self._does(hand, lambda: hand.take_lanes(3))
        if hand in self.hands:
            self._read(hand, 4)
            self._finish(hand, ends)

    def _store_what_is_finished(self, hand: Hand, planned: list[Fault]) -> None:
        if hand in self.hands and hand.finished:
            self._does(hand, lambda: hand.settle(planned))

    @precondition(lambda self: any(hand.held for hand in self.hands))
    @rule(who=some, pages=st.integers(1, 4))
    def read(self, who: int, pages: int) -> None:
        """Read ahead in the lanes that it thinks it owns."""
        self._read(pick([hand for hand in self.hands if hand.held], who), pages)

    def _read(self, hand: Hand, limit: int) -> None:
        self._pass(A_MOMENT)  # pages that were found together are due a tiny bit apart
        active = [run["id"] for run in self.seen.runs.values() if run["status"] == "running" and run["wanted"] == "run"]
        for lane in sorted(hand.held):
            for run_id in active:
                if limit:
                    hand.read(lane, run_id, limit)

    @precondition(lambda self: any(hand.in_flight() for hand in self.hands))
    @rule(who=some, ends=st.lists(ends, min_size=1, max_size=4), planned=st.none() | faults)
    def finish(self, who: int, ends: list[End], planned: list[Fault] | None) -> None:
        """Some pages come to their end, and are perhaps settled."""
        hand = pick([hand for hand in self.hands if hand.in_flight()], who)
        self._finish(hand, ends)
        if planned is not None:
            self._does(hand, lambda: hand.settle(planned))

    def _finish(self, hand: Hand, ends: list[End]) -> None:
        for page, end in zip(hand.in_flight(), ends, strict=False):
            hand.finished.append(self._outcome(page, end))

    @precondition(lambda self: any(hand.finished for hand in self.hands))
    @rule(who=some, planned=faults)
    def settle(self, who: int, planned: list[Fault]) -> None:
        """As often as it has to be sent; what is refused for its data is sent in halves."""
        hand = pick([hand for hand in self.hands if hand.finished], who)
        self._does(hand, lambda: hand.settle(planned))

    @precondition(lambda self: any(hand.held for hand in self.hands))
    @rule(who=some, which=some, open_=st.booleans(), wait=st.sampled_from([0.0, 20.0, HOUR]), clean=st.booleans())
    def learn_of_a_host(self, who: int, which: int, open_: bool, wait: float, clean: bool) -> None:
        """Stored with the next settle."""
        hand = pick([hand for hand in self.hands if hand.held], who)
        lane = pick(sorted(hand.held), which)
        breaker = Breaker(BreakerState.OPEN, 5, self.wall + 300.0) if open_ else Breaker()
        hand.news[lane] = LaneNews(lane, self.wall + wait, breaker, clean)

    @precondition(lambda self: any(hand.idle() for hand in self.hands))
    @rule(who=some, which=some, run=st.none() | some, before=st.sampled_from([0.0, 20.0]))
    def give_up_or_release(self, who: int, which: int, run: int | None, before: float) -> None:
        """A lane with nothing in flight: its host is dead, and a run's pages there are closed; or it is given back."""
        hand = pick([hand for hand in self.hands if hand.idle()], who)
        lane = pick(hand.idle(), which)
        standing = sorted({stand["run_id"] for stand in self.seen.tables["stands"] if stand["lane"] == lane})
        active = [id_ for id_ in standing if self.seen.runs[id_]["status"] == "running"]
        if run is None:
            hand.release(lane)
        elif active:
            run_id, then = pick(active, run), self.wall - before
            self._does(hand, lambda: self._close(run_id, Skip.HOST_DOWN, lane, hand.name, then))
            for page in Seen.in_(self.database).pages.values():
                if page["reason"] == Skip.HOST_DOWN and self.seen.pages[page["id"]]["state"] == PageState.PENDING:
                    assert page["charged"] or page["next_at"] <= then, f"{page['url']} came too late to be given up"

    @precondition(lambda self: self.hands)
    @rule(who=some, how=st.sampled_from(["vanish", "vanish", "settle and vanish", "retire"]))
    def end(self, who: int, how: str) -> None:
        """A process ends: without a word, perhaps right after a commit, or cleanly."""
        hand = pick(self.hands, who)
        if how == "retire":
            if hand.finished:
                return
            self._does(hand, hand.retire)
        elif how == "settle and vanish" and hand.finished and not hand.holds_what_cant_be_stored():
            self._does(hand, hand.settle_and_die)
        if hand in self.hands:
            self.hands.remove(hand)
            self.gone += [hand.name] if how != "retire" else []

    @precondition(lambda self: self.gone or self.hands)
    @rule(who=some)
    def declare_dead(self, who: int) -> None:
        """Rightly or not: a process that was frozen wakes up afterwards, and goes on as if nothing had happened."""
        name = pick([*self.gone, *(hand.name for hand in self.hands)], who)
        self.write(workers.declare_dead, worker_id=name, max_running=self.max_running, now=self.wall)
        if name in self.gone:
            self.gone.remove(name)

    # -- duties

    @precondition(lambda self: self.hands)
    @rule(who=some)
    def do_duties(self, who: int) -> None:
        hand = pick(self.hands, who)
        if self._does(hand, lambda: self.write(duties.take, worker_id=hand.name)):
            self._sweep()
            self._submissions_go_on()

    def _submissions_go_on(self) -> None:
        """Nobody takes a submission for half a run while its command lives, or before its patience is over."""
        left = Seen.in_(self.database).runs
        for draft in self.drafts:
            if draft.id not in left or left[draft.id]["reason"] == runs.DELETING:
                given_up = draft.keeper is None and self.latest - draft.created_at >= duties.SUBMISSION_PATIENCE
                assert given_up or draft.keeper not in (None, *self.seen.living), f"{draft.id} was swept away"

    def _sweep(self) -> None:
        def sweep(tx: Tx) -> None:
            self.repaired_to = duties.repair_stands(tx, self.repaired_to, limit=SLICE) or ("", "")
            admission.yield_slots(tx, self.max_running, self.wall)
            admission.admit(tx, self.max_running, self.wall)
            workers.forget_old(tx, self.wall - 7 * 86_400.0)

        self.write(sweep)
        for run_id in self.database.read_now(retrying.unfinished):
            self.write(retrying.go_on, run_id=run_id, now=self.wall)
        half = self.database.read_now(
            lambda tx: [
                run_id for reason in runs.UNSEEN for run_id in duties.unfinished_submissions(tx, reason, self.wall)
            ]
        )
        for run_id in half:
            self.write(runs.delete_some, run_id=run_id, limit=SLICE, unacknowledged=True)

    # -- time

    @rule(seconds=st.sampled_from([0.5, 12.0, 40.0, 400.0, HOUR]), is_set=st.sampled_from([0.0, 0.0, HOUR, -HOUR]))
    def the_clock_moves(self, seconds: float, is_set: float) -> None:
        """As time does, and because somebody set it."""
        self._pass(seconds)
        self.wall += is_set
        self.latest = max(self.latest, self.wall)

    def _pass(self, seconds: float) -> None:
        self.monotonic += seconds
        self.wall += seconds
        self.latest = max(self.latest, self.wall)

    # -- what must hold

    @invariant()
    def the_laws_hold(self) -> None:
        seen = Seen.in_(self.database)
        wrong = list(broken(self.seen, seen, self.max_running))
        for run_id, run in seen.runs.items():
            if run["reason"] != runs.DELETING:
                known = {page["fingerprint"] for page in seen.of_run("pages", run_id)}
                if known != self.promised[run_id]:
                    wrong.append(f"run {run_id} has the pages {known}, and should have {self.promised[run_id]}")
        for run_id in [run_id for run_id in self.again if _is_over(seen.runs.get(run_id))]:
            wrong += self._not_tried_again(seen, run_id)
        assert not wrong, "\n".join(wrong)
        self.seen = seen

    def _not_tried_again(self, seen: Seen, run_id: str) -> list[str]:
        """Of the pages that were to be tried again, those that were not, though nobody has cancelled that."""
        pages = self.again.pop(run_id)
        if run_id not in seen.runs or seen.runs[run_id]["status"] == RunStatus.CANCELLED:
            return []
        left = [page["url"] for page in pages if seen.pages[page["id"]]["tries"] < page["tries"] + 2]
        return [f"run {run_id} has ended, and did not try {left} again"] if left else []

    def teardown(self) -> None:
        """In the end everybody is gone but one healthy worker, and everything that was ever taken in comes to an end."""
        try:
            if sys.exception() is None:  # a story that broke something ends there
                self._drain()
        finally:
            self.database.close()

    def _drain(self) -> None:
        for name in sorted(self.seen.living):
            self.write(workers.declare_dead, worker_id=name, max_running=self.max_running, now=self.wall)
            self.the_laws_hold()
        worker = Hand(self.new_name("worker"), None, self.database, self.clock, self.max_running, self.committed)
        worker.register()
        for _ in range(DRAIN_STEPS):
            if not self.seen.unfinished:
                break
            self._drain_step(worker, self.seen.unfinished)
            self.the_laws_hold()
        assert not self.seen.unfinished, f"After {DRAIN_STEPS} steps there is still work: {self.seen.unfinished}"
        for page in self.seen.pages.values():
            assert page["state"] in ("done", "failed", "skipped"), page

    def _drain_step(self, worker: Hand, live: list[Row]) -> None:
        for run in live:
            if run["status"] == RunStatus.PAUSED and run["wanted"] != "cancel":
                self.write(steering.resume, run_id=run["id"], keeper=None, max_running=self.max_running, now=self.wall)
        assert worker.beat()
        self.write(duties.take, worker_id=worker.name)
        self._sweep()
        if self._overdue():
            self.close_what_is_overdue(0)
        worker.take_lanes(len(HOSTS))
        for lane in list(worker.held):
            for run in live:
                if run["status"] == RunStatus.RUNNING and run["wanted"] == "run":
                    for page in worker.read(lane, run["id"], 10):
                        worker.finished.append(self._outcome(page, ("done", [(lane, 0)], 0.0)))
        if worker.finished:
            worker.settle()
        else:
            self._pass(DRAIN_WAITS)
        for lane in [lane for lane, held in worker.held.items() if not held]:
            worker.release(lane)

    # -- outcomes

    def _outcome(self, page: Page, end: End) -> Outcome:
        how, urls, delay = end
        tried = Attempt(page.strategy, self.wall, 12, how, 200, 1_000)
        if how in ("failed", "skipped"):
            state = PageState.FAILED if how == "failed" else PageState.SKIPPED
            reason = "not_found" if how == "failed" else Skip.CONTENT_TYPE
            return Outcome(page, state, attempt=tried, reason=reason, detail="why", charged=True, status=404)
        if how == "again":
            told = (Event(RETRY_SCHEDULED, meta={"url": page.url}),)
            at = self.wall + delay
            return Outcome(page, PageState.PENDING, tried, "network", charged=True, next_at=at, events=told)
        target = link(*urls[0])
        if how == "moved" and target.lane != page.lane:
            move = Move(target.url, target.lane, page.hops + 1)
            return Outcome(page, PageState.PENDING, tried, next_at=self.wall, move=move, status=302)
        final = target.url if how == "led" and target.lane == page.lane else page.url
        mark = fingerprint(final)
        record = f'{{"url": "{page.asked_url or page.url}"}}'
        return Outcome(
            page,
            PageState.DONE,
            attempt=tried,
            charged=True,
            status=UNSTORABLE if how == "unstorable" else 200,
            final_url=final if final != page.url else None,
            final_fingerprint=mark if mark != page.fingerprint else None,
            records=(record,),
            links=[link(*url, depth=page.depth + 1) for url in urls] if how == "links" else (),
        )
