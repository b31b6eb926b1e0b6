"""`tarantella workflows`: files that people write, workflows that they steer, and what they are told."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tarantella.api.views.workflows import TaskFilter
from tarantella.cli import workflows as commands
from tarantella.cli.app import app
from tarantella.cli.workflow_shown import hung
from tarantella.domain.errors import InvalidInput
from tarantella.domain.workflow import WorkflowStatus
from tarantella.services.workflow_file import read_workflow_file

PROGRAM = (sys.executable, "-m", "tarantella")
NIGHTLY = """
name: Nightly
steps:
  - {name: Collect, handler: export, params: {format: csv}, estimated_duration: 300}
  - {name: Validate, handler: export, dependencies: [Collect]}
  - {name: Dedupe, handler: export, dependencies: [0], max_retries: 1}
  - {name: Publish, handler: clean_up, dependencies: [Validate, Dedupe]}
"""


@pytest.fixture
def file() -> Path:
    path = Path("nightly.yaml")
    path.write_text(NIGHTLY)
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["workflows", *arguments])


def told(*arguments: str) -> Any:
    """What a command says to programs."""
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def written(text: str) -> Path:
    path = Path("wrong.yaml")
    path.write_text(text)
    return path


def test_a_check_draws_what_needs_what_and_stores_nothing(file: Path) -> None:
    done = run("check", str(file))
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["step", "needs", "does", "retries", "expected"]
    assert [" ".join(line[:3]) for line in lines[1:]] == ["0 Collect -", "1 |- Validate", "2 `- Dedupe", "3 `- Publish"]
    assert done.stdout.splitlines()[4].startswith("3    `- Publish  1, 2")
    assert done.stderr == "Nightly: 4 steps in 3 stages, 2 at a time at most.\n"
    assert told("check", str(file))["order"] == [[0], [1, 2], [3]]
    assert told("list") == []


def test_a_workflow_is_made_started_steered_and_deleted(file: Path) -> None:
    made = run("create", str(file))
    workflow = made.stdout.strip()
    assert made.stderr == (
        f"Workflow {workflow[-12:]} (Nightly) is pending: `tarantella workflows start {workflow[-12:]}` starts it.\n"
    )
    assert [each["id"] for each in told("list", "--status", "pending")] == [workflow]
    started = run("start", workflow[-12:])
    assert "is running and waits for an engine that is free, to do step 0 (Collect)." in started.stderr
    assert "`tarantella serve`" in started.stderr, "nobody works here"
    assert run("start", "latest").exit_code == 2, "it was started"
    paused = told("pause", "latest", "--reason", "lunch")
    assert (paused["status"], paused["reason"]) == ("paused", "lunch")
    assert "waits for somebody who resumes it (lunch)." in run("pause", workflow[:30]).stderr
    assert told("resume", "latest")["status"] == "running"
    assert [each["id"] for each in told("list", "--active")] == [workflow]
    refused = run("recover", "latest")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "only one that is failed can be recovered" in refused.stderr
    assert run("delete", "latest", "-y").exit_code == 2, "it is not over"
    assert told("cancel", "latest", "--reason", "no need")["reason"] == "no need"
    assert "Add --yes" in run("delete", "latest").stderr
    assert told("delete", "latest", "-y") == {"id": workflow, "deleted": True}
    assert told("list") == []


def test_one_is_shown_with_its_steps_hung_below_what_they_need(file: Path) -> None:
    run("create", str(file), "--start")
    shown = run("show", "latest").stdout.splitlines()
    facts = dict(line.split("  ", 1) for line in shown[: shown.index("")])
    assert {name: facts[name].strip() for name in ("name", "status")} == {"name": "Nightly", "status": "running"}
    assert facts["progress"].strip() == "0 %, 0 of 4 steps completed"
    head, collect, validate, *_ = shown[shown.index("") + 1 :]
    assert head.split() == ["step", "status", "tries", "took", "expected", "needs", "does"]
    assert collect.split()[:3] == ["0", "Collect", "queued"]
    assert validate.split()[:4] == ["1", "|-", "Validate", "pending"]
    assert [step["status"] for step in told("steps", "latest")] == ["queued", "pending", "pending", "pending"]
    assert [step["name"] for step in told("steps", "latest", "--status", "pending")] == [
        "Validate",
        "Dedupe",
        "Publish",
    ]
    first = told("steps", "latest")[0]
    assert told("step", first["id"])["name"] == "Collect"
    assert told("progress", "latest")["total_tasks"] == 4
    assert [event["message"] for event in told("events", "latest")] == ["Workflow created", "Workflow started"]
    assert "Workflow created  steps=4" in run("events", "latest").stdout


def test_a_history_is_followed_until_the_workflow_is_over(file: Path) -> None:
    flow = told("create", str(file), "--start")["id"]
    ending = threading.Timer(2.0, lambda: subprocess.run([*PROGRAM, "workflows", "cancel", flow], check=True))
    ending.start()
    lines = run("events", flow, "--follow", "--json").stdout.splitlines()
    ending.join()
    assert [json.loads(line)["message"] for line in lines] == [
        "Workflow created",
        "Workflow started",
        "Workflow cancelled",
    ]
    assert run("events", flow, "-f").stdout == run("events", flow).stdout


def test_templates_are_kept_shown_used_and_deleted(file: Path) -> None:
    assert "is at version 1" in run("templates", "set", "nightly", str(file)).stderr
    file.write_text(NIGHTLY.replace("Publish", "Print"))
    assert told("templates", "set", "nightly", str(file))["version"] == 2
    assert "This is version 2." in run("templates", "show", "nightly").stderr
    assert run("templates", "list").stdout.splitlines()[1].split()[:4] == ["nightly", "2", "4", "Nightly"]
    made = told("create", "--template", "nightly", "--start")
    assert (made["template"], made["template_version"], made["status"]) == ("nightly", 2, "running")
    assert run("templates", "delete", "nightly", "-y").stderr == "Deleted.\n"
    assert run("create", "--template", "nightly").exit_code == 2


def test_a_workflow_belongs_to_a_job_that_is_named_by_a_part_of_its_id(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARANTELLA_ALLOW_NETWORKS", "127.0.0.0/8")
    job = json.loads(CliRunner().invoke(app, ["jobs", "create", "http://127.0.0.1:9/", "--json"]).stdout)["id"]
    assert told("create", str(file), "--job", job[-8:])["job_id"] == job
    told("create", str(file))
    assert [each["job_id"] for each in told("list", "--job", "latest")] == [job]


def test_what_is_empty_says_what_to_do() -> None:
    assert "`tarantella workflows create FILE --start`" in run("list").stderr
    assert run("list", "--recoverable").stderr == "There are no such workflows.\n"
    assert "`tarantella workflows templates set NAME FILE`" in run("templates", "list").stderr
    assert "`tarantella workflows list` shows" in run("show", "latest").stderr


def test_what_contradicts_itself_is_refused(file: Path) -> None:
    for arguments in (["create"], ["create", str(file), "--template", "x"], ["list", "--active", "--failed"]):
        done = run(*arguments)
        assert (done.exit_code, done.stdout) == (2, ""), arguments
        assert done.stderr.startswith("error: ")


@pytest.mark.parametrize("command", [("check",), ("create",), ("templates", "set", "x")], ids=" ".join)
@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "name: x\nsteps:\n  - {name: a, handler: export, dependencies: [b]}",
            "steps.0.dependencies: There is no step",
        ),
        ("name: x\nsteps:\n  - {name: a, handler: export, dependencies: [0]}", "steps.0.dependencies: Step 0"),
        ("name: x\nsteps:\n  - {name: a, handler: exprot}", "steps.0.handler: There is no handler"),
        ("name: x\nsteps:\n  - {name: a, handler: export, colour: red}", "steps.0.colour: "),
        ("name: x\nsteps:\n  - {name: a, handler: export, max_retries: many}", "steps.0.max_retries: "),
        ("name: x\nsteps: []", "steps: "),
        ("name: x", "steps: "),
    ],
)
def test_row_24_what_is_wrong_in_a_file_is_told_with_the_file_and_the_place(
    command: tuple[str, ...], text: str, place: str
) -> None:
    done = run(*command, str(written(text)))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: wrong.yaml: {place}"), done.stderr
    assert told("list") == []
    assert told("templates", "list") == []


@pytest.mark.parametrize(
    "text",
    [
        "", "steps", "- a", "5", "{", "a: [", "name: x\nname: y", "? [a]\n: b", "a: " + "1" * 5_000, "a: !!int x",
        "a: !!binary aGFsbG8=", "a: !!set {x}", "a: .nan", "a: {b: [.inf]}", "1: x", "a: !!timestamp 2020-01-01",
        "a: !!python/object/apply:os.system [ls]", "a: !!timestamp x", "a: !!map 1", "[" * 5_000, "a: *b", "\x00", "a: \t- b",
        "a: &a [x]\n" + "\n".join(f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
    ],
)  # fmt: skip
def test_row_24_a_file_that_is_none_is_refused_in_words(text: str) -> None:
    done = run("check", str(written(text)))
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("error: wrong.yaml"), done.stderr
    assert "unexpected" not in done.stderr
    assert len(done.stderr) < 500


def test_a_file_that_is_too_large_or_not_there_is_refused(tmp_path: Path) -> None:
    assert "is larger than 1 MB" in run("check", str(written("a: " + "x" * 2_000_000))).stderr
    assert "no.yaml can't be read: No such file or directory. Check FILE." in run("check", "no.yaml").stderr
    assert "can't be read" in run("check", str(tmp_path)).stderr


def test_json_is_a_file_too(file: Path) -> None:
    as_json = Path("nightly.json")
    as_json.write_text(json.dumps(read_workflow_file(file)))
    assert read_workflow_file(as_json) == read_workflow_file(file)


def test_the_place_of_what_json_does_not_know_is_named() -> None:
    for text, place in (("a:\n  - {b: .nan}", "a.0.b"), ("a: {b: {2: x}}", "a.b")):
        with pytest.raises(InvalidInput) as refused:
            read_workflow_file(written(text))
        assert refused.value.field == place


def test_choices_are_those_of_the_domain() -> None:
    assert set(get_args(commands.StatusName)) == set(WorkflowStatus)
    assert set(get_args(commands.StepStatusName)) == set(TaskFilter)


@given(st.integers(1, 100).flatmap(lambda size: st.tuples(*(st.sets(st.integers(0, 99)) for _ in range(size)))))
def test_every_step_is_drawn_once_and_below_the_last_of_those_that_it_needs(wanted: tuple[set[int], ...]) -> None:
    steps = [{"dependencies": sorted(each for each in needs if each < n)} for n, needs in enumerate(wanted)]
    drawn = hung(steps)
    assert sorted(number for number, _ in drawn) == list(range(len(steps)))
    place = {number: at for at, (number, _) in enumerate(drawn)}
    depth = {number: len(line) // 3 for number, line in drawn}
    for number, step in enumerate(steps):
        if not step["dependencies"]:
            assert depth[number] == 0
            continue
        above = max(step["dependencies"])
        assert depth[number] == depth[above] + 1
        between = [other for other, at in place.items() if place[above] < at < place[number]]
        assert all(depth[other] > depth[above] for other in between), "it hangs below another"
