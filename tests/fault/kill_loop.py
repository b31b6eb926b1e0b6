"""Kills a crawl at random moments, resumes it, and again: `python -m tests.fault.kill_loop --kills 200`.

At the end every run must look as if nobody had touched it.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.fault.commands import driver, tarantella
from tests.fault.invariants import Crawled, check, one_value, read_runs
from tests.fault.places import NewPlace, database_url, on_postgres, on_sqlite
from tests.fault.processes import LOOK_AGAIN, Child, SiteProcess
from tests.postgres import Server, binaries_or_skip
from tests.site import tree_path, tree_paths

# Small enough to see the end of it, slow enough to be killed in the middle; the second is for whoever is killed more slowly.
DEPTH, FAN, DELAY_MS = 4, 4, 60
SMALL = (3, 4, 80)
# Part of the kills hit the start: imports, migration, submission.
STARTS_KILLED = 0.2
STARTING = (0.05, 0.8)
WORKING = (0.05, 0.9)
LONGEST_LIFE = 120.0
OF_THE_MOMENT = ("fetched_at", "elapsed_ms")

Start = Callable[[Path], Child]


@dataclass(frozen=True, slots=True)
class Crawler:
    """How a crawl is begun and how it goes on."""

    scrape: Start
    resume: Start


@dataclass(frozen=True, slots=True)
class Report:
    """What a loop did."""

    kills: int
    starts: int
    runs: int
    pages: int
    seconds: float


def one_process(url: str) -> Crawler:
    """The driver: at full speed also after deaths, with many pages in flight."""
    spec, options = {"concurrency": 16, "per_host": 16}, ("--no-taster",)
    return Crawler(
        scrape=lambda data_dir: driver(data_dir, "scrape", url, spec=spec, options=options),
        resume=lambda data_dir: driver(data_dir, "resume", "latest", options=options),
    )


def command_line(url: str, engines: int) -> Crawler:
    """The real thing, taster and all."""
    given = ("--engines", str(engines), "--quiet")
    rules = ("--depth", "all", "--text", "none", "--allow-network", "127.0.0.0/8")
    return Crawler(
        scrape=lambda data_dir: tarantella(data_dir, "scrape", url, *rules, *given),
        resume=lambda data_dir: tarantella(data_dir, "runs", "resume", "latest", *given),
    )


def kill_again_and_again(crawler: Crawler, data_dir: Path, *, kills: int, seed: int) -> Report:
    """Start, kill, resume; when a run ends before its killers are done, begin another one in the same folder."""
    luck = random.Random(seed)
    began, killed, starts, ended_well = time.monotonic(), 0, 0, False
    while killed < kills or _unfinished(data_dir) or not _ended(data_dir):
        starts += 1
        with (crawler.resume if _unfinished(data_dir) else crawler.scrape)(data_dir) as child:
            if killed < kills:
                ended_well = _ends_within(child, _moment(luck, data_dir, child))
                killed += not ended_well
                child.kill()
            else:
                code = child.wait(LONGEST_LIFE)
                # A server may still finish the last commit of a process that was killed: then there is nothing to resume.
                assert code == 0 or not _unfinished(data_dir), f"It ended with {code}.\n{child.errors}"
                ended_well = code == 0
        if has_schema(data_dir):
            check(data_dir)
    # Who was killed in the moment in which the last run ended is not yet known to be dead.
    check(data_dir, at_rest=ended_well)
    found = read_runs(data_dir)
    return Report(killed, starts, len(found), sum(len(run.done) for run in found), time.monotonic() - began)


def undisturbed(crawler: Crawler, data_dir: Path) -> Crawled:
    """The same crawl, left alone."""
    with crawler.scrape(data_dir) as child:
        code = child.wait(LONGEST_LIFE)
        assert code == 0, f"It ended with {code}.\n{child.errors}"
    check(data_dir, at_rest=True)
    [run] = read_runs(data_dir)
    return run


def differences(run: Crawled, model: Crawled) -> list[str]:
    """Where a run differs from the model, times aside."""
    found = [f"it is {run.status}, not {model.status}"] if run.status != model.status else []
    found += [f"lost: {url}" for url in sorted(model.done - run.done)]
    found += [f"too much: {url}" for url in sorted(run.done - model.done)]
    both = model.records.keys() & run.records.keys()
    found += [
        f"another record: {url}" for url in sorted(both) if _lasting(run.records[url]) != _lasting(model.records[url])
    ]
    return found


def _lasting(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in OF_THE_MOMENT}


def _moment(luck: random.Random, data_dir: Path, child: Child) -> float:
    """How long this life lasts, from now: from its start, or from when its worker has begun to work."""
    if luck.random() < STARTS_KILLED:
        return luck.uniform(*STARTING)
    life = luck.uniform(*WORKING)
    give_up = time.monotonic() + LONGEST_LIFE
    while child.is_running and not _works(data_dir, child.pid) and time.monotonic() < give_up:
        time.sleep(LOOK_AGAIN)
    return life


def _ends_within(child: Child, seconds: float) -> bool:
    give_up = time.monotonic() + seconds
    while child.is_running and time.monotonic() < give_up:
        time.sleep(LOOK_AGAIN / 4)
    return not child.is_running


def has_schema(data_dir: Path) -> bool:
    if database_url(data_dir) is None and not (data_dir / "tarantella.db").exists():
        return False
    try:
        return one_value(data_dir, "SELECT count(*) FROM run_workers") is not None
    except (sqlite3.Error, psycopg.Error):
        return False


def _works(data_dir: Path, pid: int) -> bool:
    """Whether the process keeps a run now."""
    kept = "SELECT 1 FROM workers JOIN runs ON runs.keeper = workers.id WHERE workers.pid = ? AND dead_at IS NULL"
    return has_schema(data_dir) and one_value(data_dir, kept, pid) is not None


def _unfinished(data_dir: Path) -> bool:
    return has_schema(data_dir) and any(run.status in ("queued", "running", "paused") for run in read_runs(data_dir))


def _ended(data_dir: Path) -> bool:
    return has_schema(data_dir) and bool(read_runs(data_dir))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fault.kill_loop", description="Kill a crawl again and again."
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument(
        "--engines", type=int, default=0, help="use the real command line with so many processes; 0 is the driver"
    )
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server, which is started for it")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kills-") as name, SiteProcess(Path(name)) as site, ExitStack() as stack:
        new: NewPlace = stack.enter_context(on_sqlite(Path(name)))
        if options.postgres:
            server = stack.enter_context(Server(binaries_or_skip()))
            new = stack.enter_context(on_postgres(server, Path(name)))
        url = site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS))
        crawler = command_line(url, options.engines) if options.engines else one_process(url)
        model = undisturbed(crawler, new("model"))
        assert model.done == {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}
        killed = new("killed")
        report = kill_again_and_again(crawler, killed, kills=options.kills, seed=options.seed)
        wrong = [line for run in read_runs(killed) for line in differences(run, model)]
        print(report)
        print("\n".join(wrong) if wrong else "Nothing was lost, nothing was doubled.")
        raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
