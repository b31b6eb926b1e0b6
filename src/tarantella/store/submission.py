"""Runs that start from one address each, many stored with a few statements: hundreds may come in a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from tarantella.domain.event import RUN_CREATED, Event
from tarantella.domain.outcome import Link
from tarantella.domain.run import Counts, RunStatus, Wanted, admission_rank
from tarantella.domain.spec import Secrets, Spec
from tarantella.domain.struct import Frozen
from tarantella.store import admission, events, jobs, page_rows
from tarantella.store.runs import Run
from tarantella.store.stands import open_lanes
from tarantella.store.tx import Tx


class Submission(Frozen):
    """A run as somebody asked for it."""

    run_id: str
    spec: Spec
    start: Link
    source: str
    now: float
    job_id: str | None = None
    snapshot: Mapping[str, Any] | None = None
    requested_strategy: str | None = None
    resolved_strategy: str | None = None
    export_format: str | None = None
    why: str | None = None  # that strategy
    said: Sequence[Event] = ()  # what there is to say of it beside that it was created


def check(tx: Tx, new: Submission) -> None:
    """Refuse the run of a job that is gone; nobody deletes it before this transaction ends."""
    if new.job_id is not None:
        jobs.get(tx, new.job_id, tx.dialect.for_update)


def store(tx: Tx, batch: Sequence[Submission], *, max_running: int) -> None:
    """Write new runs, their first pages and the beginnings of their histories. Somebody must admit them afterwards."""
    if not batch:
        return
    tx.insert("runs", _COLUMNS, [_run(new, max_running) for new in batch], conflict="(id) DO NOTHING")
    starts = [
        row for new in batch for row in page_rows.start_pages(new.run_id, [new.start], new.spec.strategy, new.now)
    ]
    page_rows.insert_starts(tx, starts)
    open_lanes(tx, {new.start.lane for new in batch})
    stands = [(new.run_id, new.start.lane, new.now) for new in batch]
    tx.insert("stands", ("run_id", "lane", "ready_at"), stands, conflict="(run_id, lane) DO NOTHING")
    events.begin(tx, [(new.run_id, _said(new), new.now) for new in batch])


_COLUMNS = [
    *("id", "status", "wanted", "reason", "spec", "secrets", "roots", "rank", "total", "pending", "last_event"),
    *("created_at", "source", "job_id", "snapshot", "requested_strategy", "resolved_strategy", "max_attempts"),
    "export_format",
]


def _run(new: Submission, max_running: int) -> tuple[Any, ...]:
    spec = new.spec
    return (
        new.run_id,
        "queued",
        "run",
        _waits(max_running),
        orjson.dumps(spec.to_json()).decode(),
        orjson.dumps(spec.secrets_json()).decode() if spec.secrets != Secrets() else None,
        orjson.dumps([new.start.url]).decode(),
        admission_rank(new.now, spec.priority),
        1,
        1,
        1 + len(new.said),
        new.now,
        new.source,
        new.job_id,
        orjson.dumps(new.snapshot).decode() if new.snapshot is not None else None,
        new.requested_strategy,
        new.resolved_strategy,
        spec.attempts,
        new.export_format,
    )


def _said(new: Submission) -> list[Event]:
    meta: dict[str, Any] = {"resolved_strategy": new.resolved_strategy or new.spec.strategy, "start_urls": 1}
    if new.why is not None:
        meta["why"] = new.why
    return [Event(RUN_CREATED, meta=meta), *new.said]


def as_run(new: Submission) -> Run:
    """The run as it is when it has just been stored."""
    return Run(
        id=new.run_id,
        status=RunStatus.QUEUED,
        wanted=Wanted.RUN,
        reason=None,  # whether it has to wait is decided in the next moment
        spec=new.spec,
        roots=(new.start.url,),
        keeper=None,
        counts=Counts(total=1, pending=1),
        surplus=0,
        records=0,
        requests=0,
        bytes=0,
        refused={},
        last_event=1 + len(new.said),
        failure_code=None,
        error_message=None,
        created_at=new.now,
        started_at=None,
        paused_at=None,
        deadline_at=None,
        finished_at=None,
        source=new.source,
        job_id=new.job_id,
        snapshot=dict(new.snapshot) if new.snapshot is not None else None,
        requested_strategy=new.requested_strategy,
        resolved_strategy=new.resolved_strategy,
        export_format=new.export_format,
    )


def _waits(max_running: int) -> str:
    return admission.WAITS_FOR_A_SLOT.format(limit=max_running)
