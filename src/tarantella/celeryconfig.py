"""What Celery's processes are made of. `queues/celery.py` names it, and Celery loads it by that name when a worker starts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tarantella.bootstrap import open_app
from tarantella.domain.errors import InvalidInput, StoreBusy
from tarantella.queues.celery import configuration
from tarantella.services.resident import Resident
from tarantella.settings import load
from tarantella.store import schema

_settings = load()


def _check() -> None:
    """A worker refuses a database that it does not know, and says so; one that is away it waits for."""
    if _settings.broker_url is None:
        raise InvalidInput("There is no broker.", field="broker_url", remedy="Set TARANTELLA_BROKER_URL to redis://….")
    with suppress(StoreBusy):
        schema.prepare(_settings.database)


def _resident(node: str | None) -> Resident:
    return Resident(lambda: open_app(_settings, node=node), grace=_settings.drain_seconds)


CONFIGURATION: dict[str, Any] = {
    **configuration(_settings.broker_url, _settings.result_backend, drain_seconds=_settings.drain_seconds),
    "tarantella_check": _check,
    "tarantella_resident": _resident,
}
