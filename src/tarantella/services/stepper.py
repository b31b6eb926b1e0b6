"""Executes the handlers of workflow steps beside an engine, as many at a time as the settings say."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from tarantella.domain.errors import NotFound, StoreError, WorkerDead
from tarantella.log import log
from tarantella.services.app import App
from tarantella.store import workers, workflow_tasks, workflows
from tarantella.store.ids import LENGTH
from tarantella.store.tx import Tx
from tarantella.store.workflow_tasks import Claimed, Kind, Task, Verdict

LOOK_SECONDS = 0.5
FOLDERS_SECONDS = 60.0
Execute = Callable[[Claimed], Awaitable[Verdict]]


class Stepper:
    """Takes steps whose time has come, and stores what came of them. What it has begun, nobody else does while its worker lives."""

    def __init__(self, app: App, worker_id: str, execute: Execute, *, keeper: str | None = None) -> None:
        self._app = app
        self._worker_id = worker_id
        self._execute = execute
        self._keeper = keeper  # who executes the workflow in a program of their own; without one, it serves all others
        self._at_hand: dict[asyncio.Task[None], Task] = {}
        self._looks_at_folders_at = 0.0
        self._wake = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        return not self._at_hand

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    async def run(self) -> None:
        trouble: str | None = None
        try:
            while True:
                self._wake.clear()
                try:
                    await self._look()
                    trouble = None
                except WorkerDead:
                    raise
                except StoreError as error:
                    if str(error) != trouble:
                        # Once: it is tried twice a second.
                        log.warning("Steps of workflows can't be looked at", action="steps", error=str(error))
                    trouble = str(error)
                except Exception as error:
                    # The engine beside us has other work, too.
                    log.exception("A look at steps of workflows went wrong", action="steps", error=str(error))
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            await self._put_back()

    async def _look(self) -> None:
        if self._at_hand:
            wanted = await self._app.database.read(
                partial(workflow_tasks.still_ours, tasks=list(self._at_hand.values()))
            )
            for doing, task in self._at_hand.items():
                # Said twice, it would keep a process that is being ended from being ended.
                if task.id not in wanted and not doing.cancelling():
                    doing.cancel()
        await self._remove_folders()
        room = self._app.settings.workflow_steps_at_once - len(self._at_hand)
        if room <= 0:
            return
        due = partial(workflow_tasks.due, kind=Kind.HANDLER, keeper=self._keeper, now=self._app.now(), limit=room)
        for task in await self._app.database.read(due):
            claimed = await self._app.database.write(partial(self._claim, task=task), name="step")
            if claimed is not None:
                doing = asyncio.create_task(self._do(claimed))
                self._at_hand[doing] = claimed.task
                doing.add_done_callback(self._over)

    async def _remove_folders(self) -> None:
        """Folders go when their workflow has gone, whoever deleted it: here, because they lie on the machine that made them."""
        if (now := time.monotonic()) < self._looks_at_folders_at:
            return
        self._looks_at_folders_at = now + FOLDERS_SECONDS
        folder = self._app.settings.workspaces_dir
        kept = await asyncio.to_thread(_names_in, folder)
        if kept:
            living = await self._app.database.read(partial(workflows.existing, workflow_ids=kept))
            for name in kept:
                if name not in living:
                    await asyncio.to_thread(shutil.rmtree, folder / name, ignore_errors=True)

    def _claim(self, tx: Tx, task: Task) -> Claimed | None:
        workers.check_alive(tx, self._worker_id)
        return workflow_tasks.begin(tx, task, owner=self._worker_id, run_id=None, now=self._app.now())

    def _over(self, doing: asyncio.Task[None]) -> None:
        del self._at_hand[doing]
        self._wake.set()

    async def _do(self, claimed: Claimed) -> None:
        limit = claimed.step.timeout
        try:
            async with asyncio.timeout(limit):
                verdict = await self._execute(claimed)
        except TimeoutError:
            verdict = Verdict(error=f"timeout: it took longer than {limit:g} s")
        except Exception as error:
            log.exception("A step could not be executed", action="step_broken", step=claimed.task.task_name)
            verdict = Verdict(error=f"{type(error).__name__}: {error}")
        try:
            await self._settle(claimed.task, verdict)
        except NotFound:
            return  # deleted meanwhile, with its workflow
        except Exception as error:
            # It must not stay as if somebody were at it.
            log.exception("What came of a step can't be stored", action="step_broken", step=claimed.task.task_name)
            told = f"What came of it can't be stored: {type(error).__name__}."
            await self._settle(claimed.task, Verdict(error=told, final=True))

    async def _settle(self, task: Task, verdict: Verdict) -> None:
        """Until it is stored: sent twice, it changes nothing the second time."""
        settle = partial(workflow_tasks.settle, task=task, verdict=verdict)
        while True:
            try:
                await self._app.database.write(partial(settle, now=self._app.now()), name="step")
                return
            except StoreError as error:
                log.warning("The end of a step can't be stored yet", action="step_waits", error=str(error))
                await asyncio.sleep(LOOK_SECONDS)

    async def _put_back(self) -> None:
        """A clean end: what is being executed gets a moment to finish, and the rest is for others to begin again, at no cost."""
        if self._at_hand:
            await asyncio.wait(set(self._at_hand), timeout=self._app.settings.drain_seconds)
        left = dict(self._at_hand)
        for doing in left:
            doing.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for task in left.values():
            try:
                await self._app.database.write(
                    partial(workflow_tasks.release, task=task, now=self._app.now()), name="step"
                )
            except StoreError as error:
                # Whoever sees that we are gone puts it back.
                log.warning("A step could not be put back", action="step_left", error=str(error))


def _names_in(folder: Path) -> list[str]:
    """The workflows that have a folder."""
    return [each.name for each in folder.iterdir() if len(each.name) == LENGTH] if folder.is_dir() else []
