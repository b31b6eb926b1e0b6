"""`tarantella serve`: the HTTP API in this process, and engines that do the work beside it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from tarantella.cli import exits
from tarantella.cli.command import Command
from tarantella.cli.options import RUNNING, AsJson, BrokerUrl, DatabaseUrl, DataDir, LogFile, Verbose

if TYPE_CHECKING:
    import socket

    from tarantella.cli.signals import Signals
    from tarantella.cli.terminal import Terminal
    from tarantella.services.app import App
    from tarantella.services.seat import Seat
    from tarantella.settings import Settings

EXAMPLES = """
Examples:
  tarantella serve
  tarantella serve --port 9000 --data-dir /var/lib/tarantella --engines 2
  tarantella serve --allow-network 10.0.0.0/8   its runs may fetch from there

Stop it with Ctrl-C or SIGTERM: pages in flight are finished first, and the
next start goes on where this one ended. A second Ctrl-C stops at once.
"""
STOPPING = "Stopping: pages in flight are finished first. Ctrl-C again stops at once."
PATIENCE = 5.0  # seconds for a database that is locked or away: then a client is told to come back
LIMIT = 15.0  # for one that is there and says nothing
SPARE_SECONDS = 10.0  # for an engine to store what it has, after the time that pages in flight are given

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def serve(
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen.", rich_help_panel=RUNNING),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65_535,
            help="The port to listen at; 0 is any that is free.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    engines: Annotated[
        int | None,
        typer.Option(
            "--engines",
            metavar="N",
            min=0,
            max=64,
            help="Processes that do the work; with a broker none, unless you say how many.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-network",
            metavar="CIDR",
            help="A private network that its runs may fetch from, as in 10.0.0.0/8.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
) -> int:
    """Serve the HTTP API, and work on what is submitted to it.

    Engines are processes of their own: one that dies or stands still is replaced. What is queued or
    was interrupted goes on by itself.
    """
    from tarantella.cli import logs
    from tarantella.cli.signals import Signals
    from tarantella.cli.terminal import open_terminal
    from tarantella.settings import load

    with Signals() as signals:
        terminal = open_terminal()
        logs.configure(verbose=verbose, file=log_file, say=logs.line_on_stderr)
        settings = load(
            data_dir=data_dir,
            database_url=database_url,
            broker_url=broker_url,
            host=host,
            port=port,
            engines=engines,
            allow_networks=allow_network or None,
        )
        return _hold_the_seat(signals, terminal, settings, verbose=verbose, as_json=as_json)


def _hold_the_seat(signals: Signals, terminal: Terminal, settings: Settings, *, verbose: int, as_json: bool) -> int:
    from tarantella.bootstrap import open_app
    from tarantella.cli.listening import is_loopback, listening
    from tarantella.cli.opening import run_async
    from tarantella.domain.errors import InvalidInput
    from tarantella.services.seat import Seat
    from tarantella.services.tokens import there_are_any

    seat = Seat(settings.data_dir)
    try:
        with listening(settings.host, settings.port) as sockets:
            app_ = open_app(settings, patience=PATIENCE, limit=LIMIT)
            try:
                if not is_loopback(settings.host) and not run_async(there_are_any(app_)):
                    raise InvalidInput(
                        f"Everybody who reaches {settings.host} could use this server.",
                        field="host",
                        remedy="Make a token first, with `tarantella tokens create`; or listen at 127.0.0.1.",
                    )
                return run_async(_serve(app_, seat, sockets, signals, terminal, verbose=verbose, as_json=as_json))
            finally:
                app_.close()
    finally:
        seat.leave()


async def _serve(
    app_: App,
    seat: Seat,
    sockets: list[socket.socket],
    signals: Signals,
    terminal: Terminal,
    *,
    verbose: int,
    as_json: bool,
) -> int:
    import asyncio

    from tarantella import __version__
    from tarantella.api.app import make_api
    from tarantella.api.server import make_server
    from tarantella.cli.listening import endpoints, is_loopback, url_of
    from tarantella.services.conductor import Conductor
    from tarantella.services.seat import ServerInfo
    from tarantella.services.supervisor import Supervisor
    from tarantella.services.timekeeper import Timekeeper

    settings = app_.settings
    url = url_of(settings.host, sockets[0].getsockname()[1])
    seat.announce(ServerInfo(url, endpoints(sockets), os.getpid(), time.time(), __version__))
    supervisor = Supervisor(app_, settings.engines_of_a_server, verbose=verbose)
    api = make_api(app_, supervisor=supervisor, is_local=is_loopback(settings.host))
    server = make_server(api)
    timekeeper = Timekeeper(app_, api.state.plane.prober, api.state.plane.bell)
    conductor = Conductor(app_, api.state.plane.prober, api.state.plane.bell)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals.on_second(supervisor.kill)
    signals.on_first(lambda: loop.call_soon_threadsafe(stop.set))

    supervising = asyncio.create_task(supervisor.run())
    makers = [
        asyncio.create_task(each.run()) for each in (timekeeper, conductor)
    ]  # of runs that nobody asks for one by one
    serving = asyncio.create_task(server.serve(sockets))
    asked = asyncio.create_task(stop.wait())
    try:
        _tell_where(terminal, url, settings, as_json=as_json)
        await asyncio.wait({supervising, serving, asked}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            terminal.say(STOPPING)
        for maker in makers:
            maker.cancel()
        # The API answers until the engines have ended: whoever watches a run sees it stop.
        await supervisor.stop(settings.drain_seconds + SPARE_SECONDS)
        server.should_exit = True
        await serving
        await supervising
    finally:
        supervisor.kill()
        for task in (supervising, *makers, serving, asked):
            task.cancel()
    return exits.COMPLETE


def _tell_where(terminal: Terminal, url: str, settings: Settings, *, as_json: bool) -> None:
    from tarantella.cli import words

    if as_json:
        terminal.show_line(
            {
                "url": url,
                "dashboard": f"{url}/dashboard",
                "docs": f"{url}/docs",
                "pid": os.getpid(),
                "data_dir": str(settings.data_dir),
            }
        )
        return
    engines = settings.engines_of_a_server
    who = words.count(engines, "engine") if engines else "no engine of its own"
    terminal.say(f"Tarantella serves {url}, with {who} and its data in {settings.data_dir}.")
    if not engines:
        terminal.say("Workers do the work: `tarantella worker` starts some, here or on other machines.")
    terminal.say(f"Watch it at {url}/dashboard. The API is described at {url}/docs. Ctrl-C stops it.")
