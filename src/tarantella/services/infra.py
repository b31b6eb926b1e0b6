"""The infrastructure of one data directory: a broker, workers and a server, started, watched and stopped together."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from tarantella.domain.errors import InvalidInput, TarantellaError
from tarantella.infra.identity import Identity
from tarantella.infra.process import Process
from tarantella.infra.redis import Redis
from tarantella.infra.server import Server
from tarantella.infra.workers import USUAL_PROCESSES, Workers
from tarantella.log import log
from tarantella.services import seat
from tarantella.settings import Settings, shared_environment

USUAL_BROKER = "redis://127.0.0.1:6379/1"
USUAL_PORT = 8000
LOOK_SECONDS = 5.0
FOLDER = "infra"


class Part(Protocol):
    """Something that can be started, asked and stopped."""

    name: str
    process: Process

    @property
    def answers(self) -> Callable[[], str | None]: ...

    def start(self) -> bool: ...

    def stop(self) -> bool: ...


class Infra:
    """All parts, in the order in which they need each other. Only what was started here is ever stopped."""

    def __init__(
        self,
        settings: Settings,
        *,
        processes: int = USUAL_PROCESSES,
        port: int = USUAL_PORT,
        keeper: Identity | None = None,
    ) -> None:
        self._folder = folder = settings.data_dir.absolute() / FOLDER
        broker = settings.broker_url or USUAL_BROKER
        told = {
            **shared_environment(settings),
            "TARANTELLA_DATA_DIR": str(settings.data_dir.absolute()),
            "TARANTELLA_BROKER_URL": broker,
        }

        def address() -> str | None:
            found = seat.running(settings.data_dir)
            return found.url if found is not None else None

        self.redis = Redis(folder, broker, keeper)
        self.workers = Workers(folder, broker, told, processes, keeper)
        self.server = Server(folder, address, told, port, keeper)
        self.parts: Sequence[Part] = (self.redis, self.workers, self.server)

    @property
    def names(self) -> list[str]:
        return [part.name for part in self.parts]

    def chosen(self, names: Sequence[str]) -> list[Part]:
        """Those of these names, or all; in their order."""
        for name in names:
            if name not in self.names:
                told = f"There is no part {name[:50]!r}."
                raise InvalidInput(told, remedy=f"Take {', '.join(self.names)}.", field="part")
        return [part for part in self.parts if not names or part.name in names]

    def start(self, names: Sequence[str] = ()) -> dict[str, bool]:
        """See that they run; which of them were started for that."""
        with self._alone():
            return {part.name: part.start() for part in self.chosen(names)}

    def stop(self, names: Sequence[str] = ()) -> dict[str, bool]:
        """Stop what was started here, those first that need the others; which of them ran."""
        stopped = {}
        for part in reversed(self.chosen(names)):
            stopped[part.name] = part.stop()
            if stopped[part.name]:
                log.info(f"Stopped: {part.name}", action="infra_stopped", part=part.name)
        return stopped

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time starts something: two at the same moment would both see that nothing runs."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._folder / "lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def restart(self, names: Sequence[str] = ()) -> None:
        """Stop them and start them again; what needs them is left to itself, and copes."""
        self.stop(names)
        self.start(names)

    def clean_up(self) -> list[str]:
        """End what outlived the one for whom it was started; nobody else's processes are touched."""
        stale = [part for part in reversed(self.parts) if part.process.is_stale]
        for part in stale:
            log.warning(f"Left behind, and ended now: {part.name}", action="infra_stale", part=part.name)
            part.stop()
        return [part.name for part in stale]

    def revive(self, names: Sequence[str] = ()) -> list[str]:
        """Start again what was started here and has died; which that were."""
        dead = [part for part in self.chosen(names) if part.process.record is not None and part.process.alive is None]
        for part in dead:
            log.warning(f"Died, and is started again: {part.name}", action="infra_revived", part=part.name)
            with self._alone():
                part.start()
        return [part.name for part in dead]

    def status(self) -> list[dict[str, Any]]:
        """How each part is: whether it answers, and whether it is ours."""
        return [_told(part) for part in self.parts]

    def watch(self, stopped: Callable[[float], bool]) -> None:
        """Start again what dies, until it is told to stop; `stopped` waits so many seconds for that."""
        pause = LOOK_SECONDS
        while not stopped(pause):
            try:
                self.revive()
                pause = LOOK_SECONDS
            except TarantellaError as error:
                log.error("It could not be started again", action="infra_failed", error=str(error))
                pause = min(60.0, pause * 2)


def _told(part: Part) -> dict[str, Any]:
    answer = part.answers()
    alive, record = part.process.alive, part.process.record
    if answer is not None:
        state = "running" if alive is not None else "running elsewhere"
    else:
        state = "silent" if alive is not None else "dead" if record is not None else "stopped"
    return {
        "part": part.name,
        "state": state,
        "answer": answer,
        "pid": alive.pid if alive is not None else None,
        "since_seconds": round(time.time() - record.started_at, 1)
        if alive is not None and record is not None
        else None,
        "command": list(record.command) if record is not None and alive is not None else None,
    }
