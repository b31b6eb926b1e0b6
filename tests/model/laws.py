"""What must hold of a store at every commit, and between one commit and the next. Rows in, sentences out."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tarantella.domain.event import RUN_CANCELLED, RUN_COMPLETED, RUN_FAILED, RUN_REQUEUED
from tarantella.domain.page import INCOMPLETE_SKIPS, PAGE_TRANSITIONS, PageState, Skip
from tarantella.domain.run import RUN_TRANSITIONS, TERMINAL, RunStatus
from tarantella.store.admission import WAITS_FOR_ITS_PAGES
from tarantella.store.database import Database
from tarantella.store.runs import DELETING, SUBMITTING, UNSEEN
from tarantella.store.tables import metadata
from tarantella.store.tx import Tx

Row = Mapping[str, Any]

ENDINGS = (RUN_COMPLETED, RUN_FAILED, RUN_CANCELLED)


@dataclass(frozen=True)
class Seen:
    """Every row of every table, at one moment."""

    tables: Mapping[str, list[Row]]

    @classmethod
    def in_(cls, database: Database) -> Seen:
        def look(tx: Tx) -> dict[str, list[Row]]:
            return {name: [row._mapping for row in tx.all(query)] for name, query in _QUERIES.items()}

        return cls(database.read_now(look))

    @cached_property
    def runs(self) -> dict[str, Row]:
        return {run["id"]: run for run in self.tables["runs"]}

    @cached_property
    def pages(self) -> dict[int, Row]:
        return {page["id"]: page for page in self.tables["pages"]}

    @cached_property
    def living(self) -> set[str]:
        """The workers that are not known to be dead."""
        return {worker["id"] for worker in self.tables["workers"] if worker["dead_at"] is None}

    @cached_property
    def unfinished(self) -> list[Row]:
        """The runs that have not come to their end, and those of which only a part is left."""
        return [
            run for run in self.tables["runs"] if RunStatus(run["status"]) not in TERMINAL or run["reason"] in UNSEEN
        ]

    @cached_property
    def specs(self) -> dict[str, dict[str, Any]]:
        """What the runs were asked to do."""
        return {run["id"]: json.loads(run["spec"]) for run in self.tables["runs"]}

    def of_run(self, table: str, run_id: str) -> list[Row]:
        return self._by_run[table, run_id]

    @cached_property
    def _by_run(self) -> dict[tuple[str, str], list[Row]]:
        found: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for table in ("pages", "records", "run_events", "stands", "run_workers"):
            for row in self.tables[table]:
                found[table, row["run_id"]].append(row)
        return found


_QUERIES = {
    name: f"SELECT * FROM {name} ORDER BY {', '.join(column.name for column in table.primary_key)}"
    for name, table in metadata.tables.items()
}


def broken(before: Seen, seen: Seen, max_running: int) -> Iterator[str]:
    """Each law that doesn't hold, in a sentence."""
    for run in seen.runs.values():
        for law in RUN_LAWS:
            for sentence in law(seen, run):
                yield f"run {run['id']} ({run['status']}, wanted {run['wanted']}, reason {run['reason']}): {sentence}"
    yield from _belongings(seen)
    yield from _workers(seen)
    yield from _admission(seen, max_running)
    yield from _moves(before, seen)


# -- of a run


def _counts(seen: Seen, run: Row) -> Iterator[str]:
    if run["reason"] == DELETING:
        return
    pages = seen.of_run("pages", run["id"])
    states = Counter(page["state"] for page in pages)
    skips = Counter(page["reason"] for page in pages if page["state"] == PageState.SKIPPED)
    ids = {page["id"] for page in pages}
    attempts = [attempt for attempt in seen.tables["attempts"] if attempt["page_id"] in ids]
    recounted = {
        "total": len(pages),
        **{state: states[state] for state in ("done", "failed", "skipped", "pending")},
        "incomplete": sum(skips[reason] for reason in INCOMPLETE_SKIPS),
        "surplus": skips[Skip.MAX_PAGES],
        "records": len(seen.of_run("records", run["id"])),
        "requests": len(attempts),
        "bytes": sum(attempt["bytes"] for attempt in attempts),
    }
    for name, count in recounted.items():
        if run[name] != count:
            yield f"{name} is {run[name]}, recounted {count}"
    if run["total"] != run["done"] + run["failed"] + run["skipped"] + run["pending"]:
        yield "its counts don't add up"
    if run["total"] - run["surplus"] > seen.specs[run["id"]]["max_pages"]:
        yield "it has more pages than it may"


def _pages(seen: Seen, run: Row) -> Iterator[str]:
    pages = seen.of_run("pages", run["id"])
    if len({page["fingerprint"] for page in pages}) < len(pages):
        yield "a page is there twice"
    records = Counter(record["page_id"] for record in seen.of_run("records", run["id"]))
    numbered = Counter((record["page_id"], record["ordinal"]) for record in seen.of_run("records", run["id"]))
    if any(count > 1 for count in numbered.values()):
        yield "a record is there twice"
    for page in pages:
        if records[page["id"]] != (page["state"] == PageState.DONE):
            yield f"{page['url']} is {page['state']} and has {records[page['id']]} records"
        if (page["reason"] is None) != (page["state"] == PageState.DONE) and page["state"] != PageState.PENDING:
            yield f"{page['url']} is {page['state']} for the reason {page['reason']!r}"
        if page["charged"] > page["tries"]:
            yield f"{page['url']} was charged {page['charged']} times in {page['tries']} tries"


def _records(seen: Seen, run: Row) -> Iterator[str]:
    for record in seen.of_run("records", run["id"]):
        page = seen.pages.get(record["page_id"])
        if page is None or page["run_id"] != run["id"]:
            yield f"record {record['id']} belongs to no page of the run"
        elif json.loads(record["data"])["url"] != (page["asked_url"] or page["url"]):
            yield f"{page['url']} has the record of another page"


def _stands(seen: Seen, run: Row) -> Iterator[str]:
    """A stand must never hide work: it says when its first page is due, or an earlier time."""
    if run["reason"] == DELETING:
        return
    due: dict[str, float] = {}
    for page in seen.of_run("pages", run["id"]):
        if page["state"] == PageState.PENDING:
            due[page["lane"]] = min(page["next_at"], due.get(page["lane"], page["next_at"]))
    ready = {stand["lane"]: stand["ready_at"] for stand in seen.of_run("stands", run["id"])}
    lanes = {lane["name"] for lane in seen.tables["lanes"]}
    for lane, at in due.items():
        if ready.get(lane) is None or ready[lane] > at:
            yield f"in lane {lane} a page is due at {at}, and its stand says {ready.get(lane)}"
        if lane not in lanes:
            yield f"there is no lane {lane}"


def _end(seen: Seen, run: Row) -> Iterator[str]:
    over = RunStatus(run["status"]) in TERMINAL
    if over != (run["finished_at"] is not None):
        yield f"the time of its end is {run['finished_at']}"
    if over and run["reason"] != DELETING:
        if run["pending"]:
            yield f"{run['pending']} pages are pending after the end"
        for table in ("stands", "run_workers"):
            if left := seen.of_run(table, run["id"]):
                yield f"{len(left)} rows in {table} after the end"
    if over and run["retries_below"] is not None:
        yield f"pages below {run['retries_below']} should have been tried again before the end"
    if not over and not run["pending"] and run["reason"] != SUBMITTING:
        yield "it has nothing to do, and does not end"


def _pause(_: Seen, run: Row) -> Iterator[str]:
    if run["status"] == RunStatus.PAUSED and run["reason"] in (None, WAITS_FOR_ITS_PAGES):
        yield "nobody can say why it is paused"


def _history(seen: Seen, run: Row) -> Iterator[str]:
    events = sorted(seen.of_run("run_events", run["id"]), key=lambda event: int(event["sequence"]))
    if [event["sequence"] for event in events] != list(range(1, run["last_event"] + 1)):
        yield f"its events are numbered {[event['sequence'] for event in events]}, the last is {run['last_event']}"
    messages = [event["message"] for event in events]
    endings = 0
    for message in messages:
        if message in ENDINGS:
            endings += 1
        if message == RUN_REQUEUED:
            if endings != 1:
                yield f"it came back after {endings} endings"
            endings = 0
    if endings != (RunStatus(run["status"]) in TERMINAL):
        yield f"its history tells of {endings} endings since it last began: {messages}"


RUN_LAWS: tuple[Callable[[Seen, Row], Iterator[str]], ...] = (
    _counts,
    _pages,
    _records,
    _stands,
    _end,
    _pause,
    _history,
)


# -- of everything together


def _belongings(seen: Seen) -> Iterator[str]:
    for table in ("pages", "records", "run_events", "stands", "run_workers"):
        for row in seen.tables[table]:
            if row["run_id"] not in seen.runs:
                yield f"a row of {table} belongs to the run {row['run_id']}, which is not there"
    for table in ("attempts", "bodies"):
        for row in seen.tables[table]:
            if row["page_id"] not in seen.pages:
                yield f"a row of {table} belongs to the page {row['page_id']}, which is not there"
    for attempt in seen.tables["attempts"]:
        page = seen.pages.get(attempt["page_id"])
        if page is not None and not 1 <= attempt["n"] <= page["tries"]:
            yield f"{page['url']} has attempt {attempt['n']} and {page['tries']} tries"


def _workers(seen: Seen) -> Iterator[str]:
    for lane in seen.tables["lanes"]:
        if lane["owner"] is not None and lane["owner"] not in seen.living:
            yield f"lane {lane['name']} is owned by {lane['owner']}, who is dead"
    held: Counter[str] = Counter()
    for share in seen.tables["run_workers"]:
        held[share["run_id"]] += share["slots"]
        if share["worker_id"] not in seen.living:
            yield f"{share['worker_id']} is dead and holds slots of run {share['run_id']}"
    for run in seen.runs.values():
        if held[run["id"]] > seen.specs[run["id"]]["concurrency"]:
            yield f"{held[run['id']]} slots of run {run['id']} are held, more than it has"
        live = run["status"] in ("queued", "running", "paused") and run["wanted"] != "cancel"
        if live and run["keeper"] not in (None, *seen.living) and run["reason"] != SUBMITTING:
            yield f"run {run['id']} is {run['status']} and kept by {run['keeper']}, who is dead"


def _admission(seen: Seen, max_running: int) -> Iterator[str]:
    running = [run["id"] for run in seen.runs.values() if run["status"] == RunStatus.RUNNING]
    if len(running) > max_running:
        yield f"{len(running)} runs are running"
    waiting = [
        run["id"]
        for run in seen.runs.values()
        if run["status"] == RunStatus.QUEUED and run["wanted"] == "run" and run["reason"] != WAITS_FOR_ITS_PAGES
    ]
    if waiting and len(running) < max_running:
        yield f"{len(running)} runs are running, and {waiting} wait for a place"


# -- between one commit and a later one


def _moves(before: Seen, after: Seen) -> Iterator[str]:
    for run_id, was in before.runs.items():
        run = after.runs.get(run_id)
        if run is None:
            # Half a run may vanish, and what is over; nothing else.
            if RunStatus(was["status"]) not in TERMINAL and was["reason"] not in UNSEEN:
                yield f"run {run_id} was {was['status']} and is gone"
        else:
            yield from (f"run {run_id}: {sentence}" for sentence in _run_moves(before, after, was, run))
    for page_id, was in before.pages.items():
        page = after.pages.get(page_id)
        if page is not None and page["run_id"] == was["run_id"]:
            yield from (f"{was['url']}: {sentence}" for sentence in _page_moves(was, page))
            if (page["state"], page["reason"]) == (PageState.SKIPPED, Skip.CANCELLED) and page["tries"] > was["tries"]:
                if after.runs[page["run_id"]]["wanted"] != "cancel":
                    yield f"{was['url']} was cancelled, and nobody wanted that"


def _run_moves(before: Seen, after: Seen, was: Row, run: Row) -> Iterator[str]:
    old, new = RunStatus(was["status"]), RunStatus(run["status"])
    # A queued run that is at once admitted made two moves in one transaction.
    reachable = {old} | RUN_TRANSITIONS[old] | {far for near in RUN_TRANSITIONS[old] for far in RUN_TRANSITIONS[near]}
    if new not in reachable:
        yield f"it was {old} and is {new}"
    told = {event["sequence"]: event for event in after.of_run("run_events", run["id"])}
    for event in before.of_run("run_events", was["id"]):
        if told.get(event["sequence"]) != event:
            yield f"its event {event['sequence']} was {event} and is {told.get(event['sequence'])}"
    if run["reason"] == DELETING:
        return
    kept = {(record["page_id"], record["ordinal"]): record for record in after.of_run("records", run["id"])}
    for record in before.of_run("records", was["id"]):
        if kept.get((record["page_id"], record["ordinal"])) != record:
            yield f"record {record['id']} is gone or changed"
    pages = {page["id"] for page in after.of_run("pages", run["id"])}
    for page in before.of_run("pages", was["id"]):
        if page["id"] not in pages:
            yield f"its page {page['url']} is gone"


def _page_moves(was: Row, page: Row) -> Iterator[str]:
    old, new = PageState(was["state"]), PageState(page["state"])
    if page["tries"] < was["tries"]:
        yield f"its tries went from {was['tries']} to {page['tries']}"
    if old is not new:
        if page["tries"] == was["tries"]:
            yield f"it was {old} and is {new}, without a try"
        back_and_forth = PageState.PENDING in PAGE_TRANSITIONS[old] and new in PAGE_TRANSITIONS[PageState.PENDING]
        if new not in PAGE_TRANSITIONS[old] and not back_and_forth:
            yield f"it was {old} and is {new}"
    elif old is PageState.DONE and page != was:
        yield "it was done, and was touched again"
