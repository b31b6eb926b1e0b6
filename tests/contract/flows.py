"""An application by a clock of its own, and somebody who does by hand what servers and engines do of workflows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from tarantella.domain.errors import Conflict
from tarantella.domain.field import Field
from tarantella.domain.job import Wish
from tarantella.domain.workflow import Definition, Step
from tarantella.services import jobs, workflows
from tarantella.services.app import App
from tarantella.services.conductor import Conductor
from tarantella.services.jobs import Job, JobDraft
from tarantella.services.probe import Prober
from tarantella.services.workflows import Detailed, Draft
from tarantella.store import jobs as stored_jobs
from tarantella.store import workers, workflow_tasks
from tarantella.store.ids import new_id
from tarantella.store.tx import Tx
from tarantella.store.workers import WorkerInfo
from tarantella.store.workflow_tasks import Claimed, Kind, Task, Verdict

NOON = 1_795_003_200.0


class Clock:
    """Says what it is told to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


class Silence:
    """Nobody listens for runs here."""

    def call(self, run_id: str, priority: int) -> None: ...

    def ring(self) -> None: ...

    async def close(self) -> None: ...


class Desk:
    """Does what is asked at once, and says what came of it."""

    def __init__(self, app: App, clock: Clock) -> None:
        self.app, self.clock = app, clock
        self.prober = Prober(app.make_tools)  # nobody needs it: the jobs say how they are fetched
        self.conductor = Conductor(app, self.prober, Silence(), steady=clock)

    def read(self, work: Callable[..., Any], **values: Any) -> Any:
        return asyncio.run(self.app.database.read(partial(work, **values)))

    def write(self, work: Callable[..., Any], **values: Any) -> Any:
        return asyncio.run(self.app.database.write(partial(work, **values)))

    def do(self, use: Callable[..., Any], *given: Any, **options: Any) -> Any:
        return asyncio.run(use(self.app, *given, **options))

    # -- workflows

    def make(self, *steps: Step, start: bool = True, recoveries: int = 3, **draft: Any) -> str:
        definition = Definition("a workflow", steps, recoveries)
        made: Detailed = self.do(workflows.create, Draft(definition=definition, **draft), start=start)
        return made.workflow.id

    def seen(self, workflow_id: str) -> Detailed:
        found: Detailed = self.do(workflows.get, workflow_id)
        return found

    def states(self, workflow_id: str) -> list[str]:
        return [str(task.status) for task in self.seen(workflow_id).tasks]

    def status(self, workflow_id: str) -> str:
        return str(self.seen(workflow_id).workflow.status)

    def history(self, workflow_id: str) -> list[str]:
        return [each["message"] for each in self.do(workflows.event_list, workflow_id)]

    def refused(self, use: Callable[..., Any], *given: Any, **options: Any) -> str:
        try:
            self.do(use, *given, **options)
        except Conflict as error:
            return error.message
        raise AssertionError("it was not refused")

    # -- who executes them

    def worker(self) -> str:
        worker_id = new_id()
        info = WorkerInfo(worker_id, None, "here", 1, "0")
        self.write(workers.register, worker=info, now=self.clock.now)
        return worker_id

    def due(self, keeper: str | None = None) -> list[Task]:
        found: list[Task] = self.read(
            workflow_tasks.due, kind=Kind.HANDLER, keeper=keeper, now=self.clock.now, limit=100
        )
        return found

    def take(self, worker: str, keeper: str | None = None) -> list[Claimed]:
        """Begin all handlers whose time has come."""
        taken = [self.begin(task, worker) for task in self.due(keeper)]
        return [each for each in taken if each is not None]

    def begin(self, task: Task, worker: str) -> Claimed | None:
        def claim(tx: Tx) -> Claimed | None:
            workers.check_alive(tx, worker)
            return workflow_tasks.begin(tx, task, owner=worker, run_id=None, now=self.clock.now)

        claimed: Claimed | None = self.write(claim)
        return claimed

    def end(self, task: Task, *, error: str | None = None, final: bool = False, **result: Any) -> bool:
        verdict = Verdict(result=result if error is None else None, error=error, final=final)
        return bool(self.write(workflow_tasks.settle, task=task, verdict=verdict, now=self.clock.now))

    def kill(self, worker: str) -> None:
        self.write(workers.declare_dead, worker_id=worker, max_running=5, now=self.clock.now)

    def conduct(self) -> None:
        """What a server does every second."""
        asyncio.run(self.conductor.look())

    # -- jobs

    def job(self) -> Job:
        async def make() -> Job:
            draft = JobDraft("http://127.0.0.1:9/", (Field("title"),), strategy=Wish.HTTP)
            return await jobs.drafted(self.app, self.prober, draft)

        job = asyncio.run(make())
        self.write(stored_jobs.create, job=job)
        return job

    def end_run(self, run_id: str, status: str) -> None:
        sql = "UPDATE runs SET status = :status, done = 1 WHERE id = :id"
        self.write(lambda tx: tx.execute(sql, status=status, id=run_id))


def step(name: str, *dependencies: int, **more: Any) -> Step:
    """A step whose handler nobody calls in these tests."""
    given = more if "job" in more else {"handler": "clean_up", **more}
    return Step(name, dependencies=dependencies, **given)
