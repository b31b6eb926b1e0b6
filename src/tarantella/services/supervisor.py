"""Keeps engines alive: starts them, watches what they do, restarts those that die or stand still, and ends them cleanly."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum

from tarantella.domain.errors import StoreError
from tarantella.domain.struct import Mutable
from tarantella.domain.vitals import Condition
from tarantella.engine.clock import Clock
from tarantella.engine.reaper import Reaper
from tarantella.engine.timing import Timing
from tarantella.log import log
from tarantella.services.app import App
from tarantella.services.vigils import Vigils, Watched
from tarantella.settings import shared_environment
from tarantella.store.tx import Tx

LOOK_SECONDS = 1.0
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
LIVES_WELL_AFTER = 60.0  # seconds after which a death is news, not the same trouble again
WRITE_PATIENCE = 10.0


class EngineState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"  # for its next start, after it died
    STOPPED = "stopped"


class Engine(Mutable):
    """One child process after another, each the successor of the last."""

    number: int
    state: EngineState = EngineState.STARTING
    process: asyncio.subprocess.Process | None = None
    started: float = 0.0  # by the supervisor's clock
    restarts: int = 0
    quick_deaths: int = 0
    condition: Condition | None = None  # of its worker, when it was last seen
    last_end: str | None = None
    reported: bool = False

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process is not None else None


Spawn = Callable[[int], Awaitable[asyncio.subprocess.Process]]


def restart_delay(quick_deaths: int) -> float:
    """Seconds before the next start, after so many deaths in quick succession."""
    return float(min(LONGEST_DELAY, FIRST_DELAY * 2 ** max(0, min(quick_deaths, 16) - 1)))


class Supervisor:
    """The parent of some engines."""

    def __init__(
        self,
        app: App,
        count: int,
        *,
        verbose: int = 0,
        spawn: Spawn | None = None,
        clock: Callable[[], float] = time.monotonic,
        delay: Callable[[int], float] = restart_delay,
    ) -> None:
        self.engines = [Engine(number) for number in range(1, count + 1)]
        self.vigils = Vigils(app, clock)
        self.stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._grace = 0.0
        self._app = app
        self._verbose = verbose
        self._spawn = spawn or self._spawn_engine
        self._clock = clock
        self._delay = delay
        self._reaper = Reaper(
            app.database,
            app.settings.workers_dir,
            app.hostname,
            max_running=app.settings.max_concurrent_tasks,
            clock=Clock(monotonic=clock),
            timing=Timing.of_life(app.settings.worker_life_seconds),
        )

    async def run(self) -> None:
        """Keep all engines alive until `stop`."""
        keepers = [asyncio.create_task(self._keep(engine)) for engine in self.engines]
        watch = asyncio.create_task(self._watch())
        try:
            # Also where there is nobody to be kept: workers elsewhere are watched all the same.
            await asyncio.gather(self.stopping.wait(), *keepers)
        finally:
            for task in (watch, *keepers):
                task.cancel()
            await asyncio.gather(watch, *keepers, return_exceptions=True)
            self.kill()
            self._stopped.set()

    async def stop(self, grace: float) -> None:
        """Let every engine finish what is in flight; one that takes longer than that is killed, and costs no attempt."""
        self._grace = grace
        self.stopping.set()
        await self._stopped.wait()

    def kill(self) -> None:
        """End all of them now; also from a signal's handler."""
        self.stopping.set()
        for engine in self.engines:
            if engine.process is not None and engine.process.returncode is None:
                with suppress(ProcessLookupError):
                    engine.process.kill()

    def keeps(self, worker: Watched) -> bool:
        """Whether a worker is one of these engines."""
        return worker.host == self._app.hostname and worker.pid in [engine.pid for engine in self.engines]

    # -- one engine

    async def _keep(self, engine: Engine) -> None:
        while not self.stopping.is_set():
            if (process := await self._start(engine)) is not None:
                code = await self._lives(engine, process)
                if self.stopping.is_set():
                    break
                self._note_end(engine, f"exit code {code}" if code >= 0 else f"signal {-code}")
            engine.state = EngineState.WAITING
            engine.restarts += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), self._delay(engine.quick_deaths))
        engine.state = EngineState.STOPPED

    async def _start(self, engine: Engine) -> asyncio.subprocess.Process | None:
        engine.state, engine.condition, engine.reported = EngineState.STARTING, None, False
        engine.started = self._clock()
        try:
            engine.process = await self._spawn(engine.number)
        except OSError as error:
            # No memory or no processes left: that passes, or somebody is needed who reads this.
            engine.process = None
            self._note_end(engine, f"it could not be started: {error.strerror}")
            return None
        log.info("An engine was started", action="engine_started", engine=engine.number, pid=engine.pid)
        return engine.process

    def _note_end(self, engine: Engine, how: str) -> None:
        lived = self._clock() - engine.started
        engine.quick_deaths = 1 if lived >= LIVES_WELL_AFTER else engine.quick_deaths + 1
        engine.last_end = how
        log.warning(
            "An engine has ended; it is started again",
            action="engine_ended",
            engine=engine.number,
            how=how,
            after_seconds=round(lived, 1),
            again_in_seconds=self._delay(engine.quick_deaths),
        )

    async def _lives(self, engine: Engine, process: asyncio.subprocess.Process) -> int:
        """Wait for its end, whether it comes by itself or is asked for."""
        ended = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                assert process.stdin is not None
                process.stdin.close()
                await asyncio.wait({ended}, timeout=self._grace)
            if not ended.done():
                log.warning("An engine does not end; it is killed", action="engine_killed", engine=engine.number)
                with suppress(ProcessLookupError):
                    process.kill()
            return await ended
        finally:
            stopping.cancel()
            ended.cancel()

    async def _spawn_engine(self, number: int) -> asyncio.subprocess.Process:
        """It ends by itself when this pipe is closed, and so when this process dies."""
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tarantella", "engine", "--data-dir", str(self._app.settings.data_dir), *["-v"] * self._verbose),
            env={**os.environ, **shared_environment(self._app.settings)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )

    # -- whether they get on

    async def _watch(self) -> None:
        while not self.stopping.is_set():
            try:
                await self.look()
            except StoreError:
                pass  # it may be busy; the next look tells more
            except Exception as error:
                log.exception("A look at the engines went wrong", action="look_failed", error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), LOOK_SECONDS)

    async def look(self) -> None:
        """See how every engine gets on; report who stands still, and kill who has for too long."""
        await self.vigils.look()
        if not self.engines:
            # Engines do this for each other. Here the last worker may have gone with its machine, and nobody else be left.
            await self._reaper.run_once()
        workers = {(worker.host, worker.pid): worker for worker in self.vigils.serving()}
        for engine in self.engines:
            if engine.process is None or engine.process.returncode is not None:
                continue
            worker = workers.get((self._app.hostname, engine.process.pid))
            if worker is not None:
                engine.state, engine.condition = EngineState.RUNNING, worker.condition
                await self._judge(engine, worker)
            elif self._clock() - max(engine.started, self.vigils.since) > self._app.settings.stall_seconds:
                self._kill(engine, "it never began to work")

    async def _judge(self, engine: Engine, worker: Watched) -> None:
        if worker.trouble is None:
            engine.reported = False
            return
        why = worker.trouble
        if not engine.reported:
            engine.reported = True
            log.warning("An engine makes no progress", action="engine_suspect", engine=engine.number, why=why)
        if worker.condition is Condition.STALLED:
            if await self._store_takes_writes():
                self._kill(engine, why)
            else:
                # It may well wait for the same store as we do.
                self.vigils.start_anew(worker.id)

    def _kill(self, engine: Engine, why: str) -> None:
        log.error("An engine makes no progress; it is killed", action="engine_stalled", engine=engine.number, why=why)
        if engine.process is not None:
            with suppress(ProcessLookupError):
                engine.process.kill()

    async def _store_takes_writes(self) -> bool:
        def nothing(_tx: Tx) -> None:
            pass

        try:
            await asyncio.wait_for(self._app.database.write(nothing, name="probe"), WRITE_PATIENCE)
        except (StoreError, TimeoutError):
            return False
        return True
