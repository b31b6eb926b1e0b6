"""A run that starts from one address, stored whole with as few statements as that takes: hundreds come in a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tarantella.domain.event import RUN_CREATED, Event
from tarantella.domain.outcome import Link
from tarantella.domain.run import Counts, RunStatus, Wanted, admission_rank
from tarantella.domain.spec import Secrets, Spec
from tarantella.store import admission, events, jobs, page_rows
from tarantella.store.runs import Run
from tarantella.store.stands import open_lanes
from tarantella.store.tx import Tx


@dataclass(frozen=True, slots=True)
class Submission:
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
    said: Sequence[Event] = ()  # what there is to say of it beside that it was created


def store(tx: Tx, new: Submission, *, max_running: int) -> None:
    """Write a new run, its first page and the beginning of its history. Somebody must admit it afterwards."""
    spec, start = new.spec, new.start
    if new.job_id is not None:
        jobs.get(tx, new.job_id, tx.dialect.for_update)  # nobody deletes it meanwhile
    created = Event(RUN_CREATED, meta={"resolved_strategy": new.resolved_strategy or spec.strategy, "start_urls": 1})
    said = [created, *new.said]
    row = {
        "id": new.run_id,
        "reason": _waits(max_running),
        "spec": orjson.dumps(spec.to_json()).decode(),
        "secrets": orjson.dumps(spec.secrets_json()).decode() if spec.secrets != Secrets() else None,
        "roots": orjson.dumps([start.url]).decode(),
        "rank": admission_rank(new.now, spec.priority),
        "last_event": len(said),
        "created_at": new.now,
        "source": new.source,
        "job_id": new.job_id,
        "snapshot": orjson.dumps(new.snapshot).decode() if new.snapshot is not None else None,
        "requested_strategy": new.requested_strategy,
        "resolved_strategy": new.resolved_strategy,
        "max_attempts": spec.attempts,
        "export_format": new.export_format,
    }
    tx.execute(
        f"INSERT INTO runs (status, wanted, total, pending, {', '.join(row)}) "
        f"VALUES ('queued', 'run', 1, 1, {', '.join(f':{name}' for name in row)})",
        **row,
    )
    page_rows.insert_start(tx, new.run_id, start, spec.strategy, new.now)
    open_lanes(tx, [start.lane])
    tx.execute(
        "INSERT INTO stands (run_id, lane, ready_at) VALUES (:run, :lane, :now)",
        run=new.run_id,
        lane=start.lane,
        now=new.now,
    )
    events.append(tx, new.run_id, 0, said, new.now)


def as_run(new: Submission, *, max_running: int) -> Run:
    """The run as it is when it has just been stored."""
    return Run(
        id=new.run_id,
        status=RunStatus.QUEUED,
        wanted=Wanted.RUN,
        reason=_waits(max_running),
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
