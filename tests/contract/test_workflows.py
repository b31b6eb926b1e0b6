"""Workflows: what follows when, who may end what, and what a death costs; on every database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from tarantella.bootstrap import open_app
from tarantella.domain.errors import Conflict, InvalidInput, NotFound, WorkerDead
from tarantella.domain.struct import replace
from tarantella.domain.workflow import Definition, StepStatus, WorkflowStatus
from tarantella.services import jobs, runs, workflows
from tarantella.services.conductor import Conductor
from tarantella.services.workflows import Draft, Group
from tarantella.settings import load
from tarantella.store import times, workers, workflow_sums, workflow_tasks
from tarantella.store.dialect import Place
from tarantella.store.tx import Tx
from tarantella.store.workflow_tasks import Claimed, Verdict
from tests.contract.flows import Clock, Desk, Silence, step


@pytest.fixture
def desk(kind: str, place: Place, tmp_path: Path) -> Iterator[Desk]:
    clock = Clock()
    url = str(place) if kind == "postgresql" else None
    allowed = {"allow_networks": ("127.0.0.0/8",), "workflow_handlers": ("allowed",)}
    app = open_app(load(data_dir=tmp_path / "store", database_url=url, **allowed))
    yield Desk(replace(app, now=clock), clock)
    app.close()


def test_steps_begin_when_all_that_they_need_is_completed(desk: Desk) -> None:
    flow = desk.make(step("a"), step("b"), step("c", 0, 1), step("d", 2))
    assert desk.states(flow) == ["queued", "queued", "pending", "pending"]
    me = desk.worker()
    a, b = desk.take(me)
    assert desk.states(flow) == ["running", "running", "pending", "pending"]
    assert desk.end(a.task, rows=7)
    assert desk.states(flow) == ["completed", "running", "pending", "pending"]
    assert desk.end(b.task)
    [c] = desk.take(me)
    assert (c.step.name, c.results) == ("c", {"a": {"rows": 7}, "b": {}})
    desk.clock.now += 5
    desk.end(c.task)
    [d] = desk.take(me)
    desk.end(d.task)
    seen = desk.seen(flow).workflow
    assert (seen.status, seen.progress, seen.current_step) == ("completed", 100, 4)
    assert seen.completed_at == desk.clock.now
    assert desk.seen(flow).tasks[2].actual_duration == 5.0
    told = ["Workflow created", "Workflow started", *["Step started"] * 2, *["Step completed"] * 2]
    told += ["Step started", "Step completed"] * 2
    assert desk.history(flow) == [*told, "Workflow completed"]


def test_nothing_begins_before_it_is_started_and_it_is_started_once(desk: Desk) -> None:
    flow = desk.make(step("a"), start=False)
    assert (desk.status(flow), desk.states(flow), desk.due()) == ("pending", ["pending"], [])
    desk.do(workflows.start, flow)
    assert "only one that is pending can be started" in desk.refused(workflows.start, flow)
    assert len(desk.due()) == 1


def test_a_step_is_tried_again_after_1_2_4_and_8_seconds_and_then_it_has_failed(desk: Desk) -> None:
    flow, me = desk.make(step("a", max_retries=4)), desk.worker()
    waited = []
    for _ in range(4):
        [a] = desk.take(me)
        desk.end(a.task, error="no")
        assert desk.states(flow) == ["retrying"]
        assert not desk.due()
        due = desk.seen(flow).tasks[0].next_at
        assert due is not None
        waited.append(due - desk.clock.now)
        desk.clock.now = due
    assert waited == [1.0, 2.0, 4.0, 8.0]
    [a] = desk.take(me)
    desk.end(a.task, error="no\0 again")
    seen = desk.seen(flow)
    assert (seen.workflow.status, seen.tasks[0].status, seen.tasks[0].retry_count) == ("failed", "failed", 4)
    assert (seen.tasks[0].error_message, seen.workflow.error_message) == ("no again", "a: no again")
    assert seen.tasks[0].tries == 5


@pytest.mark.parametrize("back", [60.0, 86_400.0])
def test_a_clock_that_is_put_back_keeps_no_step_waiting_until_it_is_that_late_again(desk: Desk, back: float) -> None:
    flow, me = desk.make(step("a"), step("b")), desk.worker()
    desk.clock.now -= back
    a, b = desk.take(me)
    desk.end(b.task)
    desk.clock.now -= back
    desk.end(a.task, error="no")
    assert [task.actual_duration for task in desk.seen(flow).tasks] == [0.0, 0.0]
    assert not desk.due()
    desk.clock.now += back
    assert [task.task_name for task in desk.due()] == ["a"]
    desk.clock.now -= 2 * 86_400.0
    assert [task.task_name for task in desk.due()] == ["a"]


@pytest.mark.parametrize("jump", [3_600.0, -3_600.0])
def test_a_clock_that_is_set_lets_no_step_take_longer_or_less_than_it_does(desk: Desk, jump: float) -> None:
    job, me = desk.job(), desk.worker()
    flow = desk.make(step("collect", job=job.id, timeout=60.0, max_retries=0), step("call"))
    desk.conduct()
    [called] = desk.take(me)
    desk.clock.now += 5 + jump
    follow = partial(times.follow_clock, host="here", now=desk.clock.now, worker_id=me, elapsed=5.0)
    assert desk.write(follow) == jump
    desk.conduct()
    assert desk.states(flow) == ["running", "running"]
    desk.clock.now += 54
    desk.end(called.task)
    assert desk.seen(flow).tasks[1].actual_duration == 59.0
    desk.conduct()
    assert desk.states(flow) == ["running", "completed"]
    desk.clock.now += 2
    desk.conduct()
    assert "longer than 60 s" in (desk.seen(flow).tasks[0].error_message or "")


def test_no_step_has_taken_too_long_before_somebody_could_notice_that_the_clock_was_set(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id, timeout=60.0, max_retries=0))
    passed = 0.0
    desk.conductor = Conductor(desk.app, desk.prober, Silence(), steady=lambda: passed)
    desk.conduct()
    desk.clock.now += 3_600
    for _ in range(20):
        desk.conduct()
        assert desk.states(flow) == ["running"]
        passed += 1.0
        desk.clock.now += 1.0
    desk.conduct()
    assert desk.states(flow) == ["failed"]


def test_what_would_fail_again_is_not_tried_again(desk: Desk) -> None:
    flow, me = desk.make(step("a")), desk.worker()
    [a] = desk.take(me)
    desk.end(a.task, error="never", final=True)
    assert desk.states(flow) == ["failed"]


def test_what_needs_a_failed_step_is_skipped_and_what_does_not_goes_on(desk: Desk) -> None:
    flow, me = desk.make(step("a", max_retries=0), step("b", 0), step("c", 1), step("d")), desk.worker()
    a, d = desk.take(me)
    desk.end(a.task, error="no")
    assert desk.states(flow) == ["failed", "skipped", "skipped", "running"]
    assert desk.status(flow) == "running"
    desk.end(d.task)
    seen = desk.seen(flow).workflow
    assert (seen.status, seen.progress, seen.current_step) == ("failed", 25, 0)
    assert desk.history(flow).count("Step skipped") == 2


def test_a_pause_begins_nothing_and_lets_what_is_running_end(desk: Desk) -> None:
    flow, me = desk.make(step("a"), step("b", 0)), desk.worker()
    [a] = desk.take(me)
    desk.do(workflows.pause, flow, "lunch")
    assert (desk.status(flow), desk.seen(flow).workflow.reason) == ("paused", "lunch")
    assert desk.end(a.task)
    assert desk.states(flow) == ["completed", "queued"]
    assert not desk.due()
    desk.do(workflows.pause, flow)
    assert desk.seen(flow).workflow.reason == "lunch"
    desk.do(workflows.resume, flow)
    desk.do(workflows.resume, flow)
    [b] = desk.take(me)
    desk.end(b.task)
    assert desk.status(flow) == "completed"
    assert desk.history(flow).count("Workflow paused") == desk.history(flow).count("Workflow resumed") == 1


def test_a_pause_during_the_last_step_does_not_keep_it_from_ending(desk: Desk) -> None:
    flow, me = desk.make(step("a")), desk.worker()
    [a] = desk.take(me)
    desk.do(workflows.pause, flow)
    desk.end(a.task)
    assert desk.status(flow) == "completed"


def test_a_cancelled_workflow_stays_cancelled_whatever_ends_later(desk: Desk) -> None:
    flow, me = desk.make(step("a"), step("b", 0), step("c", max_retries=1)), desk.worker()
    a, c = desk.take(me)
    desk.end(c.task, error="no")
    desk.do(workflows.cancel, flow, "enough")
    desk.do(workflows.cancel, flow)
    assert desk.states(flow) == ["cancelled"] * 3
    assert not desk.end(a.task, late=True)
    desk.clock.now += 60
    assert not desk.due()
    seen = desk.seen(flow).workflow
    assert (seen.status, seen.reason, desk.states(flow)) == ("cancelled", "enough", ["cancelled"] * 3)
    for use in (workflows.start, workflows.resume, workflows.recover, workflows.pause):
        assert "cancelled" in desk.refused(use, flow)


def test_a_recovery_does_only_again_what_did_not_go_well(desk: Desk) -> None:
    flow, me = desk.make(step("a"), step("b", 0, max_retries=0), step("c", 1), step("d", 0)), desk.worker()
    [a] = desk.take(me)
    desk.end(a.task, n=1)
    b, d = desk.take(me)
    desk.end(b.task, error="no")
    desk.end(d.task)
    assert desk.states(flow) == ["completed", "failed", "skipped", "completed"]
    desk.do(workflows.recover, flow, reason="mended")
    assert desk.states(flow) == ["completed", "queued", "pending", "completed"]
    [b] = desk.take(me)
    assert b.results == {"a": {"n": 1}, "d": {}}
    desk.end(b.task)
    [c] = desk.take(me)
    desk.end(c.task)
    seen = desk.seen(flow)
    assert (seen.workflow.status, seen.workflow.recovery_attempts) == ("completed", 1)
    assert [task.tries for task in seen.tasks] == [1, 2, 1, 1]


def test_a_recovery_from_a_step_does_it_again_and_all_that_needs_it(desk: Desk) -> None:
    flow, me = desk.make(step("a"), step("b", 0), step("c", 1, max_retries=0)), desk.worker()
    for _ in range(2):
        [each] = desk.take(me)
        desk.end(each.task)
    [c] = desk.take(me)
    desk.end(c.task, error="no")
    assert "comes before step 2" not in desk.history(flow)
    desk.do(workflows.recover, flow, from_step=1)
    assert desk.states(flow) == ["completed", "queued", "pending"]
    assert desk.seen(flow).tasks[1].result == {}


def test_a_recovery_behind_the_step_that_failed_is_refused(desk: Desk) -> None:
    flow, me = desk.make(step("a", max_retries=0), step("b", 0)), desk.worker()
    [a] = desk.take(me)
    desk.end(a.task, error="no")
    assert "comes before step 1" in desk.refused(workflows.recover, flow, from_step=1)
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        desk.do(workflows.recover, flow, from_step=2)
    assert desk.seen(flow).workflow.recovery_attempts == 0


def test_the_fourth_recovery_is_refused(desk: Desk) -> None:
    flow, me = desk.make(step("a", max_retries=0)), desk.worker()
    for attempt in range(4):
        [a] = desk.take(me)
        desk.end(a.task, error="no")
        if attempt < 3:
            desk.do(workflows.recover, flow)
    assert "3 times" in desk.refused(workflows.recover, flow)
    recoverable = desk.do(workflows.listed, group=Group.RECOVERABLE)
    assert [each.id for each in desk.do(workflows.listed, group=Group.FAILED)] == [flow]
    assert recoverable == []


def test_of_many_who_want_a_step_one_gets_it(desk: Desk) -> None:
    flow, workers_ = desk.make(step("a")), [desk.worker() for _ in range(3)]
    [task] = desk.due()
    got = [desk.begin(task, worker) for worker in workers_]
    assert [each is not None for each in got] == [True, False, False]
    assert desk.seen(flow).tasks[0].owner == workers_[0]


def test_an_end_that_is_sent_twice_counts_once(desk: Desk) -> None:
    flow, me = desk.make(step("a"), step("b", 0)), desk.worker()
    [a] = desk.take(me)
    assert desk.end(a.task, n=1)
    assert not desk.end(a.task, n=2)
    assert desk.seen(flow).tasks[0].result == {"n": 1}
    assert desk.history(flow).count("Step completed") == 1


def test_a_death_costs_no_attempt_and_what_the_dead_still_say_is_not_heard(desk: Desk) -> None:
    flow, one, other = desk.make(step("a", max_retries=0)), desk.worker(), desk.worker()
    [mine] = desk.take(one)
    desk.conduct()
    assert desk.states(flow) == ["running"]
    desk.kill(one)
    desk.conduct()
    assert desk.states(flow) == ["queued"]
    with pytest.raises(WorkerDead):
        desk.take(one)
    [again] = desk.take(other)
    assert not desk.end(mine.task, by="the dead")
    assert desk.end(again.task, by="the living")
    seen = desk.seen(flow)
    assert (seen.workflow.status, seen.tasks[0].retry_count, seen.tasks[0].deaths) == ("completed", 0, 1)
    assert seen.tasks[0].result == {"by": "the living"}


def test_a_step_that_kills_whoever_does_it_fails_after_three_deaths(desk: Desk) -> None:
    flow = desk.make(step("a"), step("b", 0))
    for _ in range(3):
        worker = desk.worker()
        desk.take(worker)
        desk.kill(worker)
        desk.conduct()
    seen = desk.seen(flow)
    assert [str(task.status) for task in seen.tasks] == ["failed", "skipped"]
    assert seen.tasks[0].error_message == "crash: 3 processes died at it"
    assert seen.workflow.status is WorkflowStatus.FAILED


def test_a_worker_that_ends_cleanly_gives_its_step_back(desk: Desk) -> None:
    from tarantella.store import workflow_tasks

    flow, me = desk.make(step("a")), desk.worker()
    [a] = desk.take(me)
    desk.write(workflow_tasks.release, task=a.task, now=desk.clock.now)
    assert desk.states(flow) == ["queued"]
    assert desk.seen(flow).tasks[0].deaths == 0
    assert not desk.end(a.task)


def test_the_workflow_of_a_program_that_dies_waits_for_it(desk: Desk) -> None:
    flow, program = desk.make(step("a"), start=False, is_local=True), desk.worker()
    assert "execute_workflow" in str(_error(desk, workflows.start, flow))
    desk.do(workflows.take_up, flow, program)
    assert not desk.due()
    [a] = desk.take(program, keeper=program)
    assert "Another process" in desk.refused(workflows.take_up, flow, desk.worker())
    desk.kill(program)
    seen = desk.seen(flow).workflow
    assert (str(seen.status), seen.keeper) == ("paused", None)
    assert "interrupted" in (seen.reason or "")
    again = desk.worker()
    desk.do(workflows.take_up, flow, again)
    desk.conduct()
    [taken] = desk.take(again, keeper=again)
    assert taken.task.id == a.task.id
    desk.end(taken.task)
    assert desk.status(flow) == "completed"


def test_a_step_that_is_a_run_waits_for_it(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id), step("then", 0))
    desk.conduct()
    run_id = desk.seen(flow).tasks[0].run_id
    assert run_id is not None
    assert desk.do(runs.get, run_id).job_id == job.id
    desk.conduct()
    assert desk.states(flow) == ["running", "pending"]
    desk.end_run(run_id, "partial")
    desk.conduct()
    seen = desk.seen(flow)
    assert [str(task.status) for task in seen.tasks] == ["completed", "queued"]
    assert seen.tasks[0].result == {
        "run_id": run_id, "status": "partial", "total": 1, "done": 1, "failed": 0, "skipped": 0, "records": 0,
    }  # fmt: skip
    assert len(desk.do(runs.listed, job_id=job.id)) == 1


def test_a_run_that_fails_is_made_anew_until_the_step_has_failed(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id, max_retries=1))
    for _ in range(2):
        desk.conduct()
        desk.end_run(desk.seen(flow).tasks[0].run_id or "", "failed")
        desk.conduct()
        desk.clock.now += 1
    assert desk.states(flow) == ["failed"]
    assert "is failed" in (desk.seen(flow).tasks[0].error_message or "")
    assert len(desk.do(runs.listed, job_id=job.id)) == 2


def test_a_run_that_somebody_cancelled_is_not_made_anew(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id), step("then", 0))
    desk.conduct()
    desk.do(runs.cancel, desk.seen(flow).tasks[0].run_id)
    desk.conduct()
    assert desk.states(flow) == ["failed", "skipped"]
    assert len(desk.do(runs.listed, job_id=job.id)) == 1


def test_a_run_that_takes_too_long_is_cancelled_and_so_is_that_of_a_cancelled_workflow(desk: Desk) -> None:
    job = desk.job()
    slow = desk.make(step("collect", job=job.id, max_retries=0, timeout=60.0))
    other = desk.make(step("collect", job=job.id))
    desk.conduct()
    first, second = (desk.seen(flow).tasks[0].run_id or "" for flow in (slow, other))
    desk.clock.now += 61
    desk.do(workflows.cancel, other)
    desk.conduct()
    assert (desk.status(slow), desk.status(other)) == ("failed", "cancelled")
    assert "longer than 60 s" in (desk.seen(slow).tasks[0].error_message or "")
    assert [str(desk.do(runs.get, run).status) for run in (first, second)] == ["cancelled", "cancelled"]


def test_a_run_that_somebody_tries_again_after_its_step_is_left_alone(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id), step("then", 0))
    desk.conduct()
    run_id = desk.seen(flow).tasks[0].run_id or ""
    desk.end_run(run_id, "partial")
    desk.conduct()
    desk.write(lambda tx: tx.execute("UPDATE runs SET status = 'running' WHERE id = :id", id=run_id))
    desk.conduct()
    assert str(desk.do(runs.get, run_id).wanted) == "run"


def test_the_run_of_a_step_that_is_gone_fails_it(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id, max_retries=0))
    desk.conduct()
    run_id = desk.seen(flow).tasks[0].run_id
    desk.write(lambda tx: tx.execute("DELETE FROM runs WHERE id = :id", id=run_id))
    desk.conduct()
    assert desk.seen(flow).tasks[0].error_message == "Its run was deleted."


def test_jobs_that_must_be_looked_at_first_keep_no_other_step_from_its_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = [desk.make(step("collect", job=desk.job().id)) for _ in range(5)]
    looking, new_run = 0, jobs.new_run

    async def together(*given: Any) -> Any:
        nonlocal looking
        looking += 1
        async with asyncio.timeout(10):
            while looking < len(slow):
                await asyncio.sleep(0.01)
        return await new_run(*given)

    monkeypatch.setattr(jobs, "new_run", together)
    desk.conduct()
    assert [desk.states(flow) for flow in slow] == [["running"]] * len(slow)


def test_many_servers_make_one_run_of_a_step(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("collect", job=job.id))

    async def all_look() -> None:
        await asyncio.gather(*(desk.conductor.look() for _ in range(5)))

    asyncio.run(all_look())
    assert len(desk.do(runs.listed, job_id=job.id)) == 1
    assert desk.seen(flow).tasks[0].tries == 1


def test_a_job_with_a_live_workflow_stays_and_takes_its_workflows_with_it_later(desk: Desk) -> None:
    job = desk.job()
    flow = desk.make(step("a"), job_id=job.id)
    with pytest.raises(Conflict, match="not over"):
        desk.do(jobs.delete, job.id)
    found = desk.do(workflows.of_job, job.id)
    assert found.workflow.id == flow
    desk.do(workflows.cancel, flow)
    desk.do(jobs.delete, job.id)
    with pytest.raises(NotFound):
        desk.seen(flow)
    left = "SELECT (SELECT count(*) FROM workflow_tasks) + (SELECT count(*) FROM workflow_events)"
    assert desk.read(lambda tx: tx.value(left)) == 0


def test_what_makes_no_sense_is_refused_before_anything_is_stored(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.make(step("a"), job_id="01a1f281-1b55-7275-ac11-450ac18975a1")
    with pytest.raises(InvalidInput) as nothing:
        desk.make(step("a"), step("b", job="01a1f281-1b55-7275-ac11-450ac18975a1"))
    assert nothing.value.field == "steps.1.job"
    for handler in (
        "os:getcwd",
        "allowed:_private",
        "allowed:__dir__",
        "allowed:one.two",
        "allowed:",
        ":one",
        "exports",
    ):
        with pytest.raises(InvalidInput) as forbidden:
            desk.make(step("a", handler=handler))
        assert forbidden.value.field == "steps.0.handler"
    with pytest.raises(InvalidInput, match="params"):
        desk.make(step("a", params={"x": "y" * 70_000}))
    assert desk.do(workflows.listed) == []


def test_a_template_keeps_its_versions_apart_from_what_was_made_of_it(desk: Desk) -> None:
    one, two = Definition("nightly", (step("a"),)), Definition("nightly", (step("a"), step("b", 0)))
    assert desk.do(workflows.keep_template, "nightly", one).version == 1
    assert desk.do(workflows.keep_template, "nightly", one).version == 1
    first = desk.do(workflows.create, Draft(template="nightly")).workflow
    assert desk.do(workflows.keep_template, "nightly", two).version == 2
    second = desk.do(workflows.create, Draft(template="nightly")).workflow
    assert [(each.version, each.total_steps) for each in (first, second)] == [(1, 1), (2, 2)]
    assert desk.seen(first.id).workflow.definition == one
    desk.do(workflows.delete_template, "nightly")
    with pytest.raises(NotFound):
        desk.do(workflows.create, Draft(template="nightly"))
    assert desk.seen(first.id).workflow.template == "nightly"


def test_what_steps_took_is_counted_once_for_each_end_and_never_falls(desk: Desk) -> None:
    def told() -> dict[tuple[str, str], tuple[int, float]]:
        return {(kind, end): (steps, seconds) for kind, end, steps, seconds in desk.read(workflow_sums.totals)}

    flow, me = desk.make(step("a", task_type="x"), step("b", 0, task_type="y", max_retries=1)), desk.worker()
    [a] = desk.take(me)
    desk.clock.now += 2
    desk.end(a.task)
    desk.end(a.task)
    for _ in range(2):
        desk.clock.now += 1
        [b] = desk.take(me)
        desk.clock.now += 3
        desk.end(b.task, error="no")
    before = told()
    assert before == {("x", "completed"): (1, 2.0), ("y", "failed"): (1, 3.0)}
    desk.do(workflows.recover, flow, from_step=0)
    assert told() == before
    [a] = desk.take(me)
    desk.clock.now -= 60
    desk.end(a.task)
    assert told() == {**before, ("x", "completed"): (2, 2.0)}
    desk.do(workflows.cancel, flow)
    desk.do(workflows.delete, flow)
    assert told() == {**before, ("x", "completed"): (2, 2.0)}


def test_types_of_steps_stay_what_they_were_counted_as_however_many_come_later(desk: Desk) -> None:
    def end(*types: str) -> None:
        def write(tx: Tx) -> None:
            for task_type in types:
                workflow_sums.add(tx, task_type, StepStatus.COMPLETED, 1.0)

        desk.write(write)

    end(*(f"t{number}" for number in range(60)), "a\nb", "t3", "t59", "others")
    counted = {kind: steps for kind, _, steps, _ in desk.read(workflow_sums.totals)}
    assert (len(counted), counted["t3"], counted["t49"], counted["others"]) == (51, 2, 1, 13)
    end(*["t59"] * 100)
    again = {kind: steps for kind, _, steps, _ in desk.read(workflow_sums.totals)}
    assert again == {**counted, "others": 113}


def test_a_step_is_found_by_the_id_of_its_execution(desk: Desk) -> None:
    desk.make(step("a"))
    [a] = desk.take(desk.worker())
    assert a.task.celery_task_id is not None
    assert desk.do(workflows.find_task, a.task.celery_task_id).id == a.task.id
    assert desk.do(workflows.find_task, a.task.id).task_name == "a"
    with pytest.raises(NotFound):
        desk.do(workflows.find_task, "nothing")


def test_a_worker_that_retires_is_no_death(desk: Desk) -> None:
    flow, me = desk.make(step("a"), start=False, is_local=True), desk.worker()
    desk.do(workflows.take_up, flow, me)
    desk.write(workers.retire, worker_id=me, max_running=5, now=desk.clock.now)
    assert desk.status(flow) == "paused"


def _error(desk: Desk, use: object, *given: object) -> Exception:
    with pytest.raises(Conflict) as caught:
        desk.do(use, *given)  # type: ignore[arg-type]
    return caught.value


def test_the_folder_of_a_workflow_goes_with_it_whoever_deletes_it(desk: Desk) -> None:
    from tarantella.services.stepper import Stepper

    job = desk.job()
    flow, other = desk.make(step("a"), job_id=job.id), desk.make(step("a"))
    folder = desk.app.settings.workspaces_dir
    for each in (flow, other):
        (folder / each / "deep").mkdir(parents=True)
    desk.do(workflows.cancel, flow)
    desk.do(jobs.delete, job.id)

    async def look() -> None:
        stepper = Stepper(desk.app, me, lambda _: asyncio.sleep(60, Verdict()))
        doing = asyncio.create_task(stepper.run())
        while (folder / flow).exists():
            await asyncio.sleep(0.01)
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)

    me = desk.worker()
    asyncio.run(asyncio.wait_for(look(), 20))
    assert [each.name for each in folder.iterdir()] == [other]


def test_long_results_are_read_only_by_who_needs_them(desk: Desk) -> None:
    flow, me = desk.make(step("a"), step("b"), step("c", 0, 1)), desk.worker()
    a, b = desk.take(me)
    long = "ä" * workflows.MOST_SHOWN_BYTES
    desk.end(a.task, text=long)
    desk.end(b.task, text="short")
    assert [task.result for task in desk.seen(flow).tasks] == [None, {"text": "short"}, {}]
    assert desk.do(workflows.get, flow, whole=True).tasks[0].result == {"text": long}
    assert desk.do(workflows.find_task, a.task.id).result == {"text": long}
    [c] = desk.take(me)
    assert c.results == {"a": {"text": long}, "b": {"text": "short"}}


def test_what_params_call_a_secret_stands_in_no_error_and_no_event(desk: Desk) -> None:
    params = {
        "login": {"user": "ada", "password": "canary-1"},
        "api_tokens": 4,
        "token": ["canary-2", "canary-22", "a"],
        "key": "Error",
    }
    flow, me = desk.make(step("a", params=params, max_retries=1)), desk.worker()
    told = "ValueError: ada canary-1 canary-2 canary-22 at http://ada:canary-3@127.0.0.1/?token=canary-4"
    for _ in range(2):
        desk.clock.now += 1
        [a] = desk.take(me)
        assert a.step.params == params
        desk.end(a.task, error=told)
    seen = desk.seen(flow)
    assert seen.tasks[0].error_message == "ValueError: ada *** *** *** at http://***@127.0.0.1/?token=***"
    assert "canary" not in str([seen.workflow.error_message, desk.do(workflows.event_list, flow)])


def test_what_can_not_be_stored_or_looked_at_ends_its_step_and_keeps_no_other_from_going_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tarantella.services import stepper

    broken, sound = desk.make(step("a")), desk.make(step("a"))

    def unreadable(_: object) -> list[str]:
        raise PermissionError("nobody may look there")

    async def execute(claimed: Claimed) -> Verdict:
        return Verdict(result={"unheard": object()} if claimed.workflow.id == broken else {})

    async def look() -> None:
        doing = asyncio.create_task(stepper.Stepper(desk.app, me, execute).run())
        while not all([not (await workflows.get(desk.app, each)).workflow.is_live for each in (broken, sound)]):
            await asyncio.sleep(0.01)
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)

    monkeypatch.setattr(stepper, "_names_in", unreadable)
    me = desk.worker()
    asyncio.run(asyncio.wait_for(look(), 20))
    assert (desk.status(broken), desk.status(sound)) == ("failed", "completed")
    assert desk.seen(broken).tasks[0].error_message == "What came of it can't be stored: TypeError."


@pytest.mark.parametrize("depth", [200, 240, 250, 1_000])
def test_a_result_is_stored_and_shown_or_refused_in_words_however_deep_it_is(desk: Desk, depth: int) -> None:
    from tarantella.services.step_handlers import StepContext, call

    value: object = 1
    for _ in range(depth):
        value = [value]
    context = StepContext("id", "flow", "step", 1, {}, {}, desk.app.settings.workspaces_dir / "x")
    verdict = asyncio.run(call(lambda: value, context))
    if verdict.error is not None:
        assert "can't be stored" in verdict.error
        return
    desk.make(step("a"), step("b", 0))
    me = desk.worker()
    [a] = desk.take(me)
    desk.write(workflow_tasks.settle, task=a.task, verdict=verdict, now=desk.clock.now)
    [b] = desk.take(me)
    assert orjson.loads(orjson.dumps({"context": StepContext.of(b, context.workspace).to_json()}))
