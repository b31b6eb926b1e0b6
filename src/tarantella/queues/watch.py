"""Looks after the child processes of a worker while Celery waits for its broker.

Celery does both in one thread: while a broker is away, or there and silent, it would replace no child that dies, and
hear of no stop.
"""

from __future__ import annotations

import os
import signal
from typing import Any, ClassVar

from celery import bootsteps
from celery.worker import state

from tarantella.log import log

LOOKS_EVERY = 1.0
# So many looks without a sign of Celery's loop are a wait; what takes a moment is left alone. Looks and not seconds: while
# the machine is suspended nobody looks.
WAITS_AFTER = 5


class Watch(bootsteps.StartStopStep):  # type: ignore[misc]
    """A look every second, from a signal's handler: whatever Celery's thread waits for, that is heard."""

    # Started after the pool, and so stopped before it: once the pool is told to end, all is well. What talks to the broker ends earlier.
    requires: ClassVar[set[str]] = {"celery.worker.components:Pool"}

    def __init__(self, worker: Any, **_: object) -> None:
        self._waits = self._stops = 0

    def start(self, worker: Any) -> None:
        if worker.hub is not None:
            worker.hub.on_tick.add(self._tick)
            signal.signal(signal.SIGALRM, lambda *_: self._look(worker))
            signal.setitimer(signal.ITIMER_REAL, LOOKS_EVERY, LOOKS_EVERY)

    def stop(self, worker: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    terminate = stop

    def _tick(self) -> None:
        self._waits = 0

    def _look(self, worker: Any) -> None:
        self._waits += 1
        self._stops += state.should_stop is not None
        try:
            if self._stops >= WAITS_AFTER:
                self._end(worker)
            elif self._waits >= WAITS_AFTER:
                worker.pool.maintain_pool()
        except Exception as error:
            # It would come up in the middle of whatever Celery is doing.
            log.exception("A look at the child processes went wrong", action="watch_failed", error=str(error))

    def _end(self, worker: Any) -> None:
        """Let the children finish, and leave without a word to the broker: what it has not heard of, it delivers again."""
        self.stop(worker)
        log.warning("The broker is not waited for; the worker ends without it", action="broker_left")
        worker.pool.stop()
        os._exit(int(state.should_stop or 0))
