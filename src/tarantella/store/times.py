"""When a machine's clock is set, what was to happen later must neither happen at once nor wait for hours."""

from __future__ import annotations

from tarantella.store.dialect.contract import Point
from tarantella.store.tx import Tx, pack

# Less is not worth the trouble, and may be the time between two beats.
TOLERANCE = 10.0

# In the order in which a settle locks them.
_WAITS = (
    ("pages", "id", "state = 'pending'", ("next_at",)),
    ("lanes", "name", "true", ("not_before", "breaker_open_until")),
)


def follow_clock(tx: Tx, host: str, now: float, *, worker_id: str | None = None, elapsed: float = 0.0) -> float:
    """Move what lies ahead by as much as this machine's clock was set since somebody here last beat.

    A worker says how long ago its own last beat was. Who isn't one yet can only see that others beat in what is now the
    future. Whoever notices first does it for all: the beats tell whether somebody has.
    """
    if not _jump(tx, host, now, worker_id, elapsed):
        return 0.0
    # Two may notice at the same moment: who comes second finds the beat of the first. It comes before everything else that
    # is held: who waits here must not hold what the other one needs.
    tx.serialise(Point.CLOCK)
    tx.all(f"SELECT id FROM workers WHERE host = :host ORDER BY id {tx.dialect.for_update}", host=host)
    jump = _jump(tx, host, now, worker_id, elapsed)
    if not jump:
        return 0.0
    was_put_back = jump < 0
    if was_put_back:
        _shorten_waits(tx, jump, now)
    held = _move_deadlines(tx, jump, now)
    _move_steps(tx, jump)
    if was_put_back:
        _recount_stands(tx, held)
        tx.execute("UPDATE workers SET beat_at = :now WHERE host = :host AND beat_at > :now", host=host, now=now)
    return jump


def _jump(tx: Tx, host: str, now: float, worker_id: str | None, elapsed: float) -> float:
    """By how much the clock was set, of which nobody has taken notice yet."""
    # The beats of who was declared dead are not written, so that others would move the same again.
    mine = "SELECT beat_at FROM workers WHERE id = :id AND dead_at IS NULL"
    own = tx.value(mine, id=worker_id) if worker_id is not None else _latest_beat(tx, host) or None
    if own is None:
        return 0.0
    expected = own + elapsed
    jump: float = now - expected
    if jump < -TOLERANCE and _latest_beat(tx, host) > now + TOLERANCE:
        return jump
    if jump > TOLERANCE and worker_id is not None and _latest_beat(tx, host) <= expected + TOLERANCE:
        return jump
    return 0.0


def _latest_beat(tx: Tx, host: str) -> float:
    return float(tx.value("SELECT coalesce(max(beat_at), 0) FROM workers WHERE host = :host", host=host))


def _shorten_waits(tx: Tx, jump: float, now: float) -> None:
    for table, key, which, columns in _WAITS:
        ahead = f"{which} AND ({' OR '.join(f'{column} > :now' for column in columns)})"
        tx.all(f"SELECT {key} FROM {table} WHERE {ahead} ORDER BY {key} {tx.dialect.for_update}", now=now)
        for column in columns:
            tx.execute(
                f"UPDATE {table} SET {column} = {column} + :jump WHERE {which} AND {column} > :now", jump=jump, now=now
            )


def _move_deadlines(tx: Tx, jump: float, now: float) -> list[str]:
    """A wait that ends early does no harm; a deadline that does would cost the rest of the run. Gives the runs, now held."""
    live = tx.all(f"SELECT id FROM runs WHERE finished_at IS NULL ORDER BY id {tx.dialect.for_update}")
    tx.execute(
        "UPDATE runs SET deadline_at = deadline_at + :jump WHERE finished_at IS NULL AND deadline_at > :since",
        jump=jump,
        since=min(now, now - jump),
    )
    return [run.id for run in live]


def _move_steps(tx: Tx, jump: float) -> None:
    """Steps of workflows that are being executed: none has taken longer, or less, than it did. Behind the runs, as in a cancel."""
    under_way = "status IN ('queued', 'retrying', 'running') AND status = 'running'"
    tx.all(f"SELECT id FROM workflow_tasks WHERE {under_way} ORDER BY id {tx.dialect.for_update}")
    tx.execute(
        "UPDATE workflow_tasks SET started_at = started_at + :jump, deadline_at = deadline_at + :jump "
        f"WHERE {under_way}",
        jump=jump,
    )


def _recount_stands(tx: Tx, held: list[str]) -> None:
    """In a statement of its own, after the runs are held: it sees what others did to them, and nobody does more."""
    tx.execute(
        "UPDATE stands SET ready_at = (SELECT min(p.next_at) FROM pages AS p "
        "WHERE p.state = 'pending' AND p.lane = stands.lane AND p.run_id = stands.run_id) "
        f"WHERE run_id IN (SELECT value FROM {tx.dialect.values('runs')} AS r)",
        runs=pack(held),
    )
