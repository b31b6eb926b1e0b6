"""Leads workflows on: makes the runs that steps are, sees that they have ended, and takes steps back whose process is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tarantella.domain.errors import Gone, NotFound, StoreError, TarantellaError
from tarantella.domain.run import TERMINAL, RunStatus
from tarantella.log import log
from tarantella.queues.contract import Bell
from tarantella.services import jobs, runs
from tarantella.services.app import App
from tarantella.services.probe import Prober
from tarantella.store import admission, submission, workflow_tasks, workflows
from tarantella.store.connection import Row
from tarantella.store.submission import Submission
from tarantella.store.times import TOLERANCE
from tarantella.store.tx import Tx
from tarantella.store.workflow_tasks import Kind, Task, Verdict

LOOK_SECONDS = 1.0
AT_ONCE = 200
PATIENCE = 20.0  # seconds, in which whoever works here has noticed that the clock was set
NEVER = -1.0
_WENT_WELL = (RunStatus.COMPLETED, RunStatus.PARTIAL)


class Conductor:
    """Looks after workflows for as long as a server lives, or the program that executes one. Any number may: each change is made once."""

    def __init__(
        self,
        app: App,
        prober: Prober,
        bell: Bell,
        *,
        keeper: str | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._prober = prober
        self._bell = bell
        self._keeper = keeper  # who executes workflows in a program of their own; without one, it leads all others
        self._steady = steady
        self._ahead: float | None = None  # the clock, of one that nobody sets
        self._patient_until = 0.0

    async def run(self) -> None:
        trouble: str | None = None
        while True:
            try:
                await self.look()
                trouble = None
            except StoreError as error:
                if str(error) != trouble:
                    # Once: it is tried every second.
                    log.warning("Workflows can't be looked at", action="workflows", error=str(error))
                trouble = str(error)
            except Exception as error:
                log.exception("A look at workflows went wrong", action="workflows", error=str(error))
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Do all that can be done now."""
        database, now = self._app.database, self._app.now
        for task in await database.read(partial(workflow_tasks.orphans, limit=AT_ONCE)):
            await database.write(partial(workflow_tasks.requeue, task=task, now=now()), name="workflow")
        until = self._late()
        for task, run in await database.read(partial(workflow_tasks.with_runs_to_end, now=until, limit=AT_ONCE)):
            verdict = _verdict(task, run)
            settle = partial(workflow_tasks.settle, task=task, verdict=verdict, now=now())
            if await database.write(settle, name="workflow") and verdict.ends_run and run is not None:
                with suppress(NotFound, Gone):
                    await runs.cancel(self._app, run.id)
        due = partial(workflow_tasks.due, kind=Kind.JOB, keeper=self._keeper, now=now(), limit=AT_ONCE)
        # Together: a look at the site of each job can take seconds, and others wait for their end meanwhile.
        begun = await asyncio.gather(*map(self._begin, await database.read(due)), return_exceptions=True)
        for each in begun:
            if each is not None:
                raise each

    def _late(self) -> float:
        """Deadlines before this are over. When the clock was set, none is before workers have had the time to move them."""
        now, steady = self._app.now(), self._steady()
        before, self._ahead = self._ahead, now - steady
        if before is not None and abs(self._ahead - before) > TOLERANCE:
            self._patient_until = steady + PATIENCE
        return now if steady >= self._patient_until else NEVER

    async def _begin(self, task: Task) -> None:
        """Make the run that a step is; one that can't be made is a step that failed."""
        try:
            new = await self._new_run(task)
        except StoreError:
            raise
        except Exception as error:
            if not isinstance(error, TarantellaError):
                log.exception("The job of a step can't be run", action="step_broken", step=task.task_name)
            await self._app.database.write(partial(self._fail, task=task, why=str(error)), name="workflow")
            return
        begun = await self._app.database.write(partial(self._store, task=task, new=new), name="workflow")
        if begun:
            self._bell.call(new.run_id, new.spec.priority)

    async def _new_run(self, task: Task) -> Submission:
        job_id = await self._app.database.read(partial(_job_of, task=task))
        return await jobs.new_run(self._app, self._prober, await jobs.get(self._app, job_id))

    def _store(self, tx: Tx, task: Task, new: Submission) -> bool:
        """The step and its run, or neither."""
        limit, now = self._app.settings.max_concurrent_tasks, self._app.now()
        submission.check(tx, new)
        if workflow_tasks.begin(tx, task, owner=None, run_id=new.run_id, now=now) is None:
            return False
        submission.store(tx, [new], max_running=limit)
        admission.admit(tx, limit, now)
        return True

    def _fail(self, tx: Tx, task: Task, why: str) -> None:
        now = self._app.now()
        claimed = workflow_tasks.begin(tx, task, owner=None, run_id=None, now=now)
        if claimed is not None:
            workflow_tasks.settle(tx, claimed.task, Verdict(error=why, final=True), now)


def _verdict(task: Task, run: Row | None) -> Verdict:
    """What came of a step that is a run."""
    if run is None:
        return Verdict(error="Its run was deleted.")
    status = RunStatus(run.status)
    if status in _WENT_WELL:
        counts = {name: getattr(run, name) for name in ("total", "done", "failed", "skipped", "records")}
        return Verdict(result={"run_id": run.id, "status": status, **counts})
    if status in TERMINAL:
        why = run.error_message or run.reason
        # Whoever cancelled it does not want it to be made anew.
        final = status is RunStatus.CANCELLED
        return Verdict(error=f"Its run {run.id} is {status}{f': {why}' if why else ''}.", final=final)
    limit = (task.deadline_at or 0.0) - (task.started_at or 0.0)
    return Verdict(error=f"timeout: its run {run.id} took longer than {limit:g} s", ends_run=True)


def _job_of(tx: Tx, task: Task) -> str:
    job_id = workflows.get(tx, task.workflow_id).definition.steps[task.step_index].job
    assert job_id is not None
    return job_id
