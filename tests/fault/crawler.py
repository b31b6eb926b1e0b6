"""A crawler whose clockwork and fetcher a test can choose: `python -m tests.fault.crawler --data-dir D scrape URL`.

It is the foreground work of the command line without its words: on stdout it tells what happens, a JSON object a line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tarantella.bootstrap import make_tools, open_app
from tarantella.domain.errors import TarantellaError
from tarantella.domain.spec import Spec
from tarantella.domain.struct import replace
from tarantella.engine import slices
from tarantella.engine.counters import exposition
from tarantella.engine.taster import LONGEST_LINE, Taster, serve_tastings
from tarantella.engine.timing import Timing
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit, Visitor
from tarantella.engine.worker import Worker, WorkerSettings
from tarantella.extractors.page import Wants
from tarantella.fetchers.contract import Request
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.engine import help_with
from tarantella.services.foreground import Interrupt, Snapshot, work_on
from tarantella.services.keeper import wait_for_keeper
from tarantella.services.submit import new_id, submit
from tarantella.settings import load
from tarantella.store.database import Database
from tarantella.store.dialect import Place
from tests.fault.places import database_url

TIMINGS = {
    "usual": Timing(),
    "quick": Timing(
        tick=0.1, beat=0.4, duty=0.4, dials_nothing_after=2.5, thought_dead_after=4.0, looks_at_most_apart=2.0
    ),
}
POISONED = 71


class Poisoned:
    """A visitor that dies of one page."""

    def __init__(self, visitor: Visitor, poison: str) -> None:
        self._visitor = visitor
        self._poison = poison

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        if self._poison in request.url.href:
            os._exit(POISONED)
        return await self._visitor.visit(request, wants, keep_body)


def main() -> None:
    options = _parser().parse_args()
    slices.LINKS_AT_ONCE = options.links_at_once or slices.LINKS_AT_ONCE
    try:
        sys.exit(asyncio.run(_taste(options) if options.what == "taster" else _crawl(options)))
    except TarantellaError as error:
        print(f"error: {error.code}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)


def tell(told: str, **more: object) -> None:
    print(json.dumps({"told": told, **more}), flush=True)


def quick_app(
    data_dir: Path,
    *,
    timing: Timing = TIMINGS["quick"],
    tools: Callable[[], Tools] = make_tools,
    made: Callable[[Worker], None] = lambda _: None,
    database: Callable[[Place], Database] | None = None,
) -> App:
    """The application with another clockwork, and perhaps another way to the store."""
    app = open_app(load(data_dir=data_dir, database_url=database_url(data_dir)))
    if database is not None:
        app.close()
        app = replace(app, database=database(app.settings.database))

    def make_worker(with_tools: Tools, only_run: str | None) -> Worker:
        settings = WorkerSettings(
            folder=app.settings.workers_dir,
            max_running=app.settings.max_concurrent_tasks,
            slots=app.settings.engine_slots,
            only_run=only_run,
            timing=timing,
        )
        worker = Worker(app.database, with_tools, settings)
        made(worker)
        return worker

    return replace(app, make_worker=make_worker, make_tools=tools)


def spec_of(text: str) -> Spec:
    """What to do, with the defaults of these tests: loopback, all that is linked, short waits."""
    usual = {**Spec().to_json(), "allow_networks": ["127.0.0.0/8"], "depth": None, "text": "none"}
    usual["backoff"] = {"base": 0.1, "factor": 1.0, "cap": 1.0, "jitter": 0.0}
    return Spec.from_json({**usual, **json.loads(text)})


async def _crawl(options: argparse.Namespace) -> int:
    crew: list[Worker] = []
    app = quick_app(options.data_dir, timing=TIMINGS[options.timing], tools=lambda: _tools(options), made=crew.append)
    try:
        if options.what == "engine":
            await help_with(app, await runs.find(app, options.targets[0]))
            return 0
        return await _work(app, options)
    finally:
        for worker in crew:
            tell("worked", id=worker.id, counters=list(exposition(worker.counters.series())))
        app.close()


async def _work(app: App, options: argparse.Namespace) -> int:
    interrupt = Interrupt()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, interrupt.set)

    async def prepare(run_id: str, keeper: str) -> None:
        if options.what == "resume":
            await runs.resume(app, run_id, keeper)
        else:
            await submit(app, spec_of(options.spec), options.targets, run_id=run_id, keeper=keeper)
        tell("run", id=run_id)

    trouble: str | None = None

    def watch(snapshot: Snapshot) -> None:
        nonlocal trouble
        if snapshot.trouble != trouble:
            trouble = snapshot.trouble
            tell("trouble", text=trouble, done=snapshot.run.counts.done)

    if options.what == "resume":
        run_id = await runs.find(app, options.targets[0])
        await wait_for_keeper(app, run_id, timing=TIMINGS[options.timing])
    else:
        run_id = new_id()
    run = await work_on(app, run_id, prepare, engines=options.engines, watch=watch, interrupt=interrupt)
    tell("end", id=run.id, status=run.status, done=run.counts.done, total=run.counts.total)
    return 0 if run.is_over else 130


def _tools(options: argparse.Namespace) -> Tools:
    tools = make_tools()
    if options.poison:
        tools.visitors = {name: Poisoned(visitor, options.poison) for name, visitor in tools.visitors.items()}
        command = (sys.executable, "-m", "tests.fault.crawler", "--poison", options.poison, "taster")
        taster = Taster(command)
        tools.taster, tools.closers = taster, (taster.close, *tools.closers)
    if options.no_taster:
        tools.taster = tools.visitors["http"]
    return tools


async def _taste(options: argparse.Namespace) -> int:
    """The taster's side of the pipe, with the same poison in reach."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    await serve_tastings(Poisoned(make_tools().visitors["http"], options.poison), reader, write)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fault.crawler", description="Crawl with a chosen clockwork.")
    parser.add_argument("what", choices=("scrape", "resume", "engine", "taster"))
    parser.add_argument("targets", nargs="*", help="addresses to scrape, or the run to resume or to help with")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--spec", default="{}", help="values of the spec, as JSON")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--timing", choices=sorted(TIMINGS), default="quick")
    parser.add_argument("--poison", default="", help="die of a page whose address contains this")
    parser.add_argument("--links-at-once", type=int, help="store so many links of a page in one transaction")
    parser.add_argument(
        "--no-taster", action="store_true", help="after two deaths go on in this process, at full speed"
    )
    return parser


if __name__ == "__main__":
    main()
