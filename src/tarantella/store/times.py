"""When a machine's clock is set, what was to happen later must neither happen at once nor wait for hours."""

from __future__ import annotations

from tarantella.store.dialect.contract import Point
from tarantella.store.tx import Tx

# Less is not worth the trouble, and may be the time between two beats.
TOLERANCE = 10.0

_WAITS = (
    ("pages", "next_at", "state = 'pending'"),
    ("lanes", "not_before", "true"),
    ("lanes", "breaker_open_until", "true"),
)


def follow_clock(tx: Tx, host: str, now: float, *, worker_id: str | None = None, elapsed: float = 0.0) -> float:
    """Move what lies ahead by as much as this machine's clock was set since somebody here last beat.

    A worker says how long ago its own last beat was. Who isn't one yet can only see that others beat in what is now the
    future. Whoever notices first does it for all: the beats tell whether somebody has.
    """
    # The beats of who was declared dead are not written, so that others would move the same again.
    mine = f"SELECT beat_at FROM workers WHERE id = :id AND dead_at IS NULL {tx.dialect.for_update}"
    own = tx.value(mine, id=worker_id) if worker_id is not None else _latest_beat(tx, host) or None
    if own is None:
        return 0.0
    expected = own + elapsed
    jump: float = now - expected

    def was_put_back() -> bool:
        return jump < -TOLERANCE and _latest_beat(tx, host) > now + TOLERANCE

    def was_put_forward() -> bool:
        return jump > TOLERANCE and worker_id is not None and _latest_beat(tx, host) <= expected + TOLERANCE

    if not was_put_back() and not was_put_forward():
        return 0.0
    # Two may notice at the same moment: who comes second finds the beat of the first.
    tx.serialise(Point.CLOCK)
    if was_put_back():
        _shorten_waits(tx, jump, now)
        tx.execute("UPDATE workers SET beat_at = :now WHERE host = :host AND beat_at > :now", host=host, now=now)
    elif not was_put_forward():
        return 0.0
    # A wait that ends early does no harm. A deadline that does would cost the rest of the run.
    tx.execute(
        "UPDATE runs SET deadline_at = deadline_at + :jump WHERE finished_at IS NULL AND deadline_at > :since",
        jump=jump,
        since=min(now, expected),
    )
    return jump


def _latest_beat(tx: Tx, host: str) -> float:
    return float(tx.value("SELECT coalesce(max(beat_at), 0) FROM workers WHERE host = :host", host=host))


def _shorten_waits(tx: Tx, jump: float, now: float) -> None:
    for table, column, which in _WAITS:
        tx.execute(
            f"UPDATE {table} SET {column} = {column} + :jump WHERE {which} AND {column} > :now", jump=jump, now=now
        )
    tx.execute(
        "UPDATE stands SET ready_at = (SELECT min(p.next_at) FROM pages AS p "
        "WHERE p.state = 'pending' AND p.lane = stands.lane AND p.run_id = stands.run_id)"
    )
