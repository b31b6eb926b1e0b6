"""Stories in which everything happens to workflows in any order; after each step what must hold is looked at, on every database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tarantella.bootstrap import open_app
from tarantella.domain.errors import Conflict, WorkerDead
from tarantella.domain.struct import replace
from tarantella.domain.workflow import (
    LIVE,
    OVER,
    STEP_TRANSITIONS,
    WORKFLOW_TRANSITIONS,
    Step,
    StepStatus,
    WorkflowStatus,
    current_step,
    progress,
)
from tarantella.services import workflows
from tarantella.services.app import App
from tarantella.settings import load
from tarantella.store import workflow_tasks
from tarantella.store.dialect import Place
from tarantella.store.workflow_tasks import Claimed
from tests.contract.flows import Clock, Desk, step


@st.composite
def graphs(draw: st.DrawFn) -> list[Step]:
    made = []
    for number in range(draw(st.integers(1, 5))):
        needs = draw(st.sets(st.integers(0, number - 1), max_size=2)) if number else set()
        made.append(step(f"s{number}", *sorted(needs), max_retries=draw(st.integers(0, 2))))
    return made


class Stories(RuleBasedStateMachine):
    """Two workers, one of which may be dead, and people who want things."""

    app: App

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(replace(type(self).app, now=(clock := Clock())), clock)
        self.flow: str | None = None
        self.workers = [self.desk.worker(), self.desk.worker()]
        self.hands: list[Claimed] = []  # what has been begun, by the living and the dead
        self.before: tuple[WorkflowStatus, list[StepStatus]] | None = None
        self.completed: dict[str, dict[str, object]] = {}

    @precondition(lambda self: self.flow is None)
    @rule(steps=graphs(), started=st.booleans())
    def make(self, steps: list[Step], started: bool) -> None:
        self.flow = self.desk.make(*steps, start=started, recoveries=2)

    @precondition(lambda self: self.flow is not None)
    @rule(use=st.sampled_from([workflows.start, workflows.pause, workflows.resume, workflows.recover]))
    def want(self, use: object) -> None:
        try:
            self.desk.do(use, self.flow)  # type: ignore[arg-type]
        except Conflict:
            return
        if use is workflows.recover:
            self.completed.clear()

    @precondition(lambda self: self.flow is not None)
    @rule(really=st.integers(0, 9))
    def cancel(self, really: int) -> None:
        if really == 0:
            try:
                self.desk.do(workflows.cancel, self.flow)
            except Conflict:
                return

    @precondition(lambda self: self.flow is not None)
    @rule(who=st.integers(0, 1))
    def take(self, who: int) -> None:
        if self.flow is None:
            return
        try:
            due = [task for task in self.desk.due() if task.workflow_id == self.flow]
            begun = [self.desk.begin(task, self.workers[who]) for task in due]
            self.hands += [each for each in begun if each is not None]
        except WorkerDead:
            return

    @precondition(lambda self: self.hands)
    @rule(data=st.data(), goes=st.sampled_from(["well", "badly", "never"]), twice=st.booleans())
    def end(self, data: st.DataObject, goes: str, twice: bool) -> None:
        each = data.draw(st.sampled_from(self.hands))
        now = next(task for task in self.desk.seen(self.flow or "").tasks if task.id == each.task.id)
        is_its_own = (now.status, now.tries) == (StepStatus.RUNNING, each.task.tries)
        for time in range(1 + twice):
            error = None if goes == "well" else goes
            heard = self.desk.end(each.task, error=error, final=goes == "never", by=each.task.tries)
            assert heard == (is_its_own and time == 0), (
                "an end was heard that was not its own to tell, or was not heard"
            )
        if is_its_own and goes == "well":
            assert each.task.id not in self.completed, "a step ended twice"
            self.completed[each.task.id] = {"by": each.task.tries}

    @precondition(lambda self: self.hands)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        each = data.draw(st.sampled_from(self.hands))
        self.desk.write(workflow_tasks.release, task=each.task, now=self.desk.clock.now)

    @rule(who=st.integers(0, 1), seen=st.booleans())
    def die(self, who: int, seen: bool) -> None:
        self.desk.kill(self.workers[who])
        self.workers[who] = self.desk.worker()
        if seen:
            self.desk.conduct()
            self.take(1 - who)

    @rule()
    def conduct(self) -> None:
        self.desk.conduct()

    @rule(seconds=st.floats(-30, 30))
    def clock(self, seconds: float) -> None:
        self.desk.clock.now += seconds

    def teardown(self) -> None:
        if self.flow is not None and self.desk.seen(self.flow).workflow.is_live:
            self.desk.do(workflows.cancel, self.flow)

    @invariant()
    def all_adds_up(self) -> None:
        if self.flow is None:
            return
        found = self.desk.seen(self.flow)
        status, tasks = found.workflow.status, found.tasks
        states = [task.status for task in tasks]
        assert found.workflow.progress == progress(states)
        assert found.workflow.current_step == current_step(states)
        for task, each in zip(tasks, found.workflow.definition.steps, strict=True):
            if task.status in (StepStatus.QUEUED, StepStatus.RUNNING, StepStatus.RETRYING, StepStatus.COMPLETED):
                assert all(states[other] is StepStatus.COMPLETED for other in each.dependencies), "begun too early"
            assert task.retry_count <= task.max_retries
            assert (task.owner is not None) <= (task.status is StepStatus.RUNNING)
            assert (task.next_at is not None) >= (task.status in (StepStatus.QUEUED, StepStatus.RETRYING))
            if task.id in self.completed and task.status is StepStatus.COMPLETED:
                assert task.result == self.completed[task.id]
        if status not in LIVE:
            assert all(each in OVER for each in states), "over, and yet something could go on"
        if status is WorkflowStatus.RUNNING:
            assert not all(each in OVER for each in states), "running, and nobody could ever end it"
        numbers = [each["sequence"] for each in self.desk.do(workflows.event_list, self.flow)]
        assert numbers == list(range(1, len(numbers) + 1))
        if self.before is not None:
            was, steps_were = self.before
            assert _reaches(WORKFLOW_TRANSITIONS, was, status), f"{was} became {status}"
            for before, after in zip(steps_were, states, strict=True):
                assert _reaches(STEP_TRANSITIONS, before, after), f"a step that was {before} became {after}"
        self.before = (status, states)


def _reaches(transitions: object, before: object, after: object) -> bool:
    """Whether legal moves lead from one to the other: between two looks there may be several."""
    known, reached = dict(transitions), {before}  # type: ignore[call-overload]
    while more := {each for one in reached for each in known[one]} - reached:
        reached |= more
    return after in reached


@pytest.fixture
def app(kind: str, place: Place, tmp_path: Path) -> Iterator[App]:
    url = str(place) if kind == "postgresql" else None
    opened = open_app(load(data_dir=tmp_path / "store", database_url=url))
    yield opened
    opened.close()


@pytest.mark.slow
def test_whatever_happens_to_a_workflow_it_adds_up(app: App) -> None:
    machine = type("Told", (Stories,), {"app": app})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
