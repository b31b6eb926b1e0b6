"""The rules of workflows: what may be said, what follows when a step ends, and what a recovery does again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.errors import Conflict, InvalidInput
from tarantella.domain.struct import replace
from tarantella.domain.workflow import (
    LIVE,
    LONGEST_DELAY,
    MOST_STEPS,
    OVER,
    STEP_TRANSITIONS,
    WORKFLOW_TRANSITIONS,
    Definition,
    Step,
    StepStatus,
    WorkflowStatus,
    checked,
    current_step,
    numbered,
    onward,
    progress,
    retry_delay,
    taken_back,
)

_S, _W = StepStatus, WorkflowStatus
Graph = list[list[int]]
IN_VAIN = {_S.FAILED, _S.SKIPPED, _S.CANCELLED}


def definition(*steps: Step, **more: Any) -> Definition:
    return Definition("Nightly", steps or (Step("a", handler="export"),), **more)


def step(name: Any = "b", **more: Any) -> Step:
    return Step(name, **{"handler": "export", **more})


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """For each step those that it needs, all of which stand before it."""
    size = draw(st.integers(1, 9))
    return [draw(st.lists(st.integers(0, number - 1), unique=True)) if number else [] for number in range(size)]


# -- what may be said


def test_row_137_what_makes_sense_is_taken_as_it_is() -> None:
    whole = definition(step("a"), step("b", dependencies=(0,)), step("c", handler=None, job="x", dependencies=(0, 1)))
    assert checked(whole) is whole
    assert Definition.from_json(whole.to_json()) == whole


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (definition(step("a"), step("a")), "steps.1.name"),
        (definition(step("a"), step(dependencies=(1,))), "steps.1.dependencies"),
        (definition(step("a", dependencies=(1,)), step()), "steps.0.dependencies"),
        (definition(step("a", dependencies=(-1,))), "steps.0.dependencies"),
        (definition(step("a", dependencies=(7,))), "steps.0.dependencies"),
        (definition(step("a", handler=None)), "steps.0.handler"),
        (definition(step("a", job="x")), "steps.0.handler"),
        (definition(step("a", max_retries=11)), "steps.0.max_retries"),
        (definition(step("a", max_retries=-1)), "steps.0.max_retries"),
        (definition(step("a", timeout=0.5)), "steps.0.timeout"),
        (definition(step("a", timeout=float("nan"))), "steps.0.timeout"),
        (definition(step("a", timeout=float("inf"))), "steps.0.timeout"),
        (definition(step("a", estimated_duration=8 * 86_400.0)), "steps.0.estimated_duration"),
        (definition(step("a", timeout="5")), "steps.0.timeout"),
        (definition(step("a", timeout=True)), "steps.0.timeout"),
        (definition(step("a", max_retries=1.5)), "steps.0.max_retries"),
        (definition(step("a"), step(dependencies=(0.0,))), "steps.1.dependencies"),
        (definition(step("a"), step(dependencies=(False,))), "steps.1.dependencies"),
        (definition(step("a"), step(dependencies=(None,))), "steps.1.dependencies"),
        (definition(step("a", handler=5)), "steps.0.handler"),
        (definition(step("a", handler=None, job=5)), "steps.0.job"),
        (definition(step("a", task_type=None)), "steps.0.task_type"),
        (definition(step(None)), "steps.0.name"),
        (definition(step("caf\udce9")), "steps.0.name"),
        (definition(step(" ")), "steps.0.name"),
        (definition(step("a\0")), "steps.0.name"),
        (definition(step("a", task_type="x" * 51)), "steps.0.task_type"),
        (definition(step("a", handler="x" * 201)), "steps.0.handler"),
        (definition(max_recovery_attempts=0), "max_recovery_attempts"),
        (definition(max_recovery_attempts=11), "max_recovery_attempts"),
        (Definition("", (step(),)), "name"),
        (Definition("x" * 101, (step(),)), "name"),
        (Definition("x", ()), "steps"),
    ],
)
def test_row_137_what_makes_no_sense_is_named_by_where_it_stands(wrong: Definition, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(wrong)
    assert refused.value.field == field


@pytest.mark.parametrize("number", [MOST_STEPS, MOST_STEPS + 1, 10_000])
def test_row_24_there_is_a_most_of_steps(number: int) -> None:
    many = definition(*(step(f"s{each}") for each in range(number)))
    if number <= MOST_STEPS:
        assert checked(many) is many
        return
    with pytest.raises(InvalidInput, match=f"not {number:,}") as refused:
        checked(many)
    assert (refused.value.field, refused.value.limit) == ("steps", MOST_STEPS)


def test_dependencies_may_be_given_by_name() -> None:
    assert numbered(["a", 1, "c"], ["a", "b", "c"], 3) == (0, 1, 2)
    with pytest.raises(InvalidInput, match="no step 'd'") as refused:
        numbered(["d"], ["a"], 4)
    assert refused.value.field == "steps.4.dependencies"


@given(graphs())
def test_whatever_is_accepted_has_no_circle(needs: Graph) -> None:
    steps = [step(f"s{number}", dependencies=tuple(each)) for number, each in enumerate(needs)]
    assert checked(definition(*steps))
    for number, each in enumerate(needs):
        for other in each:
            turned = [*steps]
            turned[other] = replace(turned[other], dependencies=(number,))
            with pytest.raises(InvalidInput):
                checked(definition(*turned))


def test_row_146_retries_wait_1_2_4_8_seconds_and_never_for_ever() -> None:
    assert [retry_delay(retry) for retry in (1, 2, 3, 4, 5)] == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert retry_delay(10) == LONGEST_DELAY == 300.0


# -- what follows


class Story:
    """A workflow that is executed here: every change is looked at, whether it may be."""

    def __init__(self, needs: Graph) -> None:
        self.needs = needs
        self.steps = [_S.PENDING] * len(needs)
        self.status: WorkflowStatus = _W.PENDING
        self.executed: list[int] = []

    def begin(self) -> None:
        self._become(_W.RUNNING)
        self.go_on()

    def go_on(self) -> None:
        follows = onward(self.steps, self.needs)
        for number in follows.queued:
            assert all(self.steps[other] is _S.COMPLETED for other in self.needs[number])
            self.change(number, _S.QUEUED)
        for number in follows.skipped:
            assert any(self.steps[other] in IN_VAIN for other in self.needs[number])
            self.change(number, _S.SKIPPED)
        if follows.status is not None:
            self._become(follows.status)

    def change(self, number: int, status: StepStatus) -> None:
        assert status in STEP_TRANSITIONS[self.steps[number]], (self.steps[number], status)
        self.steps[number] = status

    def end(self, number: int, status: StepStatus) -> None:
        """Execute a step, which comes to this."""
        if self.steps[number] is _S.RETRYING:
            self.change(number, _S.QUEUED)
        self.change(number, _S.RUNNING)
        self.executed.append(number)
        self.change(number, status)
        self.go_on()

    def recover(self, again: Sequence[int]) -> None:
        self._become(_W.RECOVERING)
        for number in again:
            if self.steps[number] is not _S.PENDING:
                self.change(number, _S.PENDING)
        self.begin()

    def due(self) -> list[int]:
        return [number for number, each in enumerate(self.steps) if each in (_S.QUEUED, _S.RETRYING)]

    def _become(self, status: WorkflowStatus) -> None:
        assert status in WORKFLOW_TRANSITIONS[self.status], (self.status, status)
        self.status = status


def executed(needs: Graph, data: st.DataObject) -> Story:
    """A story told to its end: whatever comes of the steps, in whatever order they are executed."""
    story = Story(needs)
    story.begin()
    _to_the_end(story, data)
    return story


def _to_the_end(story: Story, data: st.DataObject) -> None:
    retries = 0
    while story.status is _W.RUNNING:
        due = story.due()
        assert due, f"it is stuck: {story.steps}"
        ends = [_S.COMPLETED, _S.FAILED] + ([_S.RETRYING] if retries < 5 else [])
        came_to = data.draw(st.sampled_from(ends))
        retries += came_to is _S.RETRYING
        story.end(data.draw(st.sampled_from(due)), came_to)


@given(graphs(), st.data())
def test_whatever_steps_come_to_a_workflow_ends_and_is_never_stuck(needs: Graph, data: st.DataObject) -> None:
    story = executed(needs, data)
    assert all(each in OVER for each in story.steps)
    went_well = all(each is _S.COMPLETED for each in story.steps)
    assert story.status is (_W.COMPLETED if went_well else _W.FAILED)
    assert (progress(story.steps) == 100) is went_well
    assert (current_step(story.steps) == len(needs)) is went_well


@given(graphs(), st.data())
def test_row_143_and_144_a_step_is_executed_behind_all_that_it_needs_and_never_without(
    needs: Graph, data: st.DataObject
) -> None:
    story = executed(needs, data)
    for number, each in enumerate(story.steps):
        if each is _S.SKIPPED:
            assert number not in story.executed
            assert any(story.steps[other] in IN_VAIN for other in needs[number])
        else:
            first = story.executed.index(number)
            assert all(other in story.executed[:first] for other in needs[number])


@given(graphs(), st.data())
def test_a_look_at_what_follows_can_be_repeated(needs: Graph, data: st.DataObject) -> None:
    story = Story(needs)
    story.begin()
    for _ in range(data.draw(st.integers(0, len(needs)))):
        if story.due():
            story.end(story.due()[0], data.draw(st.sampled_from([_S.COMPLETED, _S.FAILED])))
    follows = onward(story.steps, needs)
    assert (follows.queued, follows.skipped) == ((), ())


# -- recovery


@given(graphs(), st.data())
def test_row_151_a_recovery_takes_back_all_that_needs_what_it_takes_back_and_nothing_that_stands(
    needs: Graph, data: st.DataObject
) -> None:
    story = executed(needs, data)
    if story.status is not _W.FAILED:
        return
    from_step = data.draw(st.none() | st.integers(0, len(needs) - 1))
    first = next(number for number, each in enumerate(story.steps) if each in IN_VAIN)
    if from_step is not None and from_step > first:
        with pytest.raises(Conflict, match=f"Recover from step {first}"):
            taken_back(story.steps, needs, from_step)
        return
    again = taken_back(story.steps, needs, from_step)
    assert min(again) == (first if from_step is None else from_step)
    for number, each in enumerate(needs):
        assert number in again or not again.intersection(each), "it would stand on what is to be done again"
        assert number in again or story.steps[number] is _S.COMPLETED, "it would never be completed"
    for number in again - {min(again)}:
        assert story.steps[number] in IN_VAIN or again.intersection(needs[number]), "it is done again for nothing"


@given(graphs(), st.data())
def test_a_workflow_that_is_recovered_until_all_goes_well_is_completed(needs: Graph, data: st.DataObject) -> None:
    story = executed(needs, data)
    for _ in range(3):
        if story.status is _W.FAILED:
            story.recover(sorted(taken_back(story.steps, needs, None)))
            _to_the_end(story, data)
    if story.status is _W.FAILED:
        story.recover(sorted(taken_back(story.steps, needs, 0)))
        while story.due():
            story.end(story.due()[-1], _S.COMPLETED)
    assert story.status is _W.COMPLETED


@pytest.mark.parametrize("from_step", [-1, 2, 2**40])
def test_there_is_no_recovery_from_a_step_that_is_not_there(from_step: int) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1") as refused:
        taken_back([_S.FAILED, _S.SKIPPED], [[], [0]], from_step)
    assert (refused.value.field, refused.value.limit) == ("from_step", 1)


# -- the tables


def test_every_state_has_its_transitions_and_can_be_reached() -> None:
    assert set(WORKFLOW_TRANSITIONS) == set(_W)
    assert set(STEP_TRANSITIONS) == set(_S)
    for first, table in ((_W.PENDING, WORKFLOW_TRANSITIONS), (_S.PENDING, STEP_TRANSITIONS)):
        reached, waiting = {first}, [first]
        while waiting:
            for target in table[waiting.pop()] - reached:  # type: ignore[index]
                reached.add(target)
                waiting.append(target)
        assert reached == set(table)


def test_the_transitions_are_those_that_clients_know() -> None:
    assert WORKFLOW_TRANSITIONS[_W.PENDING] >= {_W.RUNNING}
    assert WORKFLOW_TRANSITIONS[_W.RUNNING] == {_W.PAUSED, _W.COMPLETED, _W.FAILED, _W.CANCELLED}
    assert _W.RUNNING in WORKFLOW_TRANSITIONS[_W.PAUSED]
    assert WORKFLOW_TRANSITIONS[_W.FAILED] == {_W.RECOVERING}
    assert _W.RUNNING in WORKFLOW_TRANSITIONS[_W.RECOVERING]
    assert {state for state, targets in WORKFLOW_TRANSITIONS.items() if not targets} == {_W.COMPLETED, _W.CANCELLED}
    assert set(_W) - LIVE == {_W.COMPLETED, _W.FAILED, _W.CANCELLED}
