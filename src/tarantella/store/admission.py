"""Which runs may run: a few at a time, the oldest and most urgent first."""

from __future__ import annotations

import orjson

from tarantella.domain.event import RUN_STARTED, Event
from tarantella.domain.run import RunStatus
from tarantella.store import events
from tarantella.store.dialect.contract import Point
from tarantella.store.tx import Tx, pack

WAITS_FOR_A_SLOT = "waits for one of the {limit} runs before it to end"
WAITS_FOR_ITS_PAGES = "all its pages wait, for their next try or for their hosts"

# A page that is due is of no use while its host wants to be left alone. The OFFSET has it asked of one run after the other:
# PostgreSQL would go through the stands of all that are queued instead.
_COULD_WORK = (
    "SELECT 1 FROM stands JOIN lanes ON lanes.name = stands.lane WHERE stands.run_id = runs.id AND ready_at <= :now "
    "AND not_before <= :now AND (breaker_state <> 'open' OR breaker_open_until <= :now) "
    "AND coalesce(lanes.host, lanes.name) NOT IN (SELECT host FROM sites WHERE paused = 1) LIMIT 1 OFFSET 0"
)


def admit(tx: Tx, limit: int, now: float) -> list[str]:
    """Start as many queued runs as there are free slots; call it in every transaction that submits, ends or pauses one.

    Last in it: from here on nobody else is admitted before its end, so that no row may be waited for any more.
    """
    tx.serialise(Point.ADMISSION)
    free = limit - tx.value("SELECT count(*) FROM runs WHERE status = 'running'")
    if free <= 0:
        return []
    # One that gave its slot back because its pages wait comes again when the first of them is ready, or to be closed.
    ready = tx.all(
        "SELECT id, spec, started_at, deadline_at, last_event FROM runs WHERE status = 'queued' AND wanted = 'run' AND (reason <> :waits "
        f"OR reason IS NULL OR deadline_at <= :now OR EXISTS ({_COULD_WORK})) "
        # One that somebody else is changing is left to them, or to the next sweep.
        f"ORDER BY rank, id LIMIT :free {tx.dialect.for_update_of_free}",
        waits=WAITS_FOR_ITS_PAGES,
        now=now,
        free=free,
    )
    if not ready:
        return []
    started, rows = [], []
    for run in ready:
        spec = orjson.loads(run.spec)
        # The clock of the deadline starts with the first admission, not with the submission or the retry.
        deadline = run.deadline_at
        if deadline is None and spec["deadline_seconds"] is not None:
            deadline = now + spec["deadline_seconds"]
        said = [Event(RUN_STARTED, meta={"attempt": 1, "strategy": spec["strategy"]})] if run.started_at is None else []
        started.append((run.id, run.last_event, said, now))
        rows.append((run.id, deadline, run.last_event + len(said)))
    # All at once: where runs are small, hundreds are admitted in a second.
    tx.execute(
        "UPDATE runs SET status = :running, reason = NULL, started_at = coalesce(started_at, :now), "
        "deadline_at = r.deadline_at, last_event = r.last_event "
        f"FROM {tx.dialect.rows('rows', _ADMITTED)} AS r WHERE runs.id = r.id",
        running=RunStatus.RUNNING,
        now=now,
        rows=pack(rows),
    )
    events.append_some(tx, started)
    return [run.id for run in ready]


_ADMITTED = [("id", "TEXT"), ("deadline_at", "DOUBLE PRECISION"), ("last_event", "BIGINT")]


def yield_slots(tx: Tx, limit: int, now: float, patience: float = 30.0) -> list[str]:
    """Take the slot back from runs whose pages all wait, if somebody else could use it."""
    if not tx.first("SELECT 1 FROM runs WHERE status = 'queued' AND wanted = 'run' LIMIT 1"):
        return []
    waiting = tx.all(
        f"SELECT id FROM runs WHERE status = 'running' AND wanted = 'run' AND NOT EXISTS ({_COULD_WORK}) AND pending > 0 "
        # One whose time is up, or nearly, is about to end.
        f"AND (deadline_at IS NULL OR deadline_at > :now) ORDER BY id {tx.dialect.for_update_of_free}",
        now=now + patience,
    )
    for run in waiting:
        tx.execute(
            "UPDATE runs SET status = 'queued', reason = :why WHERE id = :id", why=WAITS_FOR_ITS_PAGES, id=run.id
        )
    return admit(tx, limit, now) if waiting else []
