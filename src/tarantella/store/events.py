"""The history of a run: numbered, append-only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from tarantella.domain.event import STRATEGY_MISSING, Event, Level
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx, pack

_COLUMNS = [
    ("run_id", "TEXT"),
    ("sequence", "BIGINT"),
    ("id", "TEXT"),
    ("level", "TEXT"),
    ("message", "TEXT"),
    ("meta", "TEXT"),
    ("created_at", "DOUBLE PRECISION"),
]
ONCE = frozenset({STRATEGY_MISSING})  # what a run says only once
TROUBLE = (str(Level.WARN), str(Level.ERROR))


def append(tx: Tx, run_id: str, last: int, events: Sequence[Event], now: float) -> int:
    """Number these events after the last one and store them. The caller holds the run's row, so numbers have no gaps."""
    if any(event.message in ONCE for event in events):
        events = _not_told_yet(tx, run_id, events)
    if not events:
        return last
    tx.execute(
        "INSERT INTO run_events (run_id, sequence, id, level, message, meta, created_at) "
        f"SELECT * FROM {tx.dialect.rows('rows', _COLUMNS)} AS r",
        rows=pack(_rows(run_id, last, events, now)),
    )
    return last + len(events)


def _not_told_yet(tx: Tx, run_id: str, events: Sequence[Event]) -> list[Event]:
    """Without what the run has said already, whoever said it."""
    told = set()
    rest = []
    for event in events:
        if event.message in ONCE:
            known = "SELECT 1 FROM run_events WHERE run_id = :run AND message = :message LIMIT 1"
            if event.message in told or tx.value(known, run=run_id, message=event.message) is not None:
                continue
            told.add(event.message)
        rest.append(event)
    return rest


def begin(tx: Tx, histories: Iterable[tuple[str, Sequence[Event], float]]) -> None:
    """Store the first events of runs that are new."""
    append_some(tx, [(run_id, 0, said, now) for run_id, said, now in histories])


def append_some(tx: Tx, histories: Iterable[tuple[str, int, Sequence[Event], float]]) -> None:
    """Store events of many runs, each behind the last one of its run; whoever calls writes down which is the last now."""
    rows = [row for run_id, last, said, now in histories for row in _rows(run_id, last, said, now)]
    names = [name for name, _ in _COLUMNS]
    tx.insert("run_events", names, rows, conflict="(run_id, sequence) DO NOTHING")


def _rows(run_id: str, last: int, events: Sequence[Event], now: float) -> list[tuple[Any, ...]]:
    return [
        (run_id, last + i, new_id(), event.level, event.message, orjson.dumps(dict(event.meta)).decode(), now)
        for i, event in enumerate(events, 1)
    ]


def record(tx: Tx, run_id: str, events: Sequence[Event], now: float) -> None:
    """Append events to a run whose row nobody else is updating in this transaction."""
    last = tx.value(f"SELECT last_event FROM runs WHERE id = :id {tx.dialect.for_update}", id=run_id)
    tx.execute(
        "UPDATE runs SET last_event = :last WHERE id = :id", id=run_id, last=append(tx, run_id, last, events, now)
    )


def listed(
    tx: Tx, run_id: str, *, after: int = 0, limit: int = 100, level: Level | None = None
) -> list[dict[str, Any]]:
    """A page of a run's history, oldest first."""
    which = f" AND level = '{Level(level)}'" if level else ""
    if level in TROUBLE:
        which += f" AND level IN {TROUBLE}"  # word for word as in their index, which is used only then
    rows = tx.all(
        "SELECT sequence, id, level, message, meta, created_at FROM run_events "
        f"WHERE run_id = :run AND sequence > :after{which} ORDER BY sequence LIMIT :limit",
        run=run_id,
        after=after,
        limit=limit,
    )
    return [
        {
            "run_id": run_id,
            "sequence": sequence,
            "id": id_,
            "level": level_,
            "message": message,
            "meta": orjson.loads(meta),
            "created_at": created_at,
        }
        for sequence, id_, level_, message, meta, created_at in rows
    ]
