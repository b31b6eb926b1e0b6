"""Processes that own lanes: a row each, with a beat that others watch."""

from __future__ import annotations

from collections.abc import Sequence

from tarantella.domain.errors import WorkerDead
from tarantella.domain.run import Wanted
from tarantella.domain.struct import Frozen
from tarantella.domain.vitals import NOTHING_TO_DO, Vitals
from tarantella.store import admission, runs, steering
from tarantella.store.connection import Row
from tarantella.store.runs import INTERRUPTED as INTERRUPTED
from tarantella.store.tx import Tx, pack


class WorkerInfo(Frozen):
    """Who a worker is."""

    id: str
    serves: str | None
    host: str
    pid: int
    version: str
    node: str | None = None  # Celery's name for the worker that it is a child of
    has: Sequence[str] = ()  # the strategies that it can use


def register(tx: Tx, worker: WorkerInfo, now: float) -> None:
    tx.execute(
        "INSERT INTO workers (id, serves, host, pid, version, node, has, started_at, beat, beat_at, hungry) "
        "VALUES (:id, :serves, :host, :pid, :version, :node, :has, :now, 0, :now, 1)",
        id=worker.id,
        serves=worker.serves,
        host=worker.host,
        pid=worker.pid,
        version=worker.version,
        node=worker.node,
        has=pack(sorted(worker.has)),
        now=now,
    )


def beat(tx: Tx, worker_id: str, hungry: bool, now: float, vitals: Vitals = NOTHING_TO_DO) -> bool:
    """Say that this worker lives; False when it was declared dead meanwhile."""
    return (
        tx.execute(
            "UPDATE workers SET beat = beat + 1, beat_at = :now, hungry = :hungry, work = :work, progress = :progress, "
            "in_flight = :in_flight, patience = :patience, lanes = :lanes, memory = :memory, rate = :rate, "
            "progress_at = :progress_at WHERE id = :id AND dead_at IS NULL",
            id=worker_id,
            hungry=int(hungry),
            work=vitals.work,
            progress=vitals.progress,
            in_flight=vitals.in_flight,
            patience=vitals.patience,
            lanes=vitals.lanes,
            memory=vitals.memory,
            rate=vitals.rate,
            progress_at=vitals.progress_at,
            now=now,
        )
        == 1
    )


def check_alive(tx: Tx, worker_id: str) -> None:
    """Refuse to go on for a worker that was declared dead: what it owned belongs to others now."""
    row = tx.first(f"SELECT dead_at FROM workers WHERE id = :id {tx.dialect.for_update}", id=worker_id)
    if row is None or row.dead_at is not None:
        raise WorkerDead("This process was declared dead while it did not answer; its work goes on elsewhere.")


def alive(tx: Tx) -> Sequence[Row]:
    return tx.all(
        "SELECT id, serves, host, pid, version, node, has, started_at, beat, beat_at, hungry, work, progress, in_flight, patience, "
        "lanes, memory, rate, progress_at FROM workers WHERE dead_at IS NULL"
    )


def has_work(tx: Tx, worker_id: str) -> None:
    """It is not hungry any more: others need not wait for its beat to know."""
    tx.execute("UPDATE workers SET hungry = 0 WHERE id = :id AND hungry = 1", id=worker_id)


def retire(tx: Tx, worker_id: str, *, max_running: int, now: float) -> None:
    """A clean end: everything was settled, so the lanes are simply free again."""
    _bury(tx, worker_id, unclean=False, max_running=max_running, now=now)


def declare_dead(tx: Tx, worker_id: str, *, max_running: int, now: float) -> None:
    """Somebody saw that it no longer lives. From here on its settles are refused, and its lanes can be taken."""
    _bury(tx, worker_id, unclean=True, max_running=max_running, now=now)


def _bury(tx: Tx, worker_id: str, *, unclean: bool, max_running: int, now: float) -> None:
    died = tx.execute("UPDATE workers SET dead_at = :now WHERE id = :id AND dead_at IS NULL", id=worker_id, now=now)
    if not died:
        return
    tx.execute(
        "UPDATE lanes SET owner = NULL, unclean_deaths = unclean_deaths + :unclean WHERE owner = :id",
        id=worker_id,
        unclean=int(unclean),
    )
    _interrupt_workflows(tx, worker_id, now)
    concerned = tx.all(
        "SELECT run_id AS id FROM run_workers WHERE worker_id = :id UNION SELECT id FROM runs WHERE keeper = :id",
        id=worker_id,
    )
    held = runs.lock(tx, [run.id for run in concerned])
    tx.execute("DELETE FROM run_workers WHERE worker_id = :id", id=worker_id)
    for run in held:
        if run.keeper == worker_id:
            _interrupt(tx, run)
    # A pause may have waited for nobody else, whoever asked for it.
    steering.settle_pauses(tx, [run.id for run in held], max_running=max_running, now=now)
    admission.admit(tx, max_running, now)


def _interrupt_workflows(tx: Tx, worker_id: str, now: float) -> None:
    if tx.value("SELECT 1 FROM workflow_states WHERE keeper IS NOT NULL AND keeper = :id LIMIT 1", id=worker_id):
        from tarantella.store import workflows  # nearly no worker has any

        workflows.interrupt(tx, worker_id, now)


def _interrupt(tx: Tx, run: runs.Run) -> None:
    """A run of a command that is gone should wait until somebody resumes it."""
    if run.is_over or run.wanted is Wanted.CANCEL or run.reason == runs.SUBMITTING:
        return
    tx.execute(
        "UPDATE runs SET wanted = 'pause', reason = CASE WHEN wanted = 'pause' THEN reason ELSE :why END, keeper = NULL "
        "WHERE id = :id",
        id=run.id,
        why=INTERRUPTED,
    )


def forget_old(tx: Tx, before: float) -> int:
    """Remove the rows of workers that ended long ago."""
    return tx.execute("DELETE FROM workers WHERE dead_at < :before", before=before)
