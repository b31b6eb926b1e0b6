"""Celery: a message says "look now" to whoever is free. It carries ids and nothing else; the database knows all the rest.

`celery -A tarantella.queues.celery worker` starts workers, as `tarantella worker` does. Each of Celery's child processes has an
engine that lives as long as the child; a message only wakes it. Celery finds what belongs to these processes by the name of
its configuration, so that nothing here has to know the parts that are wired there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ssl import CERT_REQUIRED
from typing import Any, Protocol

from celery import Celery, Task
from celery.signals import worker_init, worker_process_init, worker_process_shutdown
from kombu import Exchange, Queue

from tarantella.domain.errors import TarantellaError
from tarantella.queues.watch import Watch

CONFIGURATION = "tarantella.celeryconfig:CONFIGURATION"
QUEUE = "tarantella"
WAKE = "tarantella.wake"
# By the priority of a run. On Redis 0 is the most urgent, and what has no priority is taken for that.
PRIORITIES = (0, 3, 6, 9)
SEPARATOR = ":"


class Resident(Protocol):
    """What lives in a child process."""

    def start(self) -> None: ...

    def wake(self, task_id: str, run_ids: Sequence[str]) -> None: ...

    def stop(self) -> None: ...


def configuration(broker_url: str | None, result_backend: str | None = None, *, drain_seconds: float) -> dict[str, Any]:
    """What Celery is told. Nothing that matters rests on it, but it should not stand in the way either."""
    return {
        "broker_url": broker_url,
        # Celery would take any certificate. What the URL says of it comes first.
        "broker_use_ssl": {"ssl_cert_reqs": CERT_REQUIRED} if (broker_url or "").startswith("rediss://") else None,
        "result_backend": result_backend,
        "task_queues": [Queue(QUEUE, Exchange(""), routing_key=QUEUE)],
        "task_default_queue": QUEUE,
        "task_default_exchange": "",
        "task_default_routing_key": QUEUE,
        "task_create_missing_queues": False,
        # JSON, and only tasks that are registered: whoever reaches the broker can say "look now", and nothing else.
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        # A message is done with when the engine has been woken; it may be delivered twice, which wakes it twice.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "broker_transport_options": {
            # What is not acknowledged comes back after this time. Nobody waits for it: everybody looks once a second.
            "visibility_timeout": 3_600,
            "priority_steps": list(PRIORITIES),
            "sep": SEPARATOR,
            "queue_order_strategy": "priority",
            "socket_connect_timeout": 2,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_connection_timeout": 2,
        # Waking takes no time. Who takes long is stuck, and is replaced.
        "task_soft_time_limit": 30,
        "task_time_limit": 60,
        "worker_max_tasks_per_child": 10_000,
        "worker_soft_shutdown_timeout": drain_seconds,
        "worker_send_task_events": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "timezone": "UTC",
    }


def queue_key(priority: int) -> str:
    """Where Redis keeps the messages of a run's priority."""
    step = PRIORITIES[priority]
    return f"{QUEUE}{SEPARATOR}{step}" if step else QUEUE


def make_celery(config: Mapping[str, Any] | str) -> Celery:
    celery = Celery("tarantella", set_as_current=False)
    celery.config_from_object(config)
    celery.task(wake, name=WAKE, bind=True, shared=False)
    celery.steps["worker"].add(Watch)
    return celery


def wake(task: Task, *run_ids: str) -> None:
    """Somebody has submitted these runs, or wants something of them: look now."""
    if _resident is not None:
        _resident.wake(str(task.request.id), [str(run_id) for run_id in run_ids])


app = make_celery(CONFIGURATION)
_resident: Resident | None = None


def _refuse_what_can_not_be_served(**_: object) -> None:
    """In the parent, before there are children: what is wrong is said once, and nothing is begun."""
    try:
        app.conf.tarantella_check()
    except TarantellaError as error:
        # Celery would only note any other exception, and go on.
        raise SystemExit(f"error: {error}") from None


def _move_in(sender: str | None = None, **_: object) -> None:
    global _resident
    resident: Resident = app.conf.tarantella_resident(sender)
    resident.start()
    _resident = resident


def _move_out(**_: object) -> None:
    if _resident is not None:
        _resident.stop()


worker_init.connect(_refuse_what_can_not_be_served)
worker_process_init.connect(_move_in)
worker_process_shutdown.connect(_move_out)
