"""Real workers in a time of our own: they run when they are told to, and nothing they ask for happens by itself.

Each worker has an event loop like a process of its own. What it asks of the store or of the web waits until somebody
grants it, so that everything between two transactions can be tried, again and again with the same result.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from tarantella.domain.errors import StoreBusy, TarantellaError
from tarantella.domain.strategy import STRATEGIES
from tarantella.engine.clock import Clock
from tarantella.engine.timing import Timing
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.extractors.page import Wants
from tarantella.fetchers.contract import Request
from tarantella.fetchers.robots import Robots
from tarantella.store.database import Database
from tarantella.store.tx import Tx
from tests.model.unsure import Fault

T = TypeVar("T")

QUIET = 3  # turns of a loop in which nothing but the question was to be done
MOST_TURNS = 10_000


@dataclass
class Time:
    """What every clock shows. Only a story moves it."""

    monotonic: float
    ahead: float  # of the wall clock, which can also be set

    @property
    def wall(self) -> float:
        return self.monotonic + self.ahead


class _NoWaiting(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    """An event loop that never waits: what is due in the future happens when the future has come."""

    def __init__(self, time: Time) -> None:
        super().__init__(_NoWaiting())
        self.now = time

    def time(self) -> float:
        return self.now.monotonic

    def run_until_quiet(self) -> None:
        """Do everything that can be done now."""
        self.run_until_complete(self._until_quiet())

    async def _until_quiet(self) -> None:
        ready = cast("list[object]", getattr(self, "_ready"))  # noqa: B009 - no loop tells how much it has to do
        quiet = 0
        for _ in range(MOST_TURNS):
            await asyncio.sleep(0)
            quiet = 0 if ready else quiet + 1
            if quiet == QUIET:
                return
        raise AssertionError("A worker never comes to rest.")


@dataclass(eq=False)
class Ask:
    """A transaction that waits to be made."""

    name: str
    make: Callable[[], Any]
    answer: asyncio.Future[Any]

    def grant(self, fault: Fault, committed: Callable[[Any], None]) -> None:
        """Make it, or say that it failed. One that nobody waits for any more may be made all the same."""
        if fault is not Fault.BEFORE:
            try:
                made = self.make()
            except Exception as error:
                self._tell(error=error)
                return
            committed(made)
            if fault is not Fault.AFTER:
                self._tell(made)
                return
        self._tell(error=StoreBusy(f"It is said that {self.name} failed {fault} its commit."))

    def _tell(self, made: object = None, error: Exception | None = None) -> None:
        if self.answer.cancelled():
            return
        if error is not None:
            self.answer.set_exception(error)
        else:
            self.answer.set_result(made)


class Gate(Database):
    """A worker's way to the store: everything waits here."""

    def __init__(self, real: Database) -> None:
        self.real = real
        self.dialect = real.dialect
        self.asked: list[Ask] = []
        self.is_cut = False

    async def write(
        self,
        work: Callable[[Tx], T],
        *,
        durable: bool = False,
        name: str = "write",
        here: bool = False,
        limited: bool = True,
        within: float | None = None,
    ) -> T:
        return await self._ask(name, lambda: self.real.write_now(work, durable=durable, name=name))

    async def read(self, work: Callable[[Tx], T], *, within: float | None = None) -> T:
        return await self._ask("read", lambda: self.real.read_now(work))

    async def checkpoint(self) -> None:
        return None

    async def _ask(self, name: str, make: Callable[[], T]) -> T:
        if self.is_cut:
            raise asyncio.CancelledError
        ask = Ask(name, make, asyncio.get_running_loop().create_future())
        self.asked.append(ask)
        answer: T = await ask.answer
        return answer


@dataclass(eq=False)
class Dial:
    """A request that waits for its answer."""

    url: str
    answer: asyncio.Future[Visit]


class Web:
    """A worker's way to the web: requests wait here."""

    def __init__(self, dialled: Callable[[str, str], None]) -> None:
        self.dials: list[Dial] = []
        self._dialled = dialled

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        self._dialled(request.url.href, request.options.owner)
        dial = Dial(request.url.href, asyncio.get_running_loop().create_future())
        self.dials.append(dial)
        try:
            return await dial.answer
        finally:
            self.dials.remove(dial)


@dataclass(eq=False)
class Puppet:
    """A worker and its loop. It is frozen whenever nobody runs it."""

    database: Database
    time: Time
    folder: Path
    timing: Timing
    max_running: int
    only_run: str | None
    dialled: Callable[[Puppet, str, str], None]  # who asks for what, and for which run
    gate: Gate = field(init=False)
    web: Web = field(init=False)
    loop: Loop = field(init=False)
    worker: Worker = field(init=False)
    life: asyncio.Task[None] = field(init=False)
    works: bool = False
    stopping: bool = False

    def __post_init__(self) -> None:
        self.loop = Loop(self.time)
        self.gate = Gate(self.database)
        self.web = Web(partial(self.dialled, self))
        self.worker = self.loop.run_until_complete(self._made())
        self.life = self.loop.create_task(self._live())

    @property
    def id(self) -> str:
        return self.worker.id

    async def _made(self) -> Worker:
        clock = Clock(wall=lambda: self.time.wall, monotonic=lambda: self.time.monotonic)
        tools = Tools(
            visitors={"http": self.web},
            taster=self.web,
            robots=cast("Robots", None),  # nobody here obeys them
            strategies={"http": STRATEGIES["http"]},
            clock=clock,
            luck=lambda: 0.0,
        )
        settings = WorkerSettings(self.folder, self.max_running, only_run=self.only_run, timing=self.timing)
        return Worker(self.gate, tools, settings)

    async def _live(self) -> None:
        await self.worker.start()
        self.works = True
        await self.worker.run()

    def run(self) -> None:
        """Let it do what it can do now."""
        self.loop.run_until_quiet()

    def stop(self) -> None:
        self.stopping = True
        self.worker.stop()

    @property
    def asked(self) -> list[Ask]:
        return self.gate.asked

    @property
    def is_over(self) -> bool:
        return self.life.done()

    def ending(self) -> Exception | None:
        """With what it ended, if not cleanly. Only the errors that a user can meet are endings."""
        error = self.life.exception() if not self.life.cancelled() else None
        if error is not None and not isinstance(error, TarantellaError):
            raise error
        return error

    def busy(self) -> list[str]:
        """The runs of which something is in flight, once for each page."""
        return [page.run_id for page in self.worker._held.tasks.values()]

    def grant(self, ask: Ask, fault: Fault, committed: Callable[[Any], None]) -> None:
        self.gate.asked.remove(ask)
        ask.grant(fault, committed)

    def kill(self) -> None:
        """The process is gone. What it would still say to clean up, nobody hears."""
        self.gate.is_cut = True
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, self.life, return_exceptions=True))
        self.loop.close()
