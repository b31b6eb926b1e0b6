"""`tarantella runs`: see what runs did; steering.py has the commands that change them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tarantella.cli.command import Command, Group
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, RunArgument, ServerUrl, Verbose

if TYPE_CHECKING:
    from tarantella.cli.opening import Opened
    from tarantella.cli.remote_runs import RemoteRuns

EXAMPLES = """
Examples:
  tarantella runs list
  tarantella runs show latest
  tarantella runs pages latest --state failed
  tarantella runs explain latest https://example.com/missing
  tarantella runs resume 4f1c02a9d3be
"""
FOLLOW_SECONDS = 0.5
EVENTS_AT_ONCE = 1_000
WIDE_ENOUGH = 120
NOTHING_YET = "There are no runs yet. Start one: tarantella scrape example.com{0}, or tarantella demo{0}"

StatusName = Literal["queued", "running", "paused", "completed", "partial", "failed", "cancelled"]
StateName = Literal["pending", "done", "failed", "skipped"]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="Show so many at most.")]

app = typer.Typer(
    rich_markup_mode=None,
    cls=Group,
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="See, steer and delete runs.",
)


@app.command("list", cls=Command)
def list_(
    status: Annotated[
        StatusName | None,
        typer.Option(
            metavar="STATUS",
            help="Only those that are queued, running, paused, completed, partial, failed or cancelled.",
        ),
    ] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the runs, the newest first."""

    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).list(status, limit)
    from tarantella.cli.listing import runs_table
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.views import run_json
    from tarantella.domain.run import RunStatus
    from tarantella.services import runs

    async def look(opened_: Opened) -> list[Any]:
        await runs.reap(opened_.app)
        return await runs.listed(opened_.app, status=RunStatus(status) if status else None, limit=limit)

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found = run_async(look(tarantella))
        terminal = tarantella.terminal
        if as_json:
            terminal.show_json([run_json(run) for run in found])
        elif found:
            wide = terminal.out.width >= WIDE_ENOUGH
            terminal.show(runs_table(found, wide=wide, ellipsis=terminal.ellipsis))
        else:
            terminal.say(f"No run is {status}." if status else NOTHING_YET.format(tarantella.suffix))
    return 0


@app.command(cls=Command)
def show(
    run: RunArgument,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show all about one run."""

    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).show(run)
    from tarantella.cli import words
    from tarantella.cli.listing import run_lines
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.summary import reasons_json
    from tarantella.cli.views import run_json
    from tarantella.services import runs
    from tarantella.services.export import exports_of

    async def look(opened_: Opened) -> tuple[Any, list[dict[str, Any]]]:
        run_id = await find(opened_, run)
        return await runs.get(opened_.app, run_id), await runs.troubles(opened_.app, run_id)

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found, troubles = run_async(look(tarantella))
        exports = [words.nearby(path) for path in exports_of(tarantella.app, found.id)]
        if as_json:
            tarantella.terminal.show_json(
                {
                    **run_json(found),
                    "exports": exports,
                    "failures": reasons_json(troubles, "failed"),
                    "skips": reasons_json(troubles, "skipped"),
                    "options": found.spec.to_json(),
                }
            )
        else:
            for line in run_lines(found, troubles, exports):
                tarantella.terminal.show(line)
    return 0


@app.command(cls=Command)
def events(
    run: RunArgument,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show the history of a run; with --follow as it happens.

    With --json it is an array; with --json and --follow it is one object a line.
    """

    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).events(run, follow=follow)
    from tarantella.cli.opening import opened, run_async

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        run_async(_events(tarantella, run, follow, as_json))
    return 0


async def _events(opened: Opened, run: str, follow: bool, as_json: bool) -> None:
    import asyncio

    from tarantella.cli.listing import event_line
    from tarantella.cli.views import event_json
    from tarantella.services import runs

    run_id = await find(opened, run)
    last, collected = 0, []
    while True:
        over = (await runs.get(opened.app, run_id)).is_over
        found = await runs.event_list(opened.app, run_id, after=last, limit=EVENTS_AT_ONCE)
        for event in found:
            last = event["sequence"]
            if not as_json:
                opened.terminal.show(event_line(event))
            elif follow:
                opened.terminal.show_line(event_json(event))
            else:
                collected.append(event_json(event))
        if len(found) == EVENTS_AT_ONCE:
            continue
        if not follow or over:
            break
        await runs.reap(opened.app)
        await asyncio.sleep(FOLLOW_SECONDS)
    if as_json and not follow:
        opened.terminal.show_json(collected)


@app.command(cls=Command)
def progress(
    run: RunArgument,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Show how far a run is, how fast it goes, and when it may end."""
    from tarantella.cli.asking import Asking
    from tarantella.cli.remote_runs import RemoteRuns

    return RemoteRuns(Asking(as_json, verbose, server, data_dir, database_url)).progress(run, follow=follow)


@app.command(cls=Command)
def pages(
    run: RunArgument,
    state: Annotated[
        StateName | None,
        typer.Option(metavar="STATE", help="Only those that are pending, done, failed or skipped."),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Only those with this reason, as in not_found or robots."),
    ] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the pages of a run, in the order they were found."""

    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).pages(run, state, reason, limit)
    from tarantella.cli.listing import pages_table
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.views import page_json
    from tarantella.domain.page import PageState
    from tarantella.services import runs

    async def look(opened_: Opened) -> list[dict[str, Any]]:
        run_id = await find(opened_, run)
        wanted = PageState(state) if state else None
        return await runs.page_list(opened_.app, run_id, state=wanted, reason=reason, limit=limit + 1)

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found = run_async(look(tarantella))
        terminal, more = tarantella.terminal, len(found) > limit
        if as_json:
            terminal.show_json([page_json(page) for page in found[:limit]])
        elif found:
            terminal.show(pages_table(found[:limit]))
        else:
            terminal.say("The run has no such pages.")
        if more:
            terminal.say(f"These are the first {limit}; --limit shows more.")
    return 0


@app.command(cls=Command)
def explain(
    run: RunArgument,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The address of a page of the run, or its path.", show_default=False)
    ],
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """Tell the whole story of one page.

    Where it was found, every attempt at it, and what was decided and why.
    """

    from tarantella.cli.remote_runs import server_of

    if (server := server_of(server, data_dir, database_url)) is not None:
        return remote(server, as_json, verbose).explain(run, url)
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.story import story_lines
    from tarantella.cli.views import attempt_json, page_json
    from tarantella.domain.url import redact
    from tarantella.services import runs

    async def look(opened_: Opened) -> dict[str, Any]:
        return await runs.explain(opened_.app, await find(opened_, run), url)

    with opened(data_dir, database_url, verbose=verbose) as tarantella:
        found = run_async(look(tarantella))
        if as_json:
            parent = found["found_on"]
            tarantella.terminal.show_json(
                {
                    **page_json(found["page"]),
                    "found_on": redact(parent["url"]) if parent else None,
                    "waits": found["waits"],
                    "history": [attempt_json(attempt) for attempt in found["attempts"]],
                    "fields": found["fields"],
                }
            )
        else:
            for line in story_lines(found, time.time()):
                tarantella.terminal.show(line)
    return 0


@app.command(cls=Command)
def artifacts(
    run: RunArgument,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Write them to this folder.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    server: ServerUrl = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """List the screenshots and the HTML that a run in a browser has kept, and save them."""
    from tarantella.cli.artifacts import show
    from tarantella.cli.asking import Asking

    return show(Asking(as_json, verbose, server, data_dir, database_url), run, save)


def remote(server: str, as_json: bool, verbose: int) -> RemoteRuns:
    """The runs of a server."""
    from tarantella.cli.asking import Asking
    from tarantella.cli.remote_runs import RemoteRuns

    return RemoteRuns(Asking(as_json, verbose, server, None, None))


async def find(opened: Opened, text: str) -> str:
    """The run that is meant, after those whose command died were noticed."""
    from tarantella.services import runs

    await runs.reap(opened.app)
    return await runs.find(opened.app, text)
