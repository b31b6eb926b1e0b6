"""The infrastructure from Python: what a `with` block needs is there while it lasts, and gone behind it."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from tarantella.infra.identity import Identity
from tarantella.infra.workers import USUAL_PROCESSES
from tarantella.services.infra import Infra
from tarantella.services.python_options import path_of
from tarantella.settings import load

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Orchestrator:
    """Starts Redis and Celery's workers where they do not run, watches them, and stops what it has started.

    Everything can be called any number of times: what runs is left alone. A process that dies without a word, by kill -9
    say, leaves its own behind; the next one on the same data directory ends those first.
    """

    def __init__(
        self,
        *,
        data_dir: str | Path | None = None,
        database_url: str | None = None,
        broker_url: str | None = None,
        processes: int = USUAL_PROCESSES,
    ) -> None:
        settings = load(data_dir=path_of(data_dir, "data_dir"), database_url=database_url, broker_url=broker_url)
        self._infra = Infra(settings, processes=processes, keeper=Identity.of(os.getpid()))
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.cleanup_stale_processes()
        atexit.register(self.stop_all)
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()
        atexit.unregister(self.stop_all)
        self.stop_all()

    def start_redis(self) -> bool:
        """See that Redis answers; whether it was started for that. Raises Conflict where it can't be had within five seconds."""
        return self._infra.start(["redis"])["redis"]

    def start_celery(self) -> bool:
        """See that the workers work; whether they were started for that."""
        return self._infra.start(["worker"])["worker"]

    def is_redis_alive(self) -> bool:
        return self._infra.redis.answers() is not None

    def is_celery_alive(self) -> bool:
        """Whether the workers answer, within five seconds."""
        return self._infra.workers.answers() is not None

    def restart_celery_if_dead(self) -> bool:
        """Start the workers again if their process is gone; whether that was so."""
        return "worker" in self._infra.revive(["worker"])

    def cleanup_stale_processes(self) -> list[str]:
        """End what another process on this data directory has started and left behind; which that was."""
        return self._infra.clean_up()

    def status(self) -> list[dict[str, Any]]:
        """How each part is."""
        return self._infra.status()

    def stop_all(self) -> None:
        """Stop what was started here: the workers, then Redis."""
        self._infra.stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """What the signal would have done without us, behind a clean stop."""
        self.stop_all()
        previous = self._previous.get(number, signal.SIG_DFL)
        signal.signal(number, previous if previous is not None else signal.SIG_DFL)
        os.kill(os.getpid(), number)
