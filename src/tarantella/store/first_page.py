"""The page that a run starts from: what its run is measured by where people want one address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from tarantella.domain.strategy import BROWSER
from tarantella.domain.struct import Frozen
from tarantella.store.tx import Tx, pack


class FirstPage(Frozen):
    """How the first page of a run stands."""

    state: str
    charged: int

    @property
    def attempt(self) -> int:
        """The number of the attempt that it is at, or was at when it ended."""
        return max(1, self.charged + (self.state == "pending"))


def first_pages(tx: Tx, run_ids: Sequence[str]) -> dict[str, FirstPage]:
    """The first page of each of these runs."""
    rows = tx.all(
        "SELECT p.run_id, p.state, p.charged FROM pages AS p WHERE p.id IN "
        # One after the other by their index: the pages of a run may be a million.
        f"(SELECT (SELECT id FROM pages WHERE run_id = r.value ORDER BY id LIMIT 1) FROM {tx.dialect.values('ids')} AS r)",
        ids=pack(list(run_ids)),
    )
    return {row.run_id: FirstPage(row.state, row.charged) for row in rows}


def last_strategy(tx: Tx, job_id: str, url: str, since: float) -> str | None:
    """With which strategy the newest run of a job that has ended since then got this page as its first, if it did."""
    row = tx.first(
        "SELECT p.state, p.url, p.asked_url, p.strategy FROM pages AS p WHERE p.id = "
        "(SELECT (SELECT id FROM pages WHERE run_id = r.id ORDER BY id LIMIT 1) FROM runs AS r "
        "WHERE r.job_id IS NOT NULL AND r.job_id = :job AND r.finished_at > :since ORDER BY r.created_at DESC, r.id DESC LIMIT 1)",
        job=job_id,
        since=since,
    )
    if row is None or row.state != "done" or url not in (row.url, row.asked_url):
        return None
    return str(row.strategy)


def ending(tx: Tx, run_id: str) -> tuple[int, dict[str, Any]]:
    """At which attempt the first page of a run ended, and what is told of it."""
    row = tx.first(
        "SELECT p.state, p.charged, p.status, p.strategy, r.data FROM pages AS p "
        "LEFT JOIN records AS r ON r.page_id = p.id AND r.ordinal = 0 "
        "WHERE p.id = (SELECT id FROM pages WHERE run_id = :run ORDER BY id LIMIT 1)",
        run=run_id,
    )
    if row is None:
        return 1, {}
    stats: dict[str, Any] = {} if row.status is None else {"http_status": row.status}
    if row.data is not None:
        record = orjson.loads(row.data)
        stats |= {
            "content_type": record.get("content_type"),
            "content_length": record.get("bytes"),
            "title": record.get("title"),
        }
    if row.strategy == BROWSER.name and stats:
        stats["browser"] = "playwright-chromium"
    return FirstPage(row.state, row.charged).attempt, stats
