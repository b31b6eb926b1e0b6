"""The HTTP API on this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tarantella.domain.errors import Conflict
from tarantella.infra.identity import Identity
from tarantella.infra.process import Process

STARTS_WITHIN = 30.0
STOPS_WITHIN = 30.0
LOOK_AGAIN = 0.1
LOG = "server.log"


class Server:
    """The server that was started here."""

    name = "server"

    def __init__(
        self,
        folder: Path,
        answers: Callable[[], str | None],
        environment: Mapping[str, str],
        port: int,
        keeper: Identity | None = None,
    ) -> None:
        self.answers = answers  # its address, if one serves this data directory, whoever started it
        self.process = Process(folder, self.name)
        self._environment = environment
        self._port = port
        self._keeper = keeper

    def start(self) -> bool:
        """See that one serves; whether it was started for that."""
        if self.answers() is not None:
            return False
        command = [sys.executable, "-m", "tarantella", "serve", "--port", str(self._port)]
        self.process.start(command, LOG, self._environment, self._keeper)
        give_up = time.monotonic() + STARTS_WITHIN
        while self.answers() is None:
            if self.process.alive is None or time.monotonic() > give_up:
                raise Conflict("The server does not start.", remedy=f"{self.process.log(LOG)} says why.")
            time.sleep(LOOK_AGAIN)
        return True

    def stop(self) -> bool:
        return self.process.stop(STOPS_WITHIN)
