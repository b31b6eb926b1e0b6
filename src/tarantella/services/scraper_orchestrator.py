"""A queue of scrapers from Python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from tarantella.domain.errors import InvalidInput
from tarantella.domain.gap import PRIORITIES
from tarantella.domain.run import Priority
from tarantella.services import filling, gaps_file, queue, scrapers_file
from tarantella.services.app import App
from tarantella.services.python_options import path_of


class QueueOrchestrator:
    """Fills the gaps of one file. What is completed stays so, whatever dies: run it again, and it goes on."""

    open_app: ClassVar[Callable[..., App]]  # by bootstrap

    def __init__(
        self,
        task_queue_file: str | Path = gaps_file.USUAL,
        scraper_config_file: str | Path = scrapers_file.USUAL,
        max_concurrent: int = filling.USUAL_AT_ONCE,
        dry_run: bool = False,
        *,
        data_dir: str | Path | None = None,
        database_url: str | None = None,
    ) -> None:
        if isinstance(max_concurrent, bool) or not isinstance(max_concurrent, int) or not 1 <= max_concurrent <= 1_000:
            told = f"max_concurrent is {max_concurrent!r}, not a whole number from 1 to 1000."
            raise InvalidInput(told, field="max_concurrent", limit=1_000)
        self.task_queue_file = Path(task_queue_file)
        self.scraper_config_file = Path(scraper_config_file)
        self.max_concurrent = max_concurrent
        self.dry_run = dry_run
        self._place = {"data_dir": path_of(data_dir, "data_dir"), "database_url": database_url}

    def load_task_queue(self) -> list[dict[str, Any]]:
        """The tasks of the file that can be understood, as they stand there."""
        return [gap.to_json() for gap in gaps_file.read_gaps_file(self.task_queue_file).gaps]

    def run(self, priority: str | None = None) -> dict[str, Any]:
        """Fill what is to be filled, and tell what came of it; with `dry_run`, what would be done."""
        return asyncio.run(self.run_async(priority))

    async def run_async(self, priority: str | None = None) -> dict[str, Any]:
        """The same inside an event loop."""
        chosen = _priority(priority)
        plan = queue.make_plan(self.task_queue_file, self.scraper_config_file)
        if self.dry_run:
            return plan.to_json(chosen)
        app = type(self).open_app(**self._place)
        try:
            summary = await filling.fill(app, plan, priority=chosen, at_once=self.max_concurrent)
        finally:
            app.close()
        return summary.to_json(plan)


def _priority(name: str | None) -> Priority | None:
    if name is None:
        return None
    if not isinstance(name, str) or name.upper() not in PRIORITIES:
        remedy = f"Take one of {', '.join(PRIORITIES)}."
        raise InvalidInput(f"There is no priority {name!r}.", field="priority", remedy=remedy)
    return PRIORITIES[name.upper()]
