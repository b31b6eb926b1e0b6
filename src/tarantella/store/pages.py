"""Pages: taken by their lane's owner, listed and explained for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tarantella.domain.failure import CRASH
from tarantella.domain.page import Page, PageKind, PageState
from tarantella.store.tx import Tx, pack

_KILLS = f"tries > 0 AND EXISTS (SELECT 1 FROM attempts WHERE page_id = pages.id AND attempts.detail = '{CRASH}')"
# A page that was never tried has no past. Where it was found on another, too, that is all there is to say of it.
_HAS_MORE = "CASE WHEN tries > 0 OR is_start = 1 OR kind <> 'page' THEN 1 END"
_TAKEN = ["id", "fingerprint", "url", "depth", "strategy", _HAS_MORE]
_MORE = ["id", "tries", "charged", "hops", "is_start", "asked_url", _KILLS, "kind"]


def take(tx: Tx, lane: str, run_id: str, held: Collection[int], limit: int, now: float) -> list[Page]:
    """The next pending pages of a run in a lane, without those that the owner already holds in memory."""
    rows = tx.array(
        _TAKEN,
        "FROM pages WHERE state = 'pending' AND lane = :lane AND run_id = :run AND next_at <= :now "
        f"AND id NOT IN (SELECT value FROM {tx.dialect.values('held', 'BIGINT')} AS r) ORDER BY next_at LIMIT :limit",
        lane=lane,
        run=run_id,
        now=now,
        held=pack(list(held)),
        limit=limit,
    )
    found = [
        Page(id_, run_id, fingerprint, lane, url, depth, 0, 0, strategy, 0, False)
        for id_, fingerprint, url, depth, strategy, _ in rows
    ]
    special = [row[0] for row in rows if row[-1]]
    return _with_more(tx, found, special) if special else found


def _with_more(tx: Tx, found: Sequence[Page], special: Sequence[int]) -> list[Page]:
    """The same pages, those of these numbers with all that there is to say of them."""
    rows = tx.array(
        _MORE,
        f"FROM pages WHERE id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r)",
        ids=pack(special),
    )
    more = {
        id_: {
            "tries": tries,
            "charged": charged,
            "hops": hops,
            "is_start": bool(start),
            "asked_url": asked,
            "kills": bool(kills),
            "kind": PageKind(kind),
        }
        for id_, tries, charged, hops, start, asked, kills, kind in rows
    }
    return [page._replace(**more[page.id]) if page.id in more else page for page in found]


def urls(tx: Tx, run_id: str, ids: Sequence[int]) -> dict[int, str]:
    """The addresses of these pages of a run."""
    rows = tx.all(
        f"SELECT id, url FROM pages WHERE run_id = :run AND id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS v)",
        run=run_id,
        ids=pack(list(ids)),
    )
    return {row.id: row.url for row in rows}


def listed(
    tx: Tx, run_id: str, *, state: PageState | None = None, reason: str | None = None, after: int = 0, limit: int = 100
) -> list[dict[str, Any]]:
    """Some pages of a run in the order in which they were found."""
    if reason is not None:
        numbers = _OF_REASON.format(f" AND state = '{PageState(state)}'" if state else "")
    elif state is None:
        numbers = _IN_ORDER
    elif state == PageState.PENDING and _pending_are_few(tx, run_id):
        numbers = _PENDING
    else:
        numbers = _IN_STATE[PageState(state)]
    rows = tx.all(
        "SELECT id, url, final_url, depth, state, reason, detail, charged, strategy, next_at, status, found_on, kind FROM pages "
        f"WHERE id IN (SELECT id FROM pages WHERE {numbers} LIMIT :limit) ORDER BY id",
        **{"run": run_id, "after": after, "limit": limit, **({} if reason is None else {"reason": reason})},
    )
    return [dict(row._mapping) for row in rows]


_IN_ORDER = "run_id = :run AND id > :after ORDER BY id"
_OF_REASON = "run_id = :run AND reason = :reason AND id > :after{} ORDER BY id"
_IN_STATE = {state: f"run_id = :run AND id > :after AND state = '{state}' ORDER BY id" for state in PageState}
# These have an index of their own, which is used where its condition stands word for word in the query.
for _state in (PageState.FAILED, PageState.SKIPPED):
    _IN_STATE[_state] = f"state IN ('failed', 'skipped') AND {_IN_STATE[_state]}"
# So have these; the signs keep an index that is sorted by number from tempting.
_PENDING = "state = 'pending' AND run_id = :run AND lane IN (SELECT lane FROM stands WHERE run_id = :run) AND +id > :after ORDER BY +id"


def _pending_are_few(tx: Tx, run_id: str) -> bool:
    """Whether it is quicker to sort the pending pages of a run than to look for them among all of its pages."""
    return bool(tx.value("SELECT pending * 3 < total * 2 FROM runs WHERE id = :run", run=run_id))


def troubles(tx: Tx, run_id: str) -> list[dict[str, Any]]:
    """How many pages failed or were skipped, by reason, with an example of each."""
    groups = tx.all(
        "SELECT state, reason, count(*) AS count, min(id) AS first FROM pages WHERE run_id = :run AND state IN "
        "('failed', 'skipped') GROUP BY state, reason ORDER BY state, count(*) DESC",
        run=run_id,
    )
    rows = tx.all(
        f"SELECT id, url, detail FROM pages WHERE id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r)",
        ids=pack([group.first for group in groups]),
    )
    examples = {row.id: {"example": row.url, "detail": row.detail} for row in rows}
    return [
        {"state": each.state, "reason": each.reason, "count": each.count, **examples[each.first]} for each in groups
    ]


def find(tx: Tx, run_id: str, fingerprint: str) -> dict[str, Any] | None:
    """A page by its address, or by the address that it was redirected to."""
    row = tx.first(
        "SELECT * FROM pages WHERE run_id = :run AND (fingerprint = :fp OR (final_fingerprint IS NOT NULL AND final_fingerprint = :fp)) "
        "ORDER BY CASE WHEN fingerprint = :fp THEN 0 ELSE 1 END LIMIT 1",
        run=run_id,
        fp=fingerprint,
    )
    return dict(row._mapping) if row else None


def by_id(tx: Tx, page_id: int) -> dict[str, Any] | None:
    row = tx.first("SELECT * FROM pages WHERE id = :id", id=page_id)
    return dict(row._mapping) if row else None


def attempts(tx: Tx, page_id: int) -> list[dict[str, Any]]:
    rows = tx.all("SELECT * FROM attempts WHERE page_id = :id ORDER BY n", id=page_id)
    return [dict(row._mapping) for row in rows]


def marks(tx: Tx, run_id: str, after: str, limit: int) -> list[str]:
    """Some fingerprints of a run's pages, in their order."""
    rows = tx.array(
        ["fingerprint"],
        "FROM pages WHERE run_id = :run AND fingerprint > :after ORDER BY fingerprint LIMIT :limit",
        run=run_id,
        after=after,
        limit=limit,
    )
    return [row[0] for row in rows]
