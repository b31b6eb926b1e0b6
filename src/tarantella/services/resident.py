"""An engine that lives in a thread of a process which is somebody else's: of a child of Celery's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence

from tarantella.domain.errors import TarantellaError
from tarantella.log import log
from tarantella.services.app import App
from tarantella.services.engine import serve_steps, work_until

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
SPARE_SECONDS = 10.0  # to store what there is, after the time that pages in flight are given


class Resident:
    """One event loop with one engine, from the start of the process to its end."""

    def __init__(self, open_app: Callable[[], App], *, grace: float) -> None:
        self._open_app = open_app
        self._grace = grace
        self._thread = threading.Thread(target=self._live, name="engine", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._woken: Callable[[str, Sequence[str]], None] | None = None

    def start(self) -> None:
        self._thread.start()

    def wake(self, task_id: str, run_ids: Sequence[str]) -> None:
        """Somebody says that there may be work; from any thread."""
        loop, woken = self._loop, self._woken
        if loop is not None and woken is not None:
            loop.call_soon_threadsafe(woken, task_id, run_ids)

    def stop(self) -> None:
        """Finish what is in flight, and wait for it; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(self._grace + SPARE_SECONDS)

    def _live(self) -> None:
        with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
            self._loop = runner.get_loop()
            runner.run(self._serve())

    async def _serve(self) -> None:
        """Be an engine. One that fails, or was thought dead, is followed by another."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await self._be_an_engine()
            except TarantellaError as error:
                # Its sentence says it all, and is said as often as it is tried.
                log.warning(
                    "The engine of a worker could not go on; it is started again",
                    action="engine_failed",
                    error=str(error),
                    again_in_seconds=pause,
                )
            except (Exception, asyncio.CancelledError) as error:
                # Nobody cancels this: where that comes up from below, somebody's timeout got lost, and it is a failure like any other.
                log.exception(
                    "The engine of a worker has failed; it is started again",
                    action="engine_failed",
                    error=str(error) or type(error).__name__,
                )
            if asyncio.get_running_loop().time() - began > LONGEST_PAUSE:
                pause = FIRST_PAUSE
            try:
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            except TimeoutError:
                pause = min(LONGEST_PAUSE, pause * 2)

    async def _be_an_engine(self) -> None:
        app = await asyncio.to_thread(self._open_app)
        try:
            tools = app.make_tools()
            try:
                worker = app.make_worker(tools, None)
                self._woken = worker.wake
                await work_until(worker, self._stopping.wait(), beside=serve_steps(app, worker))
            finally:
                self._woken = None
                await tools.close()
        finally:
            await asyncio.to_thread(app.close)


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
