"""Numbers for Prometheus: what all engines did, what there is, and how the API is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastapi import APIRouter, Response

from tarantella import __version__
from tarantella.api.plane import Plane, Wired
from tarantella.api.strict import StrictRoute
from tarantella.api.views.problem import problems
from tarantella.domain.run import RunStatus
from tarantella.domain.vitals import Condition
from tarantella.domain.workflow import WorkflowStatus
from tarantella.engine.counters import exposition
from tarantella.services import system
from tarantella.services.system import Broker, Workflows
from tarantella.store.system import Census

router = APIRouter(tags=["system"], route_class=StrictRoute)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
EXAMPLE = 'tarantella_pages_total{state="done",reason=""} 1024\n'


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    responses={
        200: {
            "description": "Prometheus' text format.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": EXAMPLE}},
        },
        **problems(503),
    },
)
async def metrics(plane: Wired) -> Response:
    """Counters of all engines and commands that work on this database, together, and gauges of what there is now.

    Labels are few: states, failure codes, routes, types of steps. No host, no run and no address is one.
    """
    seen, counted = await system.totals(plane.app)
    await plane.vigils.look()
    broker = await system.broker(plane.app)
    workflows = await system.workflows(plane.app)
    lines = [
        *exposition(counted),
        *_gauges(plane, seen),
        *_workflows(workflows),
        *_broker(broker),
        *plane.traffic.exposition(),
    ]
    return Response("\n".join(lines) + "\n", media_type=MEDIA_TYPE)


def _gauges(plane: Plane, seen: Census) -> Iterator[str]:
    now = plane.app.now()
    yield from _gauge("tarantella_info", "The version, as a label.", [(f'version="{__version__}"', 1)])
    runs = [(f'status="{status.value}"', seen.runs.get(status.value, 0)) for status in RunStatus]
    yield from _gauge("tarantella_runs", "Runs, by status.", runs)
    limit = plane.app.settings.max_concurrent_tasks
    yield from _gauge("tarantella_run_slots", "Runs that may run at the same time.", [("", limit)])
    yield from _gauge("tarantella_pending_pages", "Pages that are still to be fetched.", [("", seen.pending_pages)])
    oldest = 0.0 if seen.oldest_queued_at is None else max(0.0, now - seen.oldest_queued_at)
    yield from _gauge(
        "tarantella_queue_age_seconds", "How long the oldest run that has not begun has waited.", [("", oldest)]
    )
    lanes = seen.lanes
    hosts = [
        ('state="known"', lanes.known),
        ('state="owned"', lanes.owned),
        ('state="waiting"', lanes.waiting),
        ('state="broken"', lanes.broken),
        ('state="paused"', lanes.paused),
    ]
    yield from _gauge("tarantella_hosts", "Hosts, by what they are doing; one can be several.", hosts)
    kept = seen.schedules
    by_state = [('state="active"', kept.active), ('state="paused"', kept.paused)]
    yield from _gauge("tarantella_schedules", "Jobs that run by themselves.", by_state)
    yield from _gauge(
        "tarantella_schedule_late_seconds",
        "How long the time of a job has passed without anything coming of it.",
        [("", kept.late_seconds)],
    )
    conditions = [worker.condition for worker in plane.vigils.workers]
    workers = [(f'condition="{each.value}"', conditions.count(each)) for each in Condition]
    yield from _gauge("tarantella_workers", "Processes that work on runs, by how they get on.", workers)
    in_flight = sum(worker.vitals.in_flight for worker in plane.vigils.workers)
    yield from _gauge("tarantella_requests_in_flight", "Requests that workers wait for.", [("", in_flight)])
    memory = [worker.vitals.memory for worker in plane.vigils.workers]
    yield from _gauge("tarantella_worker_memory_bytes", "Memory of all workers together.", [("", sum(memory))])
    yield from _gauge(
        "tarantella_worker_memory_max_bytes", "Memory of the largest worker.", [("", max(memory, default=0))]
    )
    if plane.supervisor is not None:
        restarts = sum(engine.restarts for engine in plane.supervisor.engines)
        yield "# HELP tarantella_engine_restarts_total How often an engine of this server had to be started again."
        yield "# TYPE tarantella_engine_restarts_total counter"
        yield f"tarantella_engine_restarts_total {restarts}"


def _broker(broker: Broker | None) -> Iterator[str]:
    if broker is not None:
        up = broker.trouble is None
        yield from _gauge("tarantella_broker_up", "Whether the broker answers.", [("", int(up))])
        yield from _gauge(
            "tarantella_broker_messages", "Messages that nobody has taken yet.", [("", broker.messages or 0)]
        )


def _workflows(seen: Workflows) -> Iterator[str]:
    counts = [(f'status="{each.value}"', seen.counts.get(each.value, 0)) for each in WorkflowStatus]
    yield from _gauge("tarantella_workflows", "Workflows, by status.", counts)
    name = "tarantella_workflow_step_seconds"
    yield f"# HELP {name} How long steps of workflows took, by type and how they ended."
    yield f"# TYPE {name} summary"
    for task_type, status, number, seconds in seen.steps:
        labels = f'type="{_escaped(task_type)}",status="{status}"'
        yield f"{name}_sum{{{labels}}} {seconds:.3f}"
        yield f"{name}_count{{{labels}}} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"")


def _gauge(name: str, text: str, values: Sequence[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    for labels, value in values:
        yield f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"
