"""`tarantella workflows`: steps that wait for one another."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tarantella.cli import workflow_templates
from tarantella.cli.asking import Asking
from tarantella.cli.command import Command, Group
from tarantella.cli.named import JOBS, WORKFLOWS
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, ServerUrl, Verbose, Yes
from tarantella.domain.errors import InvalidInput

if TYPE_CHECKING:
    from tarantella.cli.connection import Connection

EXAMPLES = """
Examples:
  tarantella workflows check nightly.yaml
  tarantella workflows create nightly.yaml --start
  tarantella workflows show latest
  tarantella workflows list --recoverable
  tarantella workflows recover latest --from-step Export
  tarantella workflows templates set nightly nightly.yaml
  tarantella workflows create --template nightly --job latest

FILE is YAML or JSON with a name and steps, as in

  name: Nightly
  steps:
    - name: Collect
      job: 0199f3a2-7c1e-7d4b-9a51-3f0f4c6d2b10
    - name: Export
      handler: export
      params: {format: csv}
      dependencies: [Collect]

Steps are executed by `tarantella serve`.
"""
COLUMNS = {
    "workflow": "id",
    "status": "status",
    "%": "progress",
    "step": "current_step",
    "of": "total_steps",
    "name": "name",
    "job": "job_id",
    "created": "created_at",
}
STEP_COLUMNS = {
    "step": "step_index",
    "name": "name",
    "status": "status",
    "retries": "retry_count",
    "type": "task_type",
    "seconds": "actual_duration",
    "waits for": "waits_for",
    "id": "id",
}
WORKFLOW = "/workflows/{}"
OVER = ("completed", "failed", "cancelled")
LOOK_SECONDS = 0.5
NOTHING = "There are no workflows yet: `tarantella workflows create FILE --start` begins one."
NO_SUCH = "There are no such workflows."
StatusName = Literal["pending", "running", "paused", "completed", "failed", "cancelled", "recovering"]
StepStatusName = Literal[
    "pending", "queued", "running", "retrying", "completed", "failed", "skipped", "cancelled", "retryable"
]

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Make workflows of jobs and handlers, watch and steer them.",
)
app.add_typer(workflow_templates.app, name="templates")
WorkflowArgument = Annotated[
    str,
    typer.Argument(
        metavar="WORKFLOW", help="A workflow: its id, the beginning or the end of it, or `latest`.", show_default=False
    ),
]
FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A workflow file, in YAML or JSON.", show_default=False)
]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for whoever asks later.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="So many at most.")]


@app.command(cls=Command)
def create(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A workflow file, in YAML or JSON.", show_default=False)
    ] = None,
    template: Annotated[
        str | None, typer.Option(metavar="NAME", help="The template that says what a file would.")
    ] = None,
    job: Annotated[
        str | None, typer.Option(metavar="JOB", help="The job that it belongs to: its id, a part of it, or `latest`.")
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="Let it begin at once.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Make a workflow. Nothing of it begins before it is started."""
    from tarantella.cli.connection import connected
    from tarantella.cli.named import meant
    from tarantella.cli.workflow_shown import show_briefly
    from tarantella.services.workflow_file import read_workflow_file

    if (file is None) == (template is None):
        told = "A workflow needs either a file or a template."
        raise InvalidInput(told, field="file", remedy="Give FILE, or --template NAME.")
    body: dict[str, Any] = {"template": template} if file is None else read_workflow_file(file)
    with connected(data_dir, database_url, server, verbose=verbose) as tarantella, of_file(file):
        if job is not None:
            body["job_id"] = meant(tarantella, JOBS, job)
        if start:
            body["start"] = True
        found = tarantella.ask("POST", "/workflows", body)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_briefly(tarantella.terminal, found)
            tarantella.terminal.show(found["id"])
        if start and not tarantella.ask_all("/workers"):
            tarantella.terminal.say("Nobody works here yet: `tarantella serve` does, from its start on.")
    return 0


@app.command(cls=Command)
def check(
    file: FileArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """See whether a file makes sense, and what needs what in it. Nothing is stored."""
    from tarantella.cli.connection import connected
    from tarantella.cli.workflow_shown import show_plan
    from tarantella.services.workflow_file import read_workflow_file

    body = read_workflow_file(file)
    with connected(data_dir, database_url, server, verbose=verbose) as tarantella, of_file(file):
        found = tarantella.ask("POST", "/workflows/check", body)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_plan(tarantella.terminal, found)
    return 0


@app.command("list", cls=Command)
def list_(
    status: Annotated[
        StatusName | None,
        typer.Option(
            metavar="STATUS",
            help="Only those that are pending, running, paused, completed, failed, cancelled or recovering.",
        ),
    ] = None,
    active: Annotated[bool, typer.Option("--active", help="Only those that are running or recovering.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed.")] = False,
    recoverable: Annotated[
        bool, typer.Option("--recoverable", help="Only those that failed and may be recovered.")
    ] = False,
    job: Annotated[
        str | None, typer.Option(metavar="JOB", help="Only those of this job: its id, a part of it, or `latest`.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the workflows, the newest first."""
    from tarantella.cli.connection import connected
    from tarantella.cli.named import meant
    from tarantella.cli.shown import show_table

    wanted = {"active": active, "failed": failed, "recoverable": recoverable}
    groups = [name for name, is_wanted in wanted.items() if is_wanted]
    if len(groups) > 1:
        told = f"--{groups[0]} and --{groups[1]} can't be meant together."
        raise InvalidInput(told, field=groups[1], remedy="Give one of them.")
    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        job_id = meant(tarantella, JOBS, job) if job is not None else None
        group = groups[0] if groups else None
        found = tarantella.listed("/workflows", limit, status=status, group=group, job_id=job_id)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_table(tarantella.terminal, found, COLUMNS, NO_SUCH if status or group or job else NOTHING)
    return 0


@app.command(cls=Command)
def show(
    workflow: WorkflowArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show all about one workflow; its steps hang below what they need."""
    from tarantella.cli.connection import connected, part
    from tarantella.cli.named import meant
    from tarantella.cli.workflow_shown import show_workflow

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.ask("GET", WORKFLOW.format(part(meant(tarantella, WORKFLOWS, workflow))))
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_workflow(tarantella.terminal, found)
    return 0


@app.command(cls=Command)
def progress(
    workflow: WorkflowArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show how far a workflow is: counts, and how each step stands."""
    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("GET", f"{WORKFLOW}/progress", of=(WORKFLOWS, workflow))


@app.command(cls=Command)
def steps(
    workflow: WorkflowArgument,
    status: Annotated[
        StepStatusName | None,
        typer.Option(
            metavar="STATUS",
            help="Only those that are so, as in failed; or retryable: those that may be tried again.",
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the steps of a workflow in their order, with their ids."""
    from tarantella.cli.connection import connected, part
    from tarantella.cli.named import meant
    from tarantella.cli.shown import show_table

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        path = WORKFLOW.format(part(meant(tarantella, WORKFLOWS, workflow)))
        found = tarantella.ask_all(f"{path}/tasks", status=status)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            show_table(tarantella.terminal, found, STEP_COLUMNS, "The workflow has no such steps.")
    return 0


@app.command(cls=Command)
def step(
    step: Annotated[
        str,
        typer.Argument(metavar="STEP", help="The whole id of a step, or of its last execution.", show_default=False),
    ],
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show all about one step, with the whole of its result."""
    from tarantella.cli.connection import part

    asking = Asking(as_json, verbose, server, data_dir, database_url)
    return asking.one("GET", f"/workflows/tasks/{part(step)}")


@app.command(cls=Command)
def start(
    workflow: WorkflowArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Let the first steps of a workflow begin."""
    return _steer("start", workflow, {}, Asking(as_json, verbose, server, data_dir, database_url))


@app.command(cls=Command)
def pause(
    workflow: WorkflowArgument,
    reason: Reason = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Begin no further step; those that are being executed come to their end."""
    return _steer("pause", workflow, {"reason": reason}, Asking(as_json, verbose, server, data_dir, database_url))


@app.command(cls=Command)
def resume(
    workflow: WorkflowArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Go on with a workflow that was paused."""
    return _steer("resume", workflow, {}, Asking(as_json, verbose, server, data_dir, database_url))


@app.command(cls=Command)
def cancel(
    workflow: WorkflowArgument,
    reason: Reason = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """End a workflow for good; what is being executed is stopped."""
    return _steer("cancel", workflow, {"reason": reason}, Asking(as_json, verbose, server, data_dir, database_url))


@app.command(cls=Command)
def recover(
    workflow: WorkflowArgument,
    from_step: Annotated[
        str | None,
        typer.Option(metavar="STEP", help="The number or the name of a step.", show_default="the first that failed"),
    ] = None,
    reason: Reason = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Go on with a workflow that failed. Steps before the one it goes on from are not done again."""
    first: str | int | None = from_step
    if from_step is not None and from_step.isdecimal() and len(from_step) < 10:
        first = int(from_step)
    said = {"from_step": first, "reason": reason}
    return _steer("recover", workflow, said, Asking(as_json, verbose, server, data_dir, database_url))


@app.command(cls=Command)
def events(
    workflow: WorkflowArgument,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the workflow is over.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show the history of a workflow; with --follow as it happens.

    With --json it is an array; with --json and --follow it is one object a line.
    """
    from tarantella.cli.connection import connected, part
    from tarantella.cli.named import meant
    from tarantella.cli.remote_runs import told_event

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        path = f"{WORKFLOW.format(part(meant(tarantella, WORKFLOWS, workflow)))}/events"
        if as_json and not follow:
            tarantella.terminal.show_json(tarantella.listed(path, sys.maxsize))
            return 0
        for event in _followed(tarantella, path) if follow else tarantella.listed(path, sys.maxsize):
            if as_json:
                tarantella.terminal.show_line(event)
                continue
            meta = {name: value for name, value in event["meta"].items() if name != "task_id"}
            tarantella.terminal.show(told_event({**event, "meta": meta}))
    return 0


def _followed(server: Connection, path: str) -> Iterator[dict[str, Any]]:
    """Events as they happen, until the workflow is over."""
    from tarantella.cli.remote_runs import streamed

    if server.server is not None:
        yield from streamed(server, f"{path}/stream")
        return
    # Nobody serves: a program may be at it, and what we ask ourselves is answered in one piece.
    seen, is_over = 0, False
    while not is_over:
        is_over = server.ask("GET", path.removesuffix("/events"))["status"] in OVER
        found = server.listed(path, sys.maxsize)
        yield from found[seen:]
        seen = len(found)
        if not is_over:
            time.sleep(LOOK_SECONDS)


@app.command(cls=Command)
def delete(
    workflow: WorkflowArgument,
    yes: Yes = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Delete a workflow that is over, its history and its folder. Runs that it made stay."""
    from tarantella.cli import words
    from tarantella.cli.confirm import confirmed
    from tarantella.cli.connection import connected, part
    from tarantella.cli.named import meant

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        path = WORKFLOW.format(part(meant(tarantella, WORKFLOWS, workflow)))
        found = tarantella.ask("GET", path)
        told = words.clean(f"workflow {words.short_id(found['id'])} ({found['name']}, {found['status']})")
        if not yes and not confirmed(f"Delete the {told}, its history and its folder?"):
            tarantella.terminal.say("Nothing was deleted.")
            return 0
        tarantella.ask("DELETE", path)
        if as_json:
            tarantella.terminal.show_json({"id": found["id"], "deleted": True})
        else:
            tarantella.terminal.say(f"Deleted the {told}.")
    return 0


def _steer(how: str, workflow: str, said: dict[str, Any], asking: Asking) -> int:
    from tarantella.cli.connection import connected, part
    from tarantella.cli.named import meant
    from tarantella.cli.workflow_shown import show_briefly

    body = {name: value for name, value in said.items() if value is not None}
    with connected(asking.data_dir, asking.database_url, asking.server, verbose=asking.verbose) as tarantella:
        path = WORKFLOW.format(part(meant(tarantella, WORKFLOWS, workflow)))
        found = tarantella.ask("POST", f"{path}/{how}", body or None)
        if asking.as_json:
            tarantella.terminal.show_json(found)
        else:
            show_briefly(tarantella.terminal, found)
        if how in ("start", "resume", "recover") and not tarantella.ask_all("/workers"):
            tarantella.terminal.say("Nobody works here yet: `tarantella serve` does, from its start on.")
    return 0


@contextmanager
def of_file(file: Path | None) -> Iterator[None]:
    """Let what is refused of a file say which file that is, and where in it."""
    try:
        yield
    except InvalidInput as error:
        if file is None:
            raise
        place = f"{error.field}: " if error.field and not error.message.startswith(f"{error.field}:") else ""
        raise InvalidInput(f"{file}: {place}{error.message}", remedy=error.remedy, field=error.field) from None
