"""A small world around a database: runs are submitted, workers take and settle pages, the clock stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from tarantella.domain.event import Event
from tarantella.domain.outcome import Attempt, LaneNews, Link, Move, Outcome
from tarantella.domain.page import INCOMPLETE_SKIPS, Page, PageState, Skip
from tarantella.domain.refused import Refused
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.domain.url import fingerprint, resolve
from tarantella.store import closing, events, lanes, pages, records, runs, settle, slots, steering, workers
from tarantella.store.database import Database
from tarantella.store.ids import new_id
from tarantella.store.runs import Run
from tarantella.store.settle import Settled
from tarantella.store.tables import metadata
from tarantella.store.tx import Tx

T = TypeVar("T")
NOW = 1_700_000_000.0
HOST = "a.example"


def link(path: str, host: str = HOST, depth: int = 2) -> Link:
    url = resolve(f"https://{host}/{path}")
    return Link(url.href, fingerprint(url.href), url.lane, depth)


def tried(decision: str = "done", failure: str | None = None) -> Attempt:
    return Attempt("http", NOW, 12, decision, 200, 1_000, failure)


def done(page: Page, *found: Link, final: str | None = None, refused: dict[str, Refused] | None = None) -> Outcome:
    """The page was fetched, perhaps under another address in the end, and linked to these."""
    mark = fingerprint(final) if final else None
    return Outcome(
        page,
        PageState.DONE,
        attempt=tried(),
        charged=True,
        status=200,
        final_url=final,
        final_fingerprint=mark if mark != page.fingerprint else None,
        records=(f'{{"url": "{page.url}"}}',),
        links=found,
        refused=refused or {},
    )


def failed(page: Page, reason: str = "not_found", *said: Event) -> Outcome:
    return Outcome(
        page,
        PageState.FAILED,
        attempt=tried("failed", reason),
        reason=reason,
        detail="HTTP 404",
        charged=True,
        events=said,
    )


def skipped(page: Page, reason: Skip) -> Outcome:
    return Outcome(page, PageState.SKIPPED, reason=reason)


def again(page: Page, at: float, *, charged: bool = True) -> Outcome:
    """The page is to be tried again at this time."""
    return Outcome(
        page,
        PageState.PENDING,
        attempt=tried("retry", "network"),
        reason="network",
        charged=charged,
        next_at=at,
        strategy="http",
    )


def moved(page: Page, url: str, hops: int = 1) -> Outcome:
    """A redirect led the page to another host."""
    target = resolve(url)
    move = Move(target.href, target.lane, hops)
    return Outcome(page, PageState.PENDING, attempt=tried("moved"), next_at=NOW, move=move, status=302)


class World:
    """Everything a test does to a store goes through here, in transactions of its own."""

    def __init__(self, database: Database, *, max_running: int = 5) -> None:
        self.database = database
        self.max_running = max_running
        self.now = NOW

    def write(self, work: Callable[..., T], **values: Any) -> T:
        return self.database.write_now(partial(work, **values))

    def read(self, work: Callable[..., T], **values: Any) -> T:
        return self.database.read_now(partial(work, **values))

    # -- runs

    def create(self, *paths: str, spec: Spec | None = None, keeper: str | None = None, host: str = HOST) -> str:
        """A run whose submission is not finished."""
        run_id = new_id()
        links = [link(path, host, depth=1) for path in paths or ("",)]
        spec = spec or Spec()

        def begin(tx: Tx) -> None:
            runs.create(tx, run_id, spec, [found.url for found in links], keeper=keeper, now=self.now)
            runs.add_start_pages(tx, run_id, links, spec.strategy, self.now)

        self.write(begin)
        return run_id

    def seal(self, run_id: str) -> str:
        self.write(runs.seal, run_id=run_id, max_running=self.max_running, now=self.now)
        return run_id

    def submit(self, *paths: str, spec: Spec | None = None, keeper: str | None = None, host: str = HOST) -> str:
        return self.seal(self.create(*paths, spec=spec, keeper=keeper, host=host))

    def run(self, run_id: str) -> Run:
        return self.read(runs.get, run_id=run_id)

    def status(self, run_id: str) -> RunStatus:
        return self.run(run_id).status

    def pause(self, run_id: str, why: str = "asked to") -> RunStatus:
        return self.write(steering.want_pause, run_id=run_id, why=why, max_running=self.max_running, now=self.now)

    def settle_pause(self, run_id: str) -> RunStatus:
        return self.write(steering.settle_pause, run_id=run_id, max_running=self.max_running, now=self.now)

    def resume(self, run_id: str, keeper: str | None = None) -> RunStatus:
        return self.write(steering.resume, run_id=run_id, keeper=keeper, max_running=self.max_running, now=self.now)

    def cancel(self, run_id: str) -> RunStatus:
        return self.write(steering.want_cancel, run_id=run_id)

    def close(self, run_id: str, reason: Skip = Skip.CANCELLED, lane: str | None = None) -> Settled:
        return self.write(
            closing.close_pages,
            run_id=run_id,
            reason=reason,
            lane=lane,
            max_running=self.max_running,
            now=self.now,
        )

    def retry_failed(self, run_id: str) -> int:
        return self.write(steering.retry_failed, run_id=run_id, keeper=None, max_running=self.max_running, now=self.now)

    def messages(self, run_id: str) -> list[str]:
        return [event["message"] for event in self.read(events.listed, run_id=run_id, limit=10_000)]

    # -- workers

    def worker(self, serves: str | None = None) -> str:
        worker_id = new_id()
        info = workers.WorkerInfo(worker_id, serves, "here", 1, "0")
        self.write(workers.register, worker=info, now=self.now)
        return worker_id

    def declare_dead(self, worker_id: str) -> None:
        self.write(workers.declare_dead, worker_id=worker_id, max_running=self.max_running, now=self.now)

    def retire(self, worker_id: str) -> None:
        self.write(workers.retire, worker_id=worker_id, max_running=self.max_running, now=self.now)

    def acquire(self, worker_id: str, limit: int = 100, only_run: str | None = None) -> list[lanes.Lane]:
        return self.write(lanes.acquire, worker_id=worker_id, limit=limit, only_run=only_run, now=self.now)

    def claim(self, run_id: str, worker_id: str, concurrency: int = 10, busy: int = 0) -> int:
        claimed = self.write(slots.claim, worker_id=worker_id, wanted={run_id: (concurrency, busy)})
        return claimed[run_id].held

    def take(self, run_id: str, lane: str = HOST, limit: int = 1_000, held: Iterable[int] = ()) -> list[Page]:
        # Pages that were found together are due a tiny bit apart, in their order.
        soon = self.now + 0.1
        return self.read(pages.take, lane=lane, run_id=run_id, held=list(held), limit=limit, now=soon)

    def take_one(self, run_id: str, path: str, host: str = HOST) -> Page:
        """The pending page with this address."""
        wanted = link(path, host).fingerprint
        return next(page for page in self.take(run_id, host) if page.fingerprint == wanted)

    def settle(self, worker_id: str, *outcomes: Outcome, news: Sequence[LaneNews] = ()) -> Settled:
        return self.write(
            settle.settle,
            worker_id=worker_id,
            outcomes=outcomes,
            news=news,
            max_running=self.max_running,
            now=self.now,
        )

    # -- what is there

    def pages(self, run_id: str) -> dict[str, dict[str, Any]]:
        """The pages of a run by their address."""
        return {page["url"]: page for page in self.read(pages.listed, run_id=run_id, limit=100_000)}

    def states(self, run_id: str) -> dict[str, str]:
        """Path → state, with the reason of what was skipped or failed."""
        return {
            url.partition("/")[2].partition("/")[2].partition("/")[2]: (
                f"{page['state']}({page['reason']})" if page["state"] in ("skipped", "failed") else page["state"]
            )
            for url, page in self.pages(run_id).items()
        }

    def ready_at(self, run_id: str, lane: str = HOST) -> float | None:
        found = [stand.ready_at for stand in self.read(lanes.stands_of, names=[lane]) if stand.run_id == run_id]
        return round(found[0], 3) if found and found[0] is not None else None

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, to see whether anything changed at all."""

        def look(tx: Tx) -> dict[str, list[tuple[Any, ...]]]:
            return {
                name: sorted((tuple(row) for row in tx.all(f"SELECT * FROM {name}")), key=repr)
                for name in metadata.tables
            }

        return self.read(look)

    def check(self) -> None:
        """What must hold at every commit, for every run."""

        def look(tx: Tx) -> None:
            for run in runs.served(tx, [row.id for row in tx.all("SELECT id FROM runs")]):
                _check_run(tx, run)

        self.read(look)


def _check_run(tx: Tx, run: Run) -> None:
    counts = run.counts
    assert counts.total == counts.done + counts.failed + counts.skipped + counts.pending, counts
    states = "SELECT state, count(*) AS pages FROM pages WHERE run_id = :run GROUP BY state"
    counted = {row.state: row.pages for row in tx.all(states, run=run.id)}
    assert counted.get("done", 0) == counts.done
    assert counted.get("failed", 0) == counts.failed
    assert counted.get("skipped", 0) == counts.skipped
    assert counted.get("pending", 0) == counts.pending
    reasons = pages.troubles(tx, run.id)
    skips = {trouble["reason"]: trouble["count"] for trouble in reasons if trouble["state"] == "skipped"}
    assert sum(skips.get(reason, 0) for reason in INCOMPLETE_SKIPS) == counts.incomplete
    assert skips.get(Skip.MAX_PAGES, 0) == run.surplus
    kinds = "SELECT count(*) FROM pages WHERE run_id = :run AND kind <> 'page'"
    assert tx.value(kinds, run=run.id) == run.sitemaps
    assert counts.total - run.surplus - run.sitemaps <= run.spec.max_pages
    assert len(records.after(tx, run.id, 0, limit=1_000_000)) == run.records
    history = events.listed(tx, run.id, limit=1_000_000)
    assert [event["sequence"] for event in history] == list(range(1, run.last_event + 1))
    if run.is_over:
        assert counts.pending == 0
        assert run.finished_at is not None
    else:
        assert counts.pending > 0
        assert run.finished_at is None
    _check_stands(tx, run)


def _check_stands(tx: Tx, run: Run) -> None:
    """A stand says when its first pending page is due, and no pending page is without one."""
    due: dict[str, float] = {}
    for page in tx.all("SELECT lane, next_at FROM pages WHERE run_id = :run AND state = 'pending'", run=run.id):
        due[page.lane] = min(page.next_at, due.get(page.lane, page.next_at))
    stands = tx.all("SELECT lane, ready_at FROM stands WHERE run_id = :run AND ready_at IS NOT NULL", run=run.id)
    assert {stand.lane: stand.ready_at for stand in stands} == due
    known = {lane.name for lane in tx.all("SELECT name FROM lanes")}
    assert set(due) <= known
