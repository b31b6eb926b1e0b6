"""Whether the store takes what is written. That it can be read says nothing of it: its disk may be full, or its folder gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from tarantella.domain.errors import StoreBusy, StoreError
from tarantella.log import log
from tarantella.services.app import App
from tarantella.store.system import jot

TRIES_EVERY = 5.0  # seconds, however often somebody wants to know
LONGEST_TRY = 10.0  # seconds; others may be writing, and come first


class Writing:
    """Tries it now and then, with next to nothing."""

    def __init__(self, app: App, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._tried_at: float | None = None
        self._trying: asyncio.Task[None] | None = None
        self._refusal: StoreError | None = None

    async def refusal(self, within: float) -> StoreError | None:
        """Why nothing can be written now; None when it can, as far as that is known by then."""
        now = self._clock()
        if self._trying is None and (self._tried_at is None or now - self._tried_at >= TRIES_EVERY):
            self._tried_at = now
            self._trying = asyncio.create_task(self._try())
        if self._trying is not None:
            await asyncio.wait({self._trying}, timeout=within)
        waited = self._clock() - (self._tried_at or now)
        if self._trying is not None and waited > LONGEST_TRY:
            return StoreBusy(
                f"{self._app.database.dialect.told} has taken nothing in for {waited:.0f} s.",
                remedy="See whether its disk or its server answers, and who else holds it.",
            )
        return self._refusal

    def close(self) -> None:
        if self._trying is not None:
            self._trying.cancel()

    async def _try(self) -> None:
        try:
            await self._app.database.write(jot, name="probe")
            self._refusal = None
        except StoreError as error:
            self._refusal = error
        except Exception as error:
            log.exception("Writing could not be tried", action="try_failed", error=str(error))
        finally:
            self._trying = None
