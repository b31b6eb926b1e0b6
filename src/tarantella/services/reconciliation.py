"""Closes the loop: looks again for what is missing, so that what was filled is no gap any more."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen
from tarantella.log import log
from tarantella.services import expectation_file, gaps, gaps_file, queue
from tarantella.services.app import App
from tarantella.services.queue import TakenIn


class Looking(Frozen):
    """Where to look, for what, and what is written."""

    expected: Path | None = None  # without it, where such files usually are
    inventory: str = "."
    output: Path = gaps_file.USUAL

    @property
    def is_possible(self) -> bool:
        """Whether anybody has said what should be there."""
        return self.expected is not None or expectation_file.usual_file() is not None


class Reconciled(Frozen):
    """What a look brought."""

    missing: int
    taken: TakenIn | None  # what it means for the queue; None where it could not be looked at everywhere
    problems: tuple[str, ...]


async def reconcile(app: App, looking: Looking) -> Reconciled:
    """Scan, write the gaps, and take them in. Raises InvalidInput where nobody can say what is expected."""
    now = datetime.now(ZoneInfo(app.settings.timezone))
    found = await asyncio.to_thread(partial(gaps.scan, looking.expected, looking.inventory, now))
    problems = tuple(found.problems)
    if not await asyncio.to_thread(partial(gaps.write_scan, found, looking.output)):
        log.warning("The inventory can't be looked at everywhere; the gaps stay as they were", action="unreconciled")
        return Reconciled(len(found.gaps), None, problems)
    taken = await queue.take_in_file(app, looking.output)
    log.info("The gaps were looked at again", action="reconciled", missing=len(found.gaps), gone=taken.gone)
    return Reconciled(len(found.gaps), taken, problems)


def check(looking: Looking) -> None:
    """Raise InvalidInput where nothing is expected, or the file that says it can't be understood."""
    if not looking.is_possible:
        raise InvalidInput("Nobody has said what should be there.", remedy="docs/gaps.md tells how.", field="expected")
    expectation_file.read_expectations(looking.expected)
