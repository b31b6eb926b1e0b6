"""Takes back what a run failed or had to leave, a thousand pages at a time, from the youngest to the oldest.

For as long as `retries_below` stands in a run's row, pages with lower numbers are still to be taken back. The run works
meanwhile: what it finds, and what fails again, has a higher number. A cancel stops it, as does nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from tarantella.domain.page import INCOMPLETE_SKIPS
from tarantella.domain.run import Wanted
from tarantella.store.connection import Row
from tarantella.store.stands import refresh_stands
from tarantella.store.tx import Tx, pack

AT_ONCE = 1_000
ABOVE_ALL = 2**63 - 1  # no page has such a number
# Each has its index, used where the condition of that stands word for word, in the order of the pages' numbers.
_KINDS = ("state IN ('failed', 'skipped') AND state = 'failed'",) + tuple(
    f"reason IS NOT NULL AND reason = '{reason}' AND state = 'skipped'" for reason in sorted(INCOMPLETE_SKIPS)
)


class TakenBack(NamedTuple):
    """How many pages were taken back, by what they were, and from where on there may be more."""

    failed: int
    skipped: int
    below: int | None

    @property
    def pages(self) -> int:
        return self.failed + self.skipped


def take_back(tx: Tx, run: Row, now: float) -> TakenBack:
    """Make the next of its failed and left pages pending again. The caller holds the run's row, and counts them there."""
    found = " UNION ALL ".join(
        f"SELECT id, lane, state FROM (SELECT id, lane, state FROM pages WHERE run_id = :run AND {kind} AND id < :below "
        f"ORDER BY id DESC LIMIT {AT_ONCE}) AS kind_{number}"
        for number, kind in enumerate(_KINDS)
    )
    again = tx.array(
        ["id", "lane", "state"],
        f"FROM (SELECT * FROM ({found}) AS kinds ORDER BY id DESC LIMIT {AT_ONCE}) AS again",
        run=run.id,
        below=run.retries_below,
    )
    if again:
        tx.execute(
            "UPDATE pages SET state = 'pending', reason = NULL, detail = NULL, charged = 0, hops = 0, next_at = :now, tries = tries + 1 "
            f"WHERE id IN (SELECT value FROM {tx.dialect.values('ids', 'BIGINT')} AS r)",
            now=now,
            ids=pack([row[0] for row in again]),
        )
        refresh_stands(tx, sorted({(run.id, row[1]) for row in again}))
    failed = sum(row[2] == "failed" for row in again)
    below = min(row[0] for row in again) if len(again) == AT_ONCE else None
    return TakenBack(failed, len(again) - failed, below)


def go_on(tx: Tx, run_id: str, now: float) -> bool:
    """Take some more pages of a run back; whether there may be more. Anybody may do this, at any time."""
    run = tx.first(f"SELECT id, wanted, retries_below FROM runs WHERE id = :id {tx.dialect.for_update}", id=run_id)
    if run is None or run.retries_below is None or run.wanted == Wanted.CANCEL:
        return False
    again = take_back(tx, run, now)
    tx.execute(
        "UPDATE runs SET failed = failed - :failed, skipped = skipped - :skipped, incomplete = incomplete - :skipped, "
        "pending = pending + :pages, retries_below = :below WHERE id = :id",
        id=run_id,
        failed=again.failed,
        skipped=again.skipped,
        pages=again.pages,
        below=again.below,
    )
    return again.below is not None


def unfinished(tx: Tx) -> list[str]:
    """The runs of which more pages are to be taken back."""
    rows = tx.all("SELECT id FROM runs WHERE retries_below IS NOT NULL AND wanted <> 'cancel' ORDER BY id")
    return [row.id for row in rows]
