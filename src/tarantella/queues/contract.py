"""How word of work gets around, whatever carries it. Lost or doubled, it changes nothing: everybody also looks by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Bell(Protocol):
    """Rung by whoever takes work in, after the commit. It never waits and never fails."""

    def call(self, run_id: str, priority: int) -> None:
        """There is a new run, and the lower its number the more urgent it is: somebody who is free should look now."""

    def ring(self) -> None:
        """Somebody wants something of a run or a host: all who work on it should look now."""

    async def close(self) -> None:
        """Send what is still to be sent, if that takes no longer than a moment."""


class Hints(Protocol):
    """What a worker hears, and says to others."""

    def listen(self, woken: Callable[[], None]) -> None:
        """Call this whenever somebody says that there may be work."""

    def send(self, worker_ids: Iterable[str]) -> None:
        """Wake these workers, if they listen."""

    def tell(self, run_ids: Iterable[str]) -> None:
        """These runs have changed, for all who watch them."""

    async def close(self) -> None: ...


class News(Protocol):
    """What is told of runs, for a server whose clients watch them."""

    def listen(self, told: Callable[[str], None]) -> None:
        """Call this with the id of every run that has changed."""

    @property
    def is_heard(self) -> bool:
        """Whether news would be heard now; if not, only looking helps."""

    async def close(self) -> None: ...
