"""Celery's workers on this machine: one parent with so many processes."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from tarantella.domain.errors import Conflict
from tarantella.infra.identity import Identity
from tarantella.infra.process import Process
from tarantella.queues import broker

PING_SECONDS = 5.0
STARTS_WITHIN = 30.0
STOPS_WITHIN = 30.0
LOG = "celery_worker.log"
USUAL_PROCESSES = 8


class Workers:
    """The workers that were started here."""

    name = "worker"

    def __init__(
        self,
        folder: Path,
        broker_url: str,
        environment: Mapping[str, str],
        processes: int = USUAL_PROCESSES,
        keeper: Identity | None = None,
    ) -> None:
        self.process = Process(folder, self.name)
        # Celery wants a name for each on a machine; ours is that of the data directory.
        self._called = f"infra-{blake2b(str(folder.absolute()).encode(), digest_size=4).hexdigest()}"
        self._broker_url = broker_url
        self._environment = environment
        self._processes = processes
        self._keeper = keeper

    @property
    def node(self) -> str:
        return f"{self._called}@{socket.gethostname()}"

    def answers(self) -> str | None:
        """Celery's name for them, if they answer a ping within five seconds."""
        if self.process.alive is None:
            return None  # nobody else is called so
        return self.node if broker.pong(self._broker_url, self.node, PING_SECONDS) else None

    def start(self) -> bool:
        """See that they work; whether they were started for that."""
        if self.process.alive is not None:
            return False
        command = [sys.executable, "-m", "tarantella", "worker", "--processes", str(self._processes)]
        self.process.start([*command, "--name", f"{self._called}@%h"], LOG, self._environment, self._keeper)
        give_up = time.monotonic() + STARTS_WITHIN
        while self.answers() is None:
            if self.process.alive is None or time.monotonic() > give_up:
                raise Conflict("The workers do not start.", remedy=f"{self.process.log(LOG)} says why.")
        return True

    def stop(self) -> bool:
        """Pages in flight are finished first."""
        return self.process.stop(STOPS_WITHIN)
