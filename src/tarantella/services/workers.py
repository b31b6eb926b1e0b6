"""What a user asks of the fleet beside how it gets on, which `vigils.py` watches."""

from __future__ import annotations

from functools import partial

from tarantella.services.app import App
from tarantella.store import wakes as store
from tarantella.store.wakes import Woken


async def wakes(app: App, *, run_id: str | None, task_id: str | None, limit: int) -> list[Woken]:
    """Which messages woke whom, for a run, of a message, or the newest of all."""
    return await app.database.read(partial(store.listed, run_id=run_id, task_id=task_id, limit=limit))
