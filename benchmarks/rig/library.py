"""A database with very much in it, filled through the store's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tarantella.domain.event import Event, Level
from tarantella.domain.outcome import Link
from tarantella.domain.spec import Spec
from tarantella.domain.url import fingerprint
from tarantella.services.app import App
from tarantella.store import events, page_rows, runs
from tarantella.store.ids import new_id
from tarantella.store.stands import refresh_stands
from tarantella.store.tx import Tx, pack

AT_ONCE = 2_000
BEGAN = 1_700_000_000.0
HOST = "site.example"
COMMON, RARE = "not_found", "too_large"
RECORD = '{"url": "https://site.example/p/%d", "title": "Page %d", "description": "%s", "language": "en"}'
# Statuses and states by the remainder of a count, the first that fits: most are what is left.
STATUSES = ((1_000, "paused"), (20, "failed"), (33, "partial"), (1, "completed"))
STATES = (
    (10_000, "failed", RARE),
    (20, "failed", COMMON),
    (33, "skipped", "robots"),
    (50, "pending", None),
    (1, "done", None),
)


@dataclass(frozen=True, slots=True)
class Library:
    """What is in it, and where its middles are."""

    app: App
    many: int
    run_id: str
    middle_run: tuple[float, str]
    middle_page: int


async def fill(app: App, many: int) -> Library:
    """So many runs; one of them with as many pages, records and events, and another one's pages before them."""
    ids = [new_id() for _ in range(many)]
    for chunk in _chunks(many):
        await app.database.write(partial(_add_runs, ids=ids, chunk=chunk))
    earlier, run_id = ids[many // 3], ids[many // 2]
    first = 1
    for owner in (earlier, run_id):
        first = 1 + await app.database.read(_last_page)
        for chunk in _chunks(many):
            await app.database.write(partial(_add_pages, run_id=owner, chunk=chunk))
    for chunk in _chunks(many):
        await app.database.write(partial(_add_events, run_id=run_id, chunk=chunk))
    await app.database.write(partial(_add_up, run_id=run_id, many=many))
    # As the duties do: what is read is in the file, not in its log.
    await app.database.checkpoint()
    return Library(app, many, run_id, (BEGAN + many // 2, ids[many // 2]), first + many // 2)


def _chunks(many: int) -> list[range]:
    return [range(start, min(many, start + AT_ONCE)) for start in range(0, many, AT_ONCE)]


def _add_runs(tx: Tx, ids: Sequence[str], chunk: range) -> None:
    for number in chunk:
        root = f"https://site-{number}.example/"
        runs.create(tx, ids[number], Spec(), [root], keeper=None, now=BEGAN + number)
    ended = [(ids[number], _status(number)) for number in chunk]
    tx.execute(
        "UPDATE runs SET status = r.status, wanted = 'run', reason = NULL, started_at = created_at, "
        "finished_at = created_at + 60, total = 1, done = 1 "
        f"FROM {tx.dialect.rows('rows', [('id', 'TEXT'), ('status', 'TEXT')])} AS r WHERE runs.id = r.id",
        rows=pack(ended),
    )


def _status(number: int) -> str:
    return next(status for every, status in STATUSES if number % every == 0)


def _add_pages(tx: Tx, run_id: str, chunk: range) -> None:
    urls = [f"https://{HOST}/p/{number}" for number in chunk]
    links = [Link(url, fingerprint(url), HOST, 2) for url in urls]
    fresh = page_rows.insert_pages(tx, page_rows.start_pages(run_id, links, "http", BEGAN))
    moved = [(page.id, *_state(number)) for number, page in zip(chunk, fresh, strict=True)]
    tx.execute(
        "UPDATE pages SET state = r.state, reason = r.reason, tries = 1, charged = 1, status = 200 "
        f"FROM {tx.dialect.rows('rows', [('id', 'BIGINT'), ('state', 'TEXT'), ('reason', 'TEXT')])} AS r "
        "WHERE pages.id = r.id",
        rows=pack(moved),
    )
    records = [(run_id, page.id, 0, RECORD % (page.id, page.id, "words " * 40)) for page in fresh]
    tx.insert("records", ("run_id", "page_id", "ordinal", "data"), records, conflict="(page_id, ordinal) DO NOTHING")


def _state(number: int) -> tuple[str, str | None]:
    return next((state, reason) for every, state, reason in STATES if number % every == 0)


def _last_page(tx: Tx) -> int:
    return int(tx.value("SELECT coalesce(max(id), 0) FROM pages"))


def _add_events(tx: Tx, run_id: str, chunk: range) -> None:
    happened = [
        Event("Retry scheduled", Level.WARN if number % 100 == 0 else Level.INFO, {"page": number, "delay": 10.0})
        for number in chunk
    ]
    events.append(tx, run_id, chunk.start, happened, BEGAN + chunk.start)


def _add_up(tx: Tx, run_id: str, many: int) -> None:
    tx.execute(
        "UPDATE runs SET total = :many, done = :many, records = :many, last_event = :many WHERE id = :id",
        id=run_id,
        many=many,
    )
    refresh_stands(tx, [(run_id, HOST)])
