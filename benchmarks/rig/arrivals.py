"""When requests arrived, as the site itself tells it: one line each in its log, stamped to the millisecond."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request that was served."""

    at: float  # seconds since the epoch, by the clock of this machine
    path: str

    @property
    def is_page(self) -> bool:
        return self.path != "/robots.txt"


class Arrivals:
    """Follows the log from where it stood when this was made."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._position = log.stat().st_size

    def new(self) -> Iterator[Arrival]:
        """What has arrived since the last call."""
        with self._log.open("rb") as lines:
            lines.seek(self._position)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._position += len(line)
                at, _, path = line.decode().strip().partition(" ")
                yield Arrival(float(at), path)

    def count_pages(self, wanted: int, timeout: float, is_alive: Callable[[], bool]) -> int:
        """Wait until so many pages were asked for; how many it were in the end."""
        pages = 0
        for arrival in self._follow(timeout, is_alive):
            pages += arrival.is_page
            if pages >= wanted:
                break
        return pages

    def first(self, timeout: float, is_alive: Callable[[], bool]) -> tuple[Arrival | None, Arrival | None]:
        """The first request of all, and the first for a page."""
        any_: Arrival | None = None
        for arrival in self._follow(timeout, is_alive):
            any_ = any_ or arrival
            if arrival.is_page:
                return any_, arrival
        return any_, None

    def _follow(self, timeout: float, is_alive: Callable[[], bool]) -> Iterator[Arrival]:
        """What arrives until the time is up, or until nobody is left who could ask for anything."""
        deadline = time.monotonic() + timeout
        alive = True
        while alive and time.monotonic() < deadline:
            # Asked first: whatever somebody who is gone by now had asked for is then in the log.
            alive = is_alive()
            yield from self.new()
            time.sleep(POLL_SECONDS)
