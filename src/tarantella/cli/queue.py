"""`tarantella queue`: gaps are filled by scripts, the most urgent first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import OUTPUT, RUNNING, AsJson, DatabaseUrl, DataDir, LogFile, Quiet, ServerUrl, Verbose

if TYPE_CHECKING:
    from tarantella.domain.run import Priority
    from tarantella.services.reconciliation import Reconciled

EXAMPLES = """
Examples:
  tarantella queue run                       fill what inventory/gaps.json has
  tarantella queue run --priority critical --max-concurrent 3
  tarantella queue run --dry-run             only what would be done
  tarantella queue list --status failed      what was given up, and why
  tarantella queue retry --failure timeout   and once more, please
"""
USUAL_QUEUE = Path("inventory/gaps.json")
USUAL_CONFIG = Path("config/scraper_config.yaml")
NOTHING = "Nothing is in this queue: `tarantella queue run` takes in what its file has."

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Fill gaps with scrapers: scripts that fetch what is missing.",
)
PriorityName = Literal["critical", "high", "medium", "low"]
StatusName = Literal["pending", "running", "completed", "failed", "resolved"]
TaskQueue = Annotated[
    Path,
    typer.Option("--task-queue", metavar="FILE", help="The file of gaps, which is the queue.", rich_help_panel=RUNNING),
]
ScraperConfig = Annotated[
    Path,
    typer.Option(
        "--scraper-config",
        metavar="FILE",
        help="What scrapers there are, and what they accept.",
        rich_help_panel=RUNNING,
    ),
]
ExpectedFile = Annotated[
    Path | None,
    typer.Option(
        "--expected",
        metavar="FILE",
        help="What should be there.",
        show_default="config/expected_coverage.yaml",
        rich_help_panel=RUNNING,
    ),
]
InventoryPlace = Annotated[
    str,
    typer.Option(
        "--inventory",
        metavar="DIR",
        help="Where it should be: a folder, or s3://bucket/prefix.",
        rich_help_panel=RUNNING,
    ),
]
OfPriority = Annotated[
    PriorityName | None, typer.Option("--priority", help="Only those that are critical, high, medium or low.")
]
OfScraper = Annotated[str | None, typer.Option("--scraper", metavar="NAME", help="Only those of this scraper.")]
OfSource = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only those of this source.")]
OfFailure = Annotated[
    str | None, typer.Option("--failure", metavar="CODE", help="Only those that failed for this reason.")
]


@app.command(cls=Command)
def run(
    task_queue: TaskQueue = USUAL_QUEUE,
    scraper_config: ScraperConfig = USUAL_CONFIG,
    priority: OfPriority = None,
    max_concurrent: Annotated[
        int, typer.Option("--max-concurrent", metavar="N", min=1, max=1_000, help="Scripts at a time.")
    ] = 5,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; start nothing, store nothing.")
    ] = False,
    no_reconciliation: Annotated[
        bool, typer.Option("--no-reconciliation", help="Don't look afterwards what is still missing.")
    ] = False,
    expected: ExpectedFile = None,
    inventory: InventoryPlace = ".",
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Execute what is to be done, and go on where it was interrupted.

    Ctrl-C lets the scripts that are running finish, and leaves the rest for
    the next time; a second one ends them. The exit code is 1 if any failed.
    Where somebody has said what should be there, inventory/gaps.json is
    written anew at the end: what was filled is no gap any more.
    """
    from tarantella.cli import exits, queue_shown
    from tarantella.cli.command import say_error
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.signals import Signals
    from tarantella.domain.errors import InvalidInput
    from tarantella.services import filling, queue, reconciliation
    from tarantella.services.foreground import Interrupt
    from tarantella.services.script import end_all_at_once

    try:
        plan = queue.make_plan(task_queue, scraper_config)
    except InvalidInput as error:
        # Not the command is wrong, but what others have written: whoever runs it from cron has failed.
        say_error(str(error))
        return exits.FAILED
    looking = reconciliation.Looking(expected, inventory)
    chosen = _priority(priority)
    if dry_run:
        from tarantella.cli.terminal import open_terminal

        queue_shown.show_plan(open_terminal(quiet=quiet), plan, chosen, as_json=as_json)
        return exits.COMPLETE
    opening = opened(data_dir, database_url, verbose=verbose, log_file=log_file, quiet=quiet, warnings=True)
    with Signals() as signals, opening as tarantella:
        interrupt = Interrupt()
        watcher = queue_shown.Watching(tarantella.terminal, max_concurrent)

        async def fill() -> tuple[filling.Summary, Reconciled | None]:
            import asyncio

            loop = asyncio.get_running_loop()

            def stop() -> None:
                watcher.stopping()
                loop.call_soon_threadsafe(interrupt.set)

            signals.on_first(stop)
            signals.on_second(end_all_at_once)
            summary = await filling.fill(
                tarantella.app, plan, priority=chosen, at_once=max_concurrent, watcher=watcher, interrupt=interrupt
            )
            if no_reconciliation or summary.interrupted or not looking.is_possible:
                return summary, None
            return summary, await reconciliation.reconcile(tarantella.app, looking)

        summary, reconciled = run_async(fill())
        queue_shown.show_summary(tarantella.terminal, plan, summary, reconciled, as_json=as_json)
    if summary.interrupted:
        return exits.INTERRUPTED
    return exits.FAILED if summary.count(queue.GapStatus.FAILED) or plan.read.problems else exits.COMPLETE


@app.command("list", cls=Command)
def list_(
    task_queue: TaskQueue = USUAL_QUEUE,
    status: Annotated[StatusName | None, typer.Option("--status", help="Only those that are so.")] = None,
    priority: OfPriority = None,
    scraper: OfScraper = None,
    source: OfSource = None,
    failure: OfFailure = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=100_000, help="How many at most.", rich_help_panel=OUTPUT)
    ] = 100,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the gaps in the order in which they are filled, and what came of them."""
    from tarantella.cli import queue_shown
    from tarantella.cli.connection import connected

    which = _which(task_queue, priority, scraper, source, failure)
    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.listed("/gaps", limit, status=status, **which)
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            queue_shown.show_gaps(tarantella.terminal, found, NOTHING)
    return 0


@app.command(cls=Command)
def show(
    gap: Annotated[str, typer.Argument(metavar="GAP", help="What its file calls it, or its id.", show_default=False)],
    task_queue: TaskQueue = USUAL_QUEUE,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show a gap, what its script said last, and what follows from how it ended."""
    from tarantella.cli import queue_shown
    from tarantella.cli.connection import connected, part

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        called = tarantella.listed("/gaps", 1, queue=_queue(task_queue), name=gap)
        found = tarantella.ask("GET", f"/gaps/{part(called[0]['id'] if called else gap)}")
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            queue_shown.show_gap(tarantella.terminal, found)
    return 0


@app.command(cls=Command)
def retry(
    task_queue: TaskQueue = USUAL_QUEUE,
    status: Annotated[Literal["failed", "completed"], typer.Option("--status", help="Those that are so.")] = "failed",
    priority: OfPriority = None,
    scraper: OfScraper = None,
    source: OfSource = None,
    failure: OfFailure = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Have gaps done again that were given up, or those that are completed."""
    from tarantella.cli import words
    from tarantella.cli.connection import connected

    which = _which(task_queue, priority, scraper, source, failure)
    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        number = tarantella.ask("POST", "/gaps/retry", {"status": status, **which})["taken_back"]
        if as_json:
            tarantella.terminal.show_line({"taken_back": number})
        elif number:
            tarantella.terminal.show(f"{words.count(number, 'gap')} will be done again with `tarantella queue run`.")
        else:
            tarantella.terminal.show("There is none of those.")
    return 0


@app.command(cls=Command)
def failures(
    task_queue: TaskQueue = USUAL_QUEUE,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the reasons for which gaps are given up, what follows from each, and how many there are."""
    from tarantella.cli import queue_shown
    from tarantella.cli.connection import connected

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        known = {each["queue"]: each["failures"] for each in tarantella.ask_all("/gaps/queues")}
        queue_shown.show_failures(tarantella.terminal, known.get(_queue(task_queue), {}), as_json=as_json)
    return 0


@app.command(cls=Command)
def overview(
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the queues that were ever run on this database, and how their gaps stand."""
    from tarantella.cli import queue_shown
    from tarantella.cli.connection import connected

    with connected(data_dir, database_url, server, verbose=verbose) as tarantella:
        found = tarantella.ask_all("/gaps/queues")
        if as_json:
            tarantella.terminal.show_json(found)
        else:
            queue_shown.show_queues(tarantella.terminal, found)
    return 0


def _priority(name: PriorityName | None) -> Priority | None:
    from tarantella.domain.gap import PRIORITIES

    return PRIORITIES[name.upper()] if name is not None else None


def _queue(file: Path) -> str:
    from tarantella.services.queue import queue_of

    return queue_of(file)


def _which(
    file: Path, priority: PriorityName | None, scraper: str | None, source: str | None, failure: str | None
) -> dict[str, str]:
    """Which gaps are meant, as the API wants to hear it."""
    told = {"queue": _queue(file), "scraper": scraper, "source": source, "failure": failure}
    told["priority"] = priority.upper() if priority is not None else None
    return {name: value for name, value in told.items() if value is not None}
