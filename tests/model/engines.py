"""Real workers and everything that can happen to them between two transactions: faults, deaths, users, clocks."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tarantella.domain.backoff import Backoff
from tarantella.domain.errors import Conflict, StoreError, WorkerDead
from tarantella.domain.failure import Failure
from tarantella.domain.page import PageState, Skip
from tarantella.domain.run import Priority, RunStatus
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Spec
from tarantella.domain.url import fingerprint, resolve
from tarantella.engine.timing import Timing
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted
from tarantella.store import runs, steering, workers
from tarantella.store.settle import Settled
from tarantella.store.tx import Tx
from tests.model.databases import IN_MEMORY, NewDatabase
from tests.model.hand import UNSTORABLE
from tests.model.laws import Row, Seen, broken
from tests.model.machine import link, pick, some
from tests.model.puppet import Dial, Puppet, Time
from tests.model.unsure import Fault

T = TypeVar("T")

NOW = 1_700_000_000.0
HOUR = 3_600.0
A_MOMENT = 0.01
HOSTS = ("a.example", "b.example", "c.example")
MOST_PUPPETS, MOST_RUNS = 3, 4
MOST_DIALS = 50
LONGEST_DELAY = 40.0
CONCURRENCY = 3
# Ten times slower than usual, so that an hour has fewer ticks.
TIMING = Timing(
    tick=10.0, beat=50.0, duty=50.0, dials_nothing_after=450.0, thought_dead_after=600.0, looks_at_most_apart=120.0
)
# Deaths are noticed after ten minutes, a breaker is probed three times in a quarter of an hour. No wait is an hour long.
DRAIN_STEP = 40.0
DRAIN_SECONDS = 3_400.0

starts = st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 2)), min_size=1, max_size=3)
specs = st.builds(
    Spec,
    depth=st.none(),
    scope=st.just(ScopeKind.ANY),
    obey_robots=st.just(False),
    max_pages=st.sampled_from([10_000, 10_000, 10_000, 4]),
    priority=st.sampled_from(Priority),
    deadline_seconds=st.sampled_from([None, None, None, 100.0]),
    concurrency=st.sampled_from([1, CONCURRENCY]),
    backoff=st.just(Backoff(base=20.0, factor=3.0, cap=60.0, jitter=0.0)),
    attempts=st.sampled_from([2, 3]),
    delay=st.sampled_from([0.0, 0.0, LONGEST_DELAY]),
)
answers = st.sampled_from(["page", "page", "page", "page", "network", "gone", "rate", "moved", "unstorable", "broken"])
several = st.lists(answers, max_size=8)  # what is not answered goes on waiting
faulty = st.sampled_from([Fault.NONE, Fault.NONE, Fault.NONE, Fault.BEFORE, Fault.AFTER])


def links_of(url: str) -> list[str]:
    """The site: two pages below each page, and from each host's first page to the next host. Nearly all have one way to them."""
    parts = urlsplit(url)
    number = int(parts.path[1:] or 0)
    here = HOSTS.index(parts.hostname or HOSTS[0])
    if number > 5:
        return []
    below = [f"https://{HOSTS[here]}/{2 * number + step}" for step in (1, 2)]
    return below if number else [*below, f"https://{HOSTS[(here + 1) % len(HOSTS)]}/0"]


class EngineMachine(RuleBasedStateMachine):
    """A store, real workers, users, a web that answers as it likes."""

    def __init__(self, new_database: NewDatabase) -> None:
        super().__init__()
        self.database = new_database()
        # So long a name that no socket can be bound there: hints may be lost, and here all of them are.
        self.folder = Path(tempfile.mkdtemp(prefix="puppets-" + "x" * 90 + "-", dir=IN_MEMORY))
        self.time = Time(monotonic=1_000.0, ahead=NOW)
        self.max_running = 2
        self.puppets: list[Puppet] = []
        self.frozen: list[Puppet] = []
        self.promised: dict[str, set[str]] = defaultdict(set)
        self.rude: list[str] = []
        self.down: set[str] = set()  # hosts that give nothing now
        self.failed_at: dict[str, float] = {}  # host → when a request to it failed last
        self.waits_since: dict[int, float] = {}  # page → since when it is pending where it is
        self.asked_at: dict[
            tuple[str, str], tuple[float, str]
        ] = {}  # run and host → when it was asked last, and by whom
        self.ended_well: set[str] = set()
        self.unheard: set[str] = set()  # whose last words were lost
        self.somebody_survives = False
        self.numbers = 0
        self.seen = Seen.in_(self.database)

    def write(self, work: Callable[..., T], **values: Any) -> T:
        return self.database.write_now(partial(work, **values))

    def committed(self, result: object) -> None:
        if isinstance(result, Settled):
            for outcome in result.outcomes:
                self.promised[outcome.page.run_id] |= {found.fingerprint for found in outcome.links}

    def dialled(self, puppet: Puppet, url: str, run_id: str) -> None:
        """Whoever asks a host owns its lane, and keeps its distance: that is what politeness rests on."""
        lane = resolve(url).lane
        owner = self.database.read_now(lambda tx: tx.value("SELECT owner FROM lanes WHERE name = :name", name=lane))
        if owner != puppet.id:
            self.rude.append(f"{puppet.id} asks {lane}, which {owner} owns")
        before, who = self.asked_at.get((run_id, lane), (-HOUR, puppet.id))
        self.asked_at[run_id, lane] = self.time.monotonic, puppet.id
        apart, wanted = self.time.monotonic - before, self.seen.specs[run_id]["delay"]
        if apart < wanted - A_MOMENT and self._left_word(who):
            self.rude.append(f"{puppet.id} asks {lane} for {run_id} {apart} s after {who}, and not {wanted} s")

    def _left_word(self, who: str) -> bool:
        """Who ends without a word tells nobody when it asked last."""
        return who in self.ended_well or who in Seen.in_(self.database).living

    @initialize(
        urls=starts,
        puppets=st.integers(1, 2),
        max_running=st.integers(1, 2),
        somebody_survives=st.booleans(),
        delay=st.sampled_from([0.0, LONGEST_DELAY]),
    )
    def begin(
        self, urls: list[tuple[str, int]], puppets: int, max_running: int, somebody_survives: bool, delay: float
    ) -> None:
        self.max_running = max_running
        self.somebody_survives = somebody_survives
        for _ in range(puppets):
            self._start(None)
        spec = Spec(
            depth=None,
            scope=ScopeKind.ANY,
            obey_robots=False,
            concurrency=CONCURRENCY,
            delay=delay,
            backoff=Backoff(base=20.0, factor=3.0, cap=60.0, jitter=0.0),
        )
        self._submit(urls, spec)

    # -- users

    @precondition(lambda self: len(self.seen.runs) < MOST_RUNS)
    @rule(urls=starts, spec=specs)
    def submit(self, urls: list[tuple[str, int]], spec: Spec) -> None:
        self._submit(urls, spec)

    def _submit(self, urls: list[tuple[str, int]], spec: Spec) -> None:
        self.numbers += 1
        run_id = f"run-{self.numbers}"
        links = [link(host, path, depth=1) for host, path in urls]

        def take_in(tx: Tx) -> None:
            runs.create(tx, run_id, spec, [found.url for found in links], keeper=None, now=self.time.wall)
            runs.add_start_pages(tx, run_id, links, spec.strategy, self.time.wall)
            runs.seal(tx, run_id, max_running=self.max_running, now=self.time.wall)

        self.write(take_in)
        self.promised[run_id] |= {found.fingerprint for found in links}

    @precondition(lambda self: self.seen.runs)
    @rule(which=some, what=st.sampled_from(["pause", "resume", "cancel", "retry", "delete"]))
    def ask(self, which: int, what: str) -> None:
        run_id = pick(sorted(self.seen.runs), which)
        admitting = {"run_id": run_id, "max_running": self.max_running, "now": self.time.wall}
        try:
            if what == "pause":
                self.write(steering.want_pause, why="asked to", **admitting)
            elif what == "resume":
                self.write(steering.resume, keeper=None, **admitting)
            elif what == "cancel":
                self.write(steering.want_cancel, run_id=run_id)
            elif what == "retry":
                self.write(steering.retry_failed, keeper=None, **admitting)
            else:
                while not self.write(runs.delete_some, run_id=run_id):
                    pass
        except Conflict:
            assert Seen.in_(self.database) == self.seen

    # -- workers

    @precondition(lambda self: len(self.puppets) < MOST_PUPPETS)
    @rule(only=st.none() | some)
    def start(self, only: int | None) -> None:
        self._start(pick(sorted(self.seen.runs), only) if only is not None and self.seen.runs else None)

    def _start(self, only_run: str | None) -> None:
        self.numbers += 1
        folder = self.folder / f"{self.numbers}"
        puppet = Puppet(self.database, self.time, folder, TIMING, self.max_running, only_run, self.dialled)
        self.puppets.append(puppet)
        puppet.run()

    @precondition(lambda self: self.puppets)
    @rule(ends=several, seconds=st.sampled_from([0.02, 0.02, 10.0, 30.0]), turns=st.integers(1, 6))
    def go_on(self, ends: list[str], seconds: float, turns: int) -> None:
        """For a while nothing special happens."""
        for _ in range(turns):
            self._pass(seconds)
            for puppet in list(self.puppets):
                self._answer(puppet, ends)
                self._grant_all(puppet)
                self.the_laws_hold()

    @precondition(lambda self: self.puppets)
    @rule(ends=several, faults=st.lists(faulty, min_size=2, max_size=6), turns=st.integers(1, 4))
    def go_on_badly(self, ends: list[str], faults: list[Fault], turns: int) -> None:
        """For a while the store fails, or seems to."""
        left = cycle(faults)
        for _ in range(turns):
            self._pass(2.0)
            for puppet in list(self.puppets):
                self._answer(puppet, ends)
                for _ in range(len(faults)):
                    if puppet in self.puppets and puppet.asked:
                        self._grant(puppet, 0, next(left))

    @precondition(lambda self: self.puppets)
    @rule(
        who=some,
        ends=several,
        seconds=st.sampled_from([0.02, 0.02, 10.0]),
        grants=st.lists(st.tuples(some, faulty), max_size=5),
    )
    def one_goes_on(self, who: int, ends: list[str], seconds: float, grants: list[tuple[int, Fault]]) -> None:
        """One gets a few transactions, perhaps out of their order; everything else waits, and others act in between."""
        self._pass(seconds)
        puppet = pick(self.puppets, who)
        self._answer(puppet, ends)
        for which, fault in grants:
            if puppet in self.puppets and puppet.asked:
                self._grant(puppet, which, fault)

    @precondition(lambda self: self.puppets)
    @rule(
        who=some,
        how=st.sampled_from(["freeze", "thaw", "stop", "kill", "declare dead"]),
        order=st.lists(some, max_size=8),
    )
    def harm(self, who: int, how: str, order: list[int]) -> None:
        puppet = pick(self.puppets, who)
        if how == "thaw":
            self._thaw(order)
        elif how == "stop":
            puppet.stop()  # Ctrl-C: it ends cleanly, when it can
            self._run(puppet)
        elif how == "kill":
            self.puppets.remove(puppet)
            puppet.kill()
        else:
            # A frozen process does nothing, and when it goes on it believes that no time has passed.
            self.puppets.remove(puppet)
            self.frozen.append(puppet)
            if how == "declare dead":
                self._pass(TIMING.thought_dead_after)
                self.write(workers.declare_dead, worker_id=puppet.id, max_running=self.max_running, now=self.time.wall)

    def _thaw(self, order: list[int]) -> None:
        """Whoever was frozen goes on, and what it first does of all that it has to do is chance."""
        thawed, self.frozen = self.frozen, []
        for puppet in thawed:
            self.puppets.append(puppet)
            self._run(puppet)
            for which in order:
                if puppet in self.puppets and puppet.asked:
                    self._grant(puppet, which, Fault.NONE)

    def _run(self, puppet: Puppet) -> None:
        puppet.run()
        if puppet.is_over:
            error = puppet.ending()
            if isinstance(error, WorkerDead):
                assert puppet.id not in Seen.in_(self.database).living
            else:
                # Who can't even begin says so; once at work, nobody ends because of the store.
                assert error is None or (isinstance(error, StoreError) and not puppet.works), error
            if error is None and puppet.id not in self.unheard:
                self.ended_well.add(puppet.id)
            self.puppets.remove(puppet)
            puppet.kill()

    def _grant(self, puppet: Puppet, which: int, fault: Fault) -> None:
        ask = pick(puppet.asked, which)
        if ask.name == "retire" and fault is Fault.BEFORE:
            self.unheard.add(puppet.id)
        puppet.grant(ask, fault, self.committed)
        self._run(puppet)
        self.the_laws_hold()

    def _grant_all(self, puppet: Puppet) -> None:
        self._run(puppet)
        for _ in range(200):
            if puppet not in self.puppets or not puppet.asked:
                return
            puppet.grant(puppet.asked[0], Fault.NONE, self.committed)
            self._run(puppet)
        raise AssertionError(f"{puppet.id} asks and asks: {[ask.name for ask in puppet.asked]}")

    def _answer(self, puppet: Puppet, ends: list[str]) -> None:
        for dial, how in zip(list(puppet.web.dials), ends, strict=False):
            if not dial.answer.done():
                dial.answer.set_result(self._visit(dial, how))
        self._run(puppet)

    def _visit(self, dial: Dial, how: str) -> Visit:
        url = dial.url
        host = resolve(url).lane
        if how == "network" or host in self.down:
            self.failed_at[host] = self.time.monotonic
            return Visit(url, failure=Failure.NETWORK, detail="reset")
        if how == "gone":
            return Visit(url, 404, failure=Failure.NOT_FOUND, detail="HTTP 404")
        if how == "rate":
            return Visit(url, 429, headers={"retry-after": "90"}, failure=Failure.RATE_LIMITED, detail="HTTP 429")
        if how == "moved":
            parts = resolve(url)
            other = HOSTS[(HOSTS.index(parts.host) + 1) % len(HOSTS)]
            return Visit(url, 302, hops=1, redirect_to=resolve(f"https://{other}{urlsplit(url).path}"))
        if how == "unstorable":
            return Visit(url, UNSTORABLE, failure=Failure.NOT_FOUND, detail="a status of which there is none")
        found = Extracted(data={"title": "\ud800" if how == "broken" else "title"}, hrefs=links_of(url))
        return Visit(url, 200, 100, "text/html", extracted=found)

    @precondition(lambda self: self.puppets)
    @rule(ends=several)
    def others_take_over(self, ends: list[str]) -> None:
        """Everybody ends as they should, and somebody else goes on at once."""
        for puppet in list(self.puppets):
            self._answer(puppet, [*ends, *["page"] * MOST_DIALS])
            if puppet in self.puppets:
                puppet.stop()
                self._grant_all(puppet)
        self._start(None)
        for _ in range(2):
            self._pass(TIMING.tick)
            for puppet in list(self.puppets):
                self._grant_all(puppet)
            self.the_laws_hold()

    @precondition(lambda self: self.puppets)
    @rule(host=st.sampled_from(HOSTS), ends=several, turns=st.integers(4, 12))
    def a_host_is_down(self, host: str, ends: list[str], turns: int) -> None:
        """For some minutes, or for so long that it is given up."""
        self.down.add(host)
        for _ in range(turns):
            self._pass(110.0)
            for puppet in list(self.puppets):
                self._grant_all(puppet)
                if puppet in self.puppets:
                    # What it asked is answered at once.
                    self._answer(puppet, [*ends, *["page"] * MOST_DIALS])
                if puppet in self.puppets:
                    self._grant_all(puppet)
            self.the_laws_hold()
        self.down.discard(host)

    # -- time

    @rule(seconds=st.sampled_from([12.0, 60.0, 700.0, HOUR, -HOUR]))
    def time_passes(self, seconds: float) -> None:
        """As it does; an hour, when somebody sets the clock."""
        if abs(seconds) < HOUR:
            self._pass(seconds)
        elif any(puppet.works for puppet in self.puppets):
            # That it was put back while nobody was at work could only be guessed.
            self._pass(TIMING.beat)
            for puppet in list(self.puppets):
                self._grant_all(puppet)
            self.time.ahead += seconds

    def _pass(self, seconds: float) -> None:
        self.time.monotonic += seconds

    # -- what must hold

    @invariant()
    def the_laws_hold(self) -> None:
        seen = Seen.in_(self.database)
        wrong = [*broken(self.seen, seen, self.max_running), *self.rude, *self._crowds(seen), *self._given_up(seen)]
        for run_id, run in seen.runs.items():
            if run["reason"] != runs.DELETING:
                known = {page["fingerprint"] for page in seen.of_run("pages", run_id)}
                if known != self.promised[run_id]:
                    wrong.append(f"run {run_id} has the pages {known}, and should have {self.promised[run_id]}")
        assert not wrong, "\n".join(wrong)
        self.seen = seen
        # Whoever does not run may be asked less: the others of the lane need not wait for it.
        running = {run_id for run_id, run in seen.runs.items() if (run["status"], run["wanted"]) == ("running", "run")}
        self.asked_at = {key: asked for key, asked in self.asked_at.items() if key[0] in running}

    def _given_up(self, seen: Seen) -> list[str]:
        """A host is given up for those who waited for it when a request to it failed, not for who came since."""
        wrong = []
        for id_, page in seen.pages.items():
            was = self.seen.pages.get(id_)
            if was is not None and was["run_id"] != page["run_id"]:
                was = None  # it has the number of a page that was deleted
            if was is None or (was["state"], was["lane"]) != (PageState.PENDING, page["lane"]):
                self.waits_since[id_] = self.time.monotonic
            if page["reason"] == Skip.HOST_DOWN and (was is None or was["reason"] != Skip.HOST_DOWN):
                failed = self.failed_at.get(page["lane"], -HOUR)
                if failed < self.waits_since[id_]:
                    wrong.append(f"{page['url']} is given up, and nothing has failed since it waits")
        return wrong

    def _crowds(self, seen: Seen) -> list[str]:
        """Of no run is more in flight than it allows, whoever fetches it."""
        busy: Counter[str] = Counter()
        for puppet in self.puppets:
            if puppet.id in seen.living:
                busy.update(puppet.busy())
        limits = {run_id: spec["concurrency"] for run_id, spec in seen.specs.items()}
        return [f"{n} pages of {run_id} are in flight" for run_id, n in busy.items() if n > limits.get(run_id, n)]

    # -- the end

    def teardown(self) -> None:
        try:
            if sys.exception() is None:
                self._drain()
        finally:
            for puppet in [*self.puppets, *self.frozen]:
                puppet.kill()
            self.database.close()
            shutil.rmtree(self.folder)

    def _drain(self) -> None:
        """From now on all is well: everything that was taken in comes to an end, and nothing is missing.

        Either those who are there go on, whatever they have been through, or all of them die and a new one comes.
        """
        if self.somebody_survives:
            self._thaw([])
        else:
            for puppet in [*self.puppets, *self.frozen]:
                puppet.kill()
            self.puppets, self.frozen = [], []
        began = self.time.monotonic
        while self.seen.unfinished:
            assert self.time.monotonic - began < DRAIN_SECONDS, f"There is still work: {self.seen.unfinished}"
            self._drain_step()
        for run in self.seen.runs.values():
            self._nothing_is_missing(run)

    def _drain_step(self) -> None:
        if not any(puppet.only_run is None and not puppet.stopping for puppet in self.puppets):
            # Who went on may have learned that it was declared dead, and has ended.
            self._start(None)
        for run in self.seen.unfinished:
            if run["status"] == RunStatus.PAUSED and run["wanted"] != "cancel":
                self.write(
                    steering.resume, run_id=run["id"], keeper=None, max_running=self.max_running, now=self.time.wall
                )
        self._pass(DRAIN_STEP)
        for puppet in list(self.puppets):
            self._grant_all(puppet)
            while puppet in self.puppets and puppet.web.dials:
                self._answer(puppet, ["page"] * len(puppet.web.dials))
                self._pass(LONGEST_DELAY)
                self._grant_all(puppet)
            self.the_laws_hold()

    def _nothing_is_missing(self, run: Row) -> None:
        """Where a page was read, its links are pages of the run, unless that was full."""
        pages = self.seen.of_run("pages", run["id"])
        known = {page["fingerprint"] for page in pages}
        full = self.seen.specs[run["id"]]["max_pages"] <= len(pages)
        for page in pages:
            assert page["state"] in ("done", "failed", "skipped"), page
            if page["state"] == "done" and not full:
                missing = [url for url in links_of(page["url"]) if fingerprint(url) not in known]
                assert not missing, f"{page['url']} links to {missing}, which {run['id']} has never heard of"
