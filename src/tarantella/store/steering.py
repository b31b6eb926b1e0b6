"""What people want of a run: a pause, to go on, an end, its failed pages again. What is wanted becomes actual by itself."""

from __future__ import annotations

from collections.abc import Iterable

from tarantella.domain.errors import Conflict
from tarantella.domain.event import RUN_PAUSED, RUN_REQUEUED, RUN_RESUMED, Event, Level
from tarantella.domain.run import RunStatus, Wanted
from tarantella.store import admission, events, retrying
from tarantella.store.runs import INTERRUPTED, SUBMITTING, Run, check_keeper, get, lock, whole
from tarantella.store.tx import Tx


def want_pause(tx: Tx, run_id: str, *, why: str, max_running: int, now: float) -> RunStatus:
    """Ask for a pause. It is actual when nobody holds a slot of the run any more."""
    run = whole(tx, run_id)
    if run.is_over:
        raise Conflict(f"The run is already {run.status}.", remedy="There is nothing to pause.")
    if run.wanted is Wanted.CANCEL:
        raise Conflict("The run is being cancelled.", remedy="There is nothing to pause.")
    if run.status is RunStatus.PAUSED:
        return run.status
    tx.execute("UPDATE runs SET wanted = 'pause', reason = :why WHERE id = :id", id=run_id, why=why)
    return settle_pause(tx, run_id, max_running=max_running, now=now)


def settle_pause(tx: Tx, run_id: str, *, max_running: int, now: float) -> RunStatus:
    """Make a wanted pause actual if nothing of the run is in flight."""
    settle_pauses(tx, [run_id], max_running=max_running, now=now)
    return get(tx, run_id).status


def settle_pauses(tx: Tx, run_ids: Iterable[str], *, max_running: int, now: float) -> None:
    """The same for some of them; their slots are given away once, when no run's row has to be waited for any more."""
    paused = [_pause(tx, run, now) for run in lock(tx, run_ids)]
    if any(paused):
        admission.admit(tx, max_running, now)


def _pause(tx: Tx, run: Run, now: float) -> bool:
    if run.wanted is not Wanted.PAUSE or run.is_over or run.status is RunStatus.PAUSED or run.reason == SUBMITTING:
        return False
    if tx.value("SELECT count(*) FROM run_workers WHERE run_id = :run AND slots > 0", run=run.id):
        return False
    tx.execute("UPDATE runs SET status = 'paused', paused_at = :now WHERE id = :id", id=run.id, now=now)
    level = Level.WARN if run.reason == INTERRUPTED else Level.INFO
    events.record(tx, run.id, [Event(RUN_PAUSED, level, {"reason": run.reason, "pending": run.counts.pending})], now)
    return True


def resume(tx: Tx, run_id: str, *, keeper: str | None, max_running: int, now: float) -> RunStatus:
    """Let a paused run go on; its deadline moves by as long as it was paused."""
    check_keeper(tx, keeper)
    run = whole(tx, run_id)
    if run.is_over:
        raise Conflict(
            f"The run is already {run.status}.",
            remedy=f"`tarantella runs retry-failed {run_id}` tries its failed pages again.",
        )
    if run.wanted is Wanted.CANCEL:
        raise Conflict("The run is being cancelled.", remedy="`retry-failed` brings it back afterwards.")
    if run.keeper is not None and run.keeper != keeper:
        who = tx.first("SELECT host, pid FROM workers WHERE id = :id", id=run.keeper)
        told = f": process {who.pid} on {who.host}" if who is not None else ""
        raise Conflict(f"Another command is working on this run{told}.", remedy="Wait for it, or stop it first.")
    paused_for = now - run.paused_at if run.paused_at is not None else 0.0
    tx.execute(
        "UPDATE runs SET wanted = 'run', status = CASE WHEN status = 'paused' THEN 'queued' ELSE status END, "
        "reason = CASE WHEN status = 'running' THEN NULL ELSE :why END, paused_at = NULL, deadline_at = deadline_at + :paused, keeper = :keeper WHERE id = :id",
        id=run_id,
        why=admission.WAITS_FOR_A_SLOT.format(limit=max_running),
        paused=max(0.0, paused_for),
        keeper=keeper,
    )
    if run.status is RunStatus.PAUSED or run.wanted is Wanted.PAUSE:
        events.record(tx, run_id, [Event(RUN_RESUMED, meta={"pending": run.counts.pending})], now)
    admission.admit(tx, max_running, now)
    return get(tx, run_id).status


def want_cancel(tx: Tx, run_id: str) -> RunStatus:
    """Ask for the end of a run; a closing does the rest. Asking twice is asking once."""
    run = whole(tx, run_id)
    if not run.is_over:
        tx.execute("UPDATE runs SET wanted = 'cancel' WHERE id = :id", id=run_id)
    return run.status


def retry_failed(tx: Tx, run_id: str, *, keeper: str | None, max_running: int, now: float) -> int:
    """Bring a run back for its failed pages, and those it had to leave; how many there are.

    The first of them are pending from this commit on, the others follow while the run works on these.
    """
    check_keeper(tx, keeper)
    run = whole(tx, run_id)
    if not run.is_over:
        goes_on = f"`tarantella runs resume {run_id}` goes on with it."
        waits = run.status is RunStatus.PAUSED or run.wanted is Wanted.PAUSE
        raise Conflict(
            f"The run is still {run.status}.", remedy=goes_on if waits else "Wait until it ends, or cancel it."
        )
    pages = run.counts.failed + run.counts.incomplete
    if not pages:
        return 0
    tx.execute(
        "UPDATE runs SET status = 'queued', wanted = 'run', reason = :why, finished_at = NULL, deadline_at = NULL, keeper = :keeper, "
        "failure_code = NULL, error_message = NULL, retries_below = :below WHERE id = :id",
        id=run_id,
        why=admission.WAITS_FOR_A_SLOT.format(limit=max_running),
        keeper=keeper,
        below=retrying.ABOVE_ALL,
    )
    retrying.go_on(tx, run_id, now)
    events.record(tx, run_id, [Event(RUN_REQUEUED, meta={"from": run.status, "pages": pages})], now)
    admission.admit(tx, max_running, now)
    return pages
