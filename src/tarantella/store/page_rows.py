"""Rows of pages, and of what belongs to a page: records, bodies, attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import astuple

from tarantella.domain.outcome import Attempt, Link, Outcome
from tarantella.domain.page import PageKind, PageState, Skip
from tarantella.domain.struct import Struct
from tarantella.domain.url import redact
from tarantella.store.tx import Tx, pack

# Pages are taken by the time at which they are due: this much apart, those of one page come in the order they stood there.
IN_ORDER = 1e-6
LARGE_RECORD = 2_000  # characters
_DONE = PageState.DONE  # looking up a member of an enumeration takes longer than comparing with it
_PAGE = PageKind.PAGE.value  # drivers ask a member of an enumeration how it wants to be stored, a text they just store


class NewPage(Struct, frozen=True):
    """A page row that this settle inserted."""

    id: int
    run_id: str
    lane: str
    kind: str = PageKind.PAGE


def still_ours(tx: Tx, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those whose page is as it was when it was taken. The others are somebody else's now: what they found is dropped."""
    if not outcomes:
        return []
    rows = tx.array(
        ["id", "run_id", "state", "tries", "lane"],
        f"FROM pages WHERE id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r) ORDER BY id {tx.dialect.for_update}",
        ids=pack([o.page.id for o in outcomes]),
    )
    # The number of a page whose run was deleted may have been given to a page of another run.
    pending = {id_: (run_id, tries, lane) for id_, run_id, state, tries, lane in rows if state == "pending"}
    # The same page twice in one batch counts once.
    return [o for o in outcomes if pending.pop(o.page.id, None) == (o.page.run_id, o.page.tries, o.page.lane)]


def without_duplicates(tx: Tx, outcomes: list[Outcome]) -> list[Outcome]:
    """A page whose final address another finished page already has becomes `skipped(duplicate)`."""
    done = [o for o in outcomes if o.state is _DONE]
    redirected = [o for o in done if o.final_fingerprint is not None]
    duplicates = _taken_by_redirects(tx, done) | _taken_by_pages(tx, redirected)
    if not redirected and not duplicates:
        # Addresses are unique within a run: only a redirect can lead to one that another page has.
        return outcomes
    claimed: set[tuple[str, str]] = set()
    for outcome in done:
        claim = (outcome.page.run_id, _claim(outcome))
        if claim in claimed:
            duplicates.add(outcome.page.id)
        elif outcome.page.id not in duplicates:
            claimed.add(claim)
    return [_as_duplicate(o) if o.page.id in duplicates else o for o in outcomes]


_CLAIMS = [("id", "BIGINT"), ("run_id", "TEXT"), ("claim", "TEXT")]


def _taken_by_redirects(tx: Tx, outcomes: Sequence[Outcome]) -> set[int]:
    """Pages whose address a finished page was redirected to. Most runs have no such page, which is quickly seen."""
    redirects = tx.all(
        # One of each run, found in their index: a plain question for any would be asked of the whole table.
        "SELECT (SELECT final_fingerprint FROM pages WHERE run_id = r.value AND final_fingerprint IS NOT NULL "
        f"ORDER BY final_fingerprint LIMIT 1) AS one FROM {tx.dialect.values('ids')} AS r",
        ids=pack(sorted({o.page.run_id for o in outcomes})),
    )
    if all(run.one is None for run in redirects):
        return set()
    taken = tx.array(
        ["r.id"],
        f"FROM {tx.dialect.rows('rows', _CLAIMS)} AS r "
        "JOIN pages AS p ON p.run_id = r.run_id AND p.final_fingerprint = r.claim "
        "WHERE p.final_fingerprint IS NOT NULL AND p.state = 'done' AND p.id <> r.id",
        rows=pack([(o.page.id, o.page.run_id, _claim(o)) for o in outcomes]),
    )
    return {row[0] for row in taken}


def _taken_by_pages(tx: Tx, outcomes: Sequence[Outcome]) -> set[int]:
    """Redirected pages whose final address is that of a finished page."""
    if not outcomes:
        return set()
    taken = tx.array(
        ["r.id"],
        f"FROM {tx.dialect.rows('rows', _CLAIMS)} AS r JOIN pages AS p ON p.run_id = r.run_id AND p.fingerprint = r.claim "
        "WHERE p.state = 'done' AND p.id <> r.id AND p.final_fingerprint IS NULL",
        rows=pack([(o.page.id, o.page.run_id, _claim(o)) for o in outcomes]),
    )
    return {row[0] for row in taken}


def _claim(outcome: Outcome) -> str:
    return outcome.final_fingerprint or outcome.page.fingerprint


def _as_duplicate(outcome: Outcome) -> Outcome:
    attempt = outcome.attempt._replace(decision="skipped: duplicate") if outcome.attempt else None
    return Outcome(
        page=outcome.page,
        state=PageState.SKIPPED,
        attempt=attempt,
        reason=Skip.DUPLICATE,
        detail=redact(outcome.final_url or outcome.page.url),
        charged=outcome.charged,
        status=outcome.status,
        final_url=outcome.final_url,
        # What it found is told once by those who look for it: dropped here, nobody would find it again.
        links=outcome.links,
        refused=outcome.refused,
        traps=outcome.traps,
        root=outcome.root,
        cookies=outcome.cookies,
    )


_MOVED = [
    ("id", "BIGINT"),
    ("state", "TEXT"),
    ("reason", "TEXT"),
    ("detail", "TEXT"),
    ("charged", "BIGINT"),
    ("strategy", "TEXT"),
    ("next_at", "DOUBLE PRECISION"),
    ("url", "TEXT"),
    ("lane", "TEXT"),
    ("hops", "BIGINT"),
    ("status", "BIGINT"),
    ("final_url", "TEXT"),
    ("final_fingerprint", "TEXT"),
]


def move_pages(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    """Write what became of the pages: most are done where they were, and differ in nothing but their number."""
    plain: dict[int | None, list[int]] = defaultdict(list)  # by status
    others: list[Outcome] = []
    for o in outcomes:
        if o.state is _DONE and o.final_url is None and o.final_fingerprint is None and o.strategy is None:
            plain[o.status].append(o.page.id)
        else:
            others.append(o)
    for status, ids in plain.items():
        tx.execute(
            "UPDATE pages SET state = 'done', reason = NULL, detail = NULL, tries = tries + 1, charged = charged + 1, "
            f"status = :status WHERE id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r)",
            status=status,
            ids=pack(ids),
        )
    if others:
        _move_others(tx, others)


def _move_others(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    tx.execute(
        "UPDATE pages SET state = r.state, reason = r.reason, detail = r.detail, tries = tries + 1, "
        "charged = pages.charged + r.charged, strategy = coalesce(r.strategy, pages.strategy), "
        "next_at = coalesce(r.next_at, pages.next_at), url = coalesce(r.url, pages.url), lane = coalesce(r.lane, pages.lane), "
        "asked_url = CASE WHEN r.url IS NULL THEN pages.asked_url ELSE coalesce(pages.asked_url, pages.url) END, "
        "hops = coalesce(r.hops, pages.hops), status = r.status, final_url = r.final_url, "
        "final_fingerprint = r.final_fingerprint "
        f"FROM {tx.dialect.rows('rows', _MOVED)} AS r WHERE pages.id = r.id",
        rows=pack([_moved_row(o) for o in outcomes]),
    )


def _moved_row(o: Outcome) -> tuple[Any, ...]:
    move = o.move
    return (
        o.page.id,
        o.state,
        o.reason,
        o.detail,
        int(o.charged),
        o.strategy,
        o.next_at,
        move.url if move else None,
        move.lane if move else None,
        move.hops if move else None,
        o.status,
        o.final_url,
        o.final_fingerprint,
    )


_FOUND = (
    "run_id",
    "fingerprint",
    "lane",
    "url",
    "depth",
    "strategy",
    "found_on",
    "is_start",
    "next_at",
    "state",
    "kind",
)


def insert_found(tx: Tx, outcomes: Sequence[Outcome], now: float) -> list[NewPage]:
    """Insert the pages that these outcomes found, in that order.

    They are fetched in it too: then what a settle changes stands together in few blocks of the table. Nobody else inserts
    pages of these runs meanwhile, because their rows are locked.
    """
    rows: list[tuple[Any, ...]] = []
    found: dict[str, set[str]] = defaultdict(set)  # by run
    for o in outcomes:
        if not o.links:
            continue
        found_on, run_id, strategy = o.page.id, o.page.run_id, o.page.strategy
        marks = found[run_id]
        for link in o.links:
            mark = link.fingerprint
            if mark not in marks:
                marks.add(mark)
                due = now + len(rows) * IN_ORDER
                kind = _PAGE if link.kind is PageKind.PAGE else link.kind.value
                rows.append(
                    (run_id, mark, link.lane, link.url, link.depth, strategy, found_on, 0, due, "pending", kind)
                )
    return insert_pages(tx, rows)


def start_pages(run_id: str, links: Iterable[Link], strategy: str, now: float) -> list[tuple[Any, ...]]:
    """Rows for the addresses that a run starts from."""
    rows: dict[str, tuple[Any, ...]] = {}
    for link in links:
        due = now + len(rows) * IN_ORDER
        start = int(link.kind is PageKind.PAGE)
        row = (run_id, link.fingerprint, link.lane, link.url, 1, strategy, None, start, due, "pending", link.kind)
        rows.setdefault(link.fingerprint, row)
    return list(rows.values())


def insert_starts(tx: Tx, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert first pages of runs that are new, so that nobody else can have them."""
    tx.insert("pages", _FOUND, rows, conflict="(run_id, fingerprint) DO NOTHING")


def insert_pages(tx: Tx, rows: Sequence[tuple[Any, ...]]) -> list[NewPage]:
    """Insert the pages that are new to their runs, and say which were, in the order in which they were given."""
    if not rows:
        return []
    fresh = tx.insert_new("pages", _FOUND, rows, key=("run_id", "fingerprint"), returned=("run_id", "lane", "kind"))
    return [NewPage(*row) for row in fresh]


def insert_records(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    """Store what was extracted, and the bodies that were to be kept."""
    rows = [(o.page.run_id, o.page.id, i, data) for o in outcomes for i, data in enumerate(o.records)]
    insert_record_rows(tx, rows)
    kept = [(o.page.id, o.body.content_type, o.body.compressed) for o in outcomes if o.body]
    newest = "(page_id) DO UPDATE SET content_type = excluded.content_type, body = excluded.body"
    tx.insert("bodies", ("page_id", "content_type", "body"), kept, conflict=newest, large=True)


def insert_record_rows(tx: Tx, rows: Sequence[tuple[str, int, int, str]]) -> None:
    """Insert records: their run, their page, which of its records they are, and what is in them."""
    large = max([len(row[-1]) for row in rows], default=0) > LARGE_RECORD
    names, once = ("run_id", "page_id", "ordinal", "data"), "(page_id, ordinal) DO NOTHING"
    tx.insert("records", names, rows, conflict=once, large=large)


_TRIED = ("page_id", "n", *Attempt.__struct_fields__)
_WENT_WELL = tuple(name for name in _TRIED if name not in ("failure", "detail"))
_went_well = attrgetter(*_WENT_WELL[2:])


def insert_attempts(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    """Store the tries, numbered as the pages' tries are after this settle."""
    good: list[tuple[Any, ...]] = []
    bad: list[tuple[Any, ...]] = []
    for o in outcomes:
        if (tried := o.attempt) is None:
            continue
        if tried.failure is None and tried.detail is None:
            # What isn't there needs no saying: drivers take longer over nothing than over a number.
            good.append((o.page.id, o.page.tries + 1) + _went_well(tried))
        else:
            bad.append((o.page.id, o.page.tries + 1, *astuple(tried)))
    tx.insert("attempts", _WENT_WELL, good, conflict="(page_id, n) DO NOTHING")
    tx.insert("attempts", _TRIED, bad, conflict="(page_id, n) DO NOTHING")
