"""Who resumes a run that another command kept waits until it is known whether that command still lives."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path

import pytest

from tarantella.domain.errors import Conflict
from tarantella.domain.run import RunStatus
from tarantella.engine.lifeline import Lifeline
from tarantella.engine.timing import Timing
from tarantella.services import keeper, runs
from tarantella.services.app import App
from tarantella.services.submit import new_id, submit
from tarantella.store import workers
from tests.fault.crawler import quick_app, spec_of
from tests.fault.places import on_both

TIMING = Timing(beat=0.2, dials_nothing_after=0.4, thought_dead_after=0.6, looks_at_most_apart=5.0)
ELSEWHERE = "elsewhere"


async def kept_run(app: App, host: str) -> tuple[str, str]:
    """A run, and the command that keeps it."""
    command = new_id()
    info = workers.WorkerInfo(command, None, host, 4321, "0")
    await app.database.write(partial(workers.register, worker=info, now=app.now()))
    return await submit(app, spec_of("{}"), ["https://a.example/"], keeper=command), command


def resumed_after_waiting(data_dir: Path, host: str | None, dies_after: float | None, beats: bool = False) -> RunStatus:
    """What becomes of a run whose keeper is a command on this host; on this machine it has a lifeline, and lets go of it."""

    async def story() -> RunStatus:
        app = quick_app(data_dir)
        try:
            run_id, command = await kept_run(app, host or app.hostname)
            if host is None:
                lifeline = Lifeline(app.settings.workers_dir, command)
                asyncio.get_running_loop().call_later(dies_after or 30.0, lifeline.let_go)
            waiting = asyncio.create_task(keeper.wait_for_keeper(app, run_id, timing=TIMING))
            if beats:
                await asyncio.sleep(TIMING.beat)
                await app.database.write(partial(workers.beat, worker_id=command, hungry=False, now=app.now()))
            async with asyncio.timeout(20):
                await waiting
            return await runs.resume(app, run_id, None)
        finally:
            app.close()

    return asyncio.run(story())


@on_both
def test_a_command_that_died_on_another_machine_is_noticed_by_who_resumes_its_run(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "tarantella")
    assert resumed_after_waiting(data_dir, ELSEWHERE, None) is RunStatus.RUNNING
    assert caplog.text.count("The run is kept by process 4321 on elsewhere. Waiting") == 1


@on_both
def test_a_command_that_beats_on_another_machine_keeps_its_run(data_dir: Path) -> None:
    with pytest.raises(Conflict, match="Another command is working on this run: process 4321 on elsewhere"):
        resumed_after_waiting(data_dir, ELSEWHERE, None, beats=True)


@on_both
def test_a_command_that_is_just_dying_gets_the_time_to_do_so(data_dir: Path) -> None:
    assert resumed_after_waiting(data_dir, None, dies_after=0.4) is RunStatus.RUNNING


def test_a_command_that_lives_on_this_machine_is_not_waited_for_long(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "DYING_SECONDS", 0.1)
    with pytest.raises(Conflict, match="Another command is working on this run: process 4321"):
        resumed_after_waiting(data_dir, None, dies_after=None)
