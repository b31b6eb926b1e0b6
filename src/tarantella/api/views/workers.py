"""The fleet, as clients see it."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field

from tarantella.api.views.base import Told, moment
from tarantella.services.vigils import Watched
from tarantella.store.wakes import Woken


class WorkerView(Told):
    """A process that works on runs: an engine of this or another server, a child of a worker, or a command."""

    id: str
    serves: str | None = Field(description="The one run that it works for; null when it works for all.")
    host: str = Field(description="The machine that it runs on.")
    pid: int
    node: str | None = Field(description="Celery's name for the worker that it is a child of, if it is one.")
    version: str
    strategies: list[str] = Field(description="How it can fetch pages.")
    started_at: datetime
    beat_at: datetime = Field(description="When it last gave a sign of life, by its own clock.")
    condition: str = Field(description="`idle`, `working`, `suspect` (it may stand still) or `stalled`.")
    trouble: str | None = Field(description="What makes it suspect, in words.")
    lanes: int = Field(description="Hosts that it works on.")
    in_flight: int = Field(description="Requests that it waits for.")
    work: int = Field(description="What it could be doing now; 0 when there is nothing to do.")
    progress: int = Field(description="Grows with whatever it gets done.")
    progress_at: datetime | None = Field(description="When it last got something done, by its own clock.")
    idle_seconds: float | None = Field(
        description="For how long it has got nothing done, whether or not there was work."
    )
    pages_per_second: float = Field(description="Between its last two signs of life.")
    memory_bytes: int

    @classmethod
    def of(cls, worker: Watched, now: float) -> Self:
        vitals = worker.vitals
        return cls(
            id=worker.id,
            serves=worker.serves,
            host=worker.host,
            pid=worker.pid,
            node=worker.node,
            version=worker.version,
            strategies=list(worker.has),
            started_at=moment(worker.started_at),
            beat_at=moment(worker.beat_at),
            condition=worker.condition.value,
            trouble=worker.trouble,
            lanes=vitals.lanes,
            in_flight=vitals.in_flight,
            work=vitals.work,
            progress=vitals.progress,
            progress_at=None if vitals.progress_at is None else moment(vitals.progress_at),
            idle_seconds=None if vitals.progress_at is None else round(max(0.0, now - vitals.progress_at), 3),
            pages_per_second=round(vitals.rate, 3),
            memory_bytes=vitals.memory,
        )


class WakeView(Told):
    """A message of Celery's, and whom it woke for what."""

    task_id: str = Field(description="Celery's id of the message.")
    run_id: str
    worker_id: str
    node: str | None
    host: str | None
    pid: int | None
    woken_at: datetime

    @classmethod
    def of(cls, woken: Woken) -> Self:
        return cls(
            task_id=woken.task_id,
            run_id=woken.run_id,
            worker_id=woken.worker_id,
            node=woken.node,
            host=woken.host,
            pid=woken.pid,
            woken_at=moment(woken.woken_at),
        )
