"""The parent of the engines: whoever dies comes back, ever later if it keeps dying; whoever stands still is replaced."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tarantella.domain.struct import replace
from tarantella.domain.vitals import Vitals
from tarantella.services import supervisor as supervising
from tarantella.services.app import App
from tarantella.services.supervisor import EngineState, Supervisor, restart_delay
from tarantella.settings import load
from tarantella.store import workers
from tarantella.store.connection import DriverError
from tarantella.store.ids import new_id

ENDS_WITH_INPUT = "import sys; sys.stdin.read()"
IGNORES_ITS_INPUT = "import time; time.sleep(600)"
DIES = "raise SystemExit(7)"


class Children:
    """Starts small programs instead of engines, and registers each as an engine would."""

    register = True

    def __init__(self, app: App, *programs: str) -> None:
        self.app = app
        self.programs = programs
        self.started: list[asyncio.subprocess.Process] = []
        self.ids: list[str] = []
        self.news = asyncio.Event()

    async def spawn(self, number: int) -> asyncio.subprocess.Process:
        program = self.programs[min(number, len(self.programs)) - 1]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdin=pipe, start_new_session=True
        )
        self.started.append(process)
        self.ids.append(new_id())
        info = workers.WorkerInfo(self.ids[-1], None, self.app.hostname, process.pid, "0")
        if self.register:
            await self.app.database.write(lambda tx: workers.register(tx, info, 1.0))
        self.news.set()
        return process

    async def beat(self, **vitals: Any) -> None:
        told = Vitals(**vitals)
        await self.app.database.write(lambda tx: workers.beat(tx, self.ids[-1], False, 1.0, told))

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)


class Time:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def patient(app: App) -> App:
    return replace(app, settings=load(data_dir=app.settings.data_dir, stall_seconds=60))


@asynccontextmanager
async def supervised(children: Children, count: int = 1, clock: Time | None = None) -> Any:
    supervisor = Supervisor(
        children.app, count, spawn=children.spawn, clock=clock or Time(), delay=lambda deaths: 0.01 * deaths
    )
    running = asyncio.create_task(supervisor.run())
    try:
        # Each of them is known to the supervisor, and so is its worker to the store.
        await children.until(lambda: all(engine.process is not None for engine in supervisor.engines))
        yield supervisor
    finally:
        await supervisor.stop(grace=0.1)
        await running
        assert all(child.returncode is not None for child in children.started)


def test_waits_between_restarts_grow_and_have_an_end() -> None:
    assert [restart_delay(deaths) for deaths in range(1, 9)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert restart_delay(10_000) == 30.0


def test_an_engine_that_dies_is_started_again_and_the_others_are_left_alone(app: App) -> None:
    async def story() -> None:
        children = Children(app, ENDS_WITH_INPUT)
        async with supervised(children, count=2) as supervisor:
            first, second = children.started
            os.kill(first.pid, signal.SIGKILL)
            await children.until(lambda: len(children.started) == 3)
            assert second.returncode is None
            assert sorted(engine.restarts for engine in supervisor.engines) == [0, 1]
            assert {engine.last_end for engine in supervisor.engines} == {None, "signal 9"}

    asyncio.run(story())


def test_an_engine_that_keeps_dying_waits_longer_each_time(app: App) -> None:
    async def story() -> None:
        children = Children(app, DIES)
        async with supervised(children) as supervisor:
            await children.until(lambda: supervisor.engines[0].quick_deaths >= 3)
            assert supervisor.engines[0].last_end == "exit code 7"

    asyncio.run(story())


def test_a_stop_ends_every_engine_by_its_input_and_kills_only_who_does_not_listen(app: App) -> None:
    async def story() -> None:
        children = Children(app, ENDS_WITH_INPUT, IGNORES_ITS_INPUT)
        async with supervised(children, count=2) as supervisor:
            await supervisor.stop(grace=2.0)
            assert sorted(child.returncode or 0 for child in children.started) == [-signal.SIGKILL, 0]
            await children.until(lambda: all(engine.state is EngineState.STOPPED for engine in supervisor.engines))
            assert len(children.started) == 2

    asyncio.run(story())


def test_an_engine_that_has_work_and_gets_nothing_done_is_reported_then_replaced(
    patient: App, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        clock = Time()
        children = Children(patient, IGNORES_ITS_INPUT)
        async with supervised(children, clock=clock) as supervisor:
            await supervisor.look()
            for second in range(0, 60, 5):
                clock.seconds = second
                await children.beat(work=3, progress=1)
                await supervisor.look()
                assert len(children.started) == 1
            assert "An engine makes no progress (" in caplog.text
            clock.seconds = 65
            await children.beat(work=3, progress=1)
            await supervisor.look()
            await children.until(lambda: len(children.started) == 2)
            assert "it has had work and made no progress for 65 s" in caplog.text

    asyncio.run(story())


def test_an_engine_without_a_sign_of_life_is_replaced(patient: App, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        clock = Time()
        children = Children(patient, IGNORES_ITS_INPUT)
        async with supervised(children, clock=clock) as supervisor:
            await supervisor.look()
            clock.seconds = 61
            await supervisor.look()
            await children.until(lambda: len(children.started) == 2)
            assert "it has given no sign of life for 61 s" in caplog.text

    asyncio.run(story())


@pytest.mark.parametrize("is_known", [True, False])
def test_no_engine_is_blamed_for_the_time_in_which_the_store_was_silent(
    is_known: bool, patient: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Time()
    read = patient.database.read

    async def silent(work: Any) -> Any:
        clock.seconds += 100
        return await read(work)

    async def story() -> None:
        children = Children(patient, IGNORES_ITS_INPUT)
        children.register = is_known
        async with supervised(children, clock=clock) as supervisor:
            await supervisor.look()
            monkeypatch.setattr(patient.database, "read", silent)
            await supervisor.look()
            monkeypatch.setattr(patient.database, "read", read)
            clock.seconds += 59
            await supervisor.look()
            assert (len(children.started), children.started[0].returncode) == (1, None)
            assert "it is killed" not in caplog.text
            clock.seconds += 2
            await supervisor.look()
            await children.until(lambda: len(children.started) == 2)

    monkeypatch.setattr(supervising, "LOOK_SECONDS", 600.0)  # only the looks of this story
    asyncio.run(story())


@pytest.mark.parametrize("silent", [30.0, 70.0])
def test_a_server_without_engines_notices_workers_that_are_gone_with_their_machine(app: App, silent: float) -> None:
    async def story() -> list[str]:
        clock, worker = Time(), workers.WorkerInfo(new_id(), None, "a machine that burnt down", 1, "0")
        supervisor = Supervisor(app, 0, clock=clock)
        await app.database.write(lambda tx: workers.register(tx, worker, 1.0))
        for second in range(0, int(silent), 5):
            clock.seconds = second
            await supervisor.look()
        return [row.id for row in await app.database.read(workers.alive)]

    assert len(asyncio.run(story())) == (1 if silent < 60 else 0)


def test_an_engine_that_has_nothing_to_do_is_left_alone(patient: App) -> None:
    async def story() -> None:
        clock = Time()
        children = Children(patient, ENDS_WITH_INPUT)
        async with supervised(children, clock=clock) as supervisor:
            for second in range(0, 6_000, 50):
                clock.seconds = second
                await children.beat(work=0, progress=1)
                await supervisor.look()
            assert len(children.started) == 1

    asyncio.run(story())


def test_nothing_that_goes_wrong_ends_the_watch_over_the_engines(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    async def look(_: Supervisor) -> None:
        looks.append(1)
        raise DriverError(OSError("something that nobody foresaw"))

    async def story() -> None:
        async with supervised(Children(app, ENDS_WITH_INPUT)):
            async with asyncio.timeout(10):
                while len(looks) < 3:
                    await asyncio.sleep(0.01)

    monkeypatch.setattr(supervising, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Supervisor, "look", look)
    asyncio.run(story())
