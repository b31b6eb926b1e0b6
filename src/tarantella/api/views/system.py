"""The whole, as clients see it."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field

from tarantella import __version__
from tarantella.api.views.base import Told, moment
from tarantella.api.views.workers import WorkerView
from tarantella.domain.url import redact
from tarantella.services.supervisor import Engine, Supervisor
from tarantella.services.system import System
from tarantella.settings import Settings


class EngineView(Told):
    """A child of this server."""

    number: int
    pid: int | None
    state: str = Field(description="`starting`, `running`, `waiting` (for its next start) or `stopped`.")
    condition: str | None = Field(description="As its worker's, once it has one.")
    restarts: int = Field(description="How often it had to be started again.")
    last_end: str | None = Field(description="How it ended the last time, if it did.")

    @classmethod
    def of(cls, engine: Engine) -> Self:
        return cls(
            number=engine.number,
            pid=engine.pid,
            state=engine.state.value,
            condition=engine.condition.value if engine.condition is not None else None,
            restarts=engine.restarts,
            last_end=engine.last_end,
        )


class CapacityView(Told):
    """How many runs may run at the same time."""

    max_concurrent_tasks: int
    running: int
    free: int = Field(description="How many more could run now.")
    queued: int
    paused: int
    at_capacity: bool


class LanesView(Told):
    """Hosts, by what they are doing."""

    known: int = Field(description="Hosts that runs have been at.")
    owned: int = Field(description="Of them, those that a worker works on.")
    waiting: int = Field(description="Those that asked to be left alone for a while.")
    broken: int = Field(description="Those whose breaker is not closed.")
    paused: int = Field(description="Those that are paused by their policy.")


class QueueView(Told):
    """What waits."""

    pending_pages: int = Field(description="Pages that are still to be fetched, of all runs that are not over.")
    oldest_queued_seconds: float | None = Field(
        description="For how long the oldest run that has not begun has waited."
    )


class SchedulesView(Told):
    """Jobs that run by themselves."""

    active: int
    paused: int
    overdue: int = Field(description="Those whose time has come, and of which nothing has come yet.")
    late_seconds: float = Field(description="For how long the one of them has waited that has waited longest.")


class WaitingView(Told):
    """A run that waits, and why."""

    run_id: str
    status: str
    reason: str | None = Field(description="Why it waits.")
    waiting_seconds: float
    pending_pages: int


class BrokerView(Told):
    """How word of new runs gets to workers of other machines."""

    url: str
    answers: bool = Field(description="Whether it answers. While it does not, workers look for work by themselves.")
    waiting_messages: int | None = Field(description="Messages that nobody has taken yet.")
    trouble: str | None = Field(description="Why it does not answer.")


class SystemView(Told):
    """Everything at a glance."""

    version: str
    started_at: datetime = Field(description="When this server was started.")
    uptime_seconds: float
    database: str = Field(description="`sqlite` or `postgresql`.")
    capacity: CapacityView
    runs: dict[str, int] = Field(description="How many runs there are, by status.")
    queue: QueueView
    lanes: LanesView
    schedules: SchedulesView
    workflows: dict[str, int] = Field(description="How many workflows there are, by status.")
    broker: BrokerView | None = Field(description="The broker, where there is one.")
    engines: list[EngineView] = Field(description="The children of this server.")
    workers: list[WorkerView] = Field(description="Everybody who works on this database.")
    waiting: list[WaitingView] = Field(description="The first 100 runs that wait, those that are next first.")

    @classmethod
    def of(
        cls, found: System, supervisor: Supervisor | None, settings: Settings, now: float, started_at: float
    ) -> Self:
        runs, oldest = found.census.runs, found.census.oldest_queued_at
        running, limit = runs.get("running", 0), settings.max_concurrent_tasks
        lanes = found.census.lanes
        return cls(
            version=__version__,
            started_at=moment(started_at),
            uptime_seconds=round(max(0.0, now - started_at), 3),
            database="postgresql" if settings.database_url else "sqlite",
            capacity=CapacityView(
                max_concurrent_tasks=limit,
                running=running,
                free=max(0, limit - running),
                queued=runs.get("queued", 0),
                paused=runs.get("paused", 0),
                at_capacity=running >= limit,
            ),
            runs=runs,
            queue=QueueView(
                pending_pages=found.census.pending_pages,
                oldest_queued_seconds=None if oldest is None else round(max(0.0, now - oldest), 3),
            ),
            lanes=LanesView(
                known=lanes.known, owned=lanes.owned, waiting=lanes.waiting, broken=lanes.broken, paused=lanes.paused
            ),
            schedules=SchedulesView(
                active=found.census.schedules.active,
                paused=found.census.schedules.paused,
                overdue=found.census.schedules.overdue,
                late_seconds=round(found.census.schedules.late_seconds, 3),
            ),
            workflows=found.workflows,
            broker=None
            if found.broker is None
            else BrokerView(
                url=found.broker.url,
                answers=found.broker.trouble is None,
                waiting_messages=found.broker.messages,
                trouble=found.broker.trouble,
            ),
            engines=[EngineView.of(engine) for engine in supervisor.engines] if supervisor is not None else [],
            workers=[WorkerView.of(worker, now) for worker in found.workers],
            waiting=[
                WaitingView(
                    run_id=run["id"],
                    status=run["status"],
                    reason=redact(run["reason"]) if run["reason"] else None,
                    waiting_seconds=round(max(0.0, now - (run["paused_at"] or run["created_at"])), 3),
                    pending_pages=run["pending"],
                )
                for run in found.waiting
            ],
        )
