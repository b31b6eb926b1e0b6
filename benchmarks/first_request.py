"""How long from the command to its first request: what somebody feels who tries things out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from benchmarks.contestants.contract import Contestant, Task
from benchmarks.contestants.registry import CONTESTANTS, TARANTELLA
from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import nginx, site
from benchmarks.rig.arrivals import Arrivals
from benchmarks.rig.command import running, seconds_of
from benchmarks.rounds import task_in

WANTED_SECONDS = 0.8
PATIENCE = 60.0
FOR_SCALE: Mapping[str, str] = {
    "python -c pass": "pass",
    "import tarantella": "import tarantella",
    "import all of its parts": "import tarantella.bootstrap, tarantella.cli.foreground",
}
# A contestant with the dedup of its own starts as the plain one does.
LEFT_OUT = ("scrapy-plain", "crawlee-plain")

HOW = """\
From the start of the process to its first request, be it robots.txt or a page, by the log of the site: nginx stamps
each request with the millisecond of its arrival. Everybody once in every round, {repetitions} rounds. Tarantella works in a data
directory that exists and has runs in it; the first start of all, which creates it, is told apart."""


def run(setting: Setting) -> Findings:
    contestants = [one for one in CONTESTANTS if one.name not in LEFT_OUT and one.missing() is None]
    folder = setting.work_dir / "first-request"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seconds: dict[str, list[float]] = {}
    try:
        with nginx.serving(site.prepare(site.Shape(1), setting.work_dir), setting.work_dir, keep_log=True) as served:
            task = task_in(folder, served, setting)
            assert served.log is not None
            log = served.log
            created = first_request(_tarantella(contestants), task, log)
            for _ in range(setting.repetitions):
                for one in contestants:
                    seconds.setdefault(one.name, []).append(first_request(one.command, task, log))
                for name, code in FOR_SCALE.items():
                    seconds.setdefault(name, []).append(seconds_of([sys.executable, "-c", code], folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, found in seconds.items():
        say(f"{name}: {median(found):.3f} s")
    return Findings(
        tables=[_table(seconds, created)],
        raw=[{"name": name, "seconds": found} for name, found in {**seconds, "created": [created]}.items()],
        wishes=[
            Wish("`tarantella scrape`, command to first request", median(seconds[TARANTELLA]), WANTED_SECONDS, "s")
        ],
        notes=[HOW.format(repetitions=setting.repetitions)],
    )


def first_request(command: Callable[[Task], list[str]], task: Task, log: Path) -> float:
    """Start a crawl of one page, note when the site heard of it, and let it end."""
    arrivals = Arrivals(log)
    with running(command(task), task.out.parent) as started:
        started.wait(PATIENCE)
        first = next(arrivals.new())
    return first.at - started.began_at


def _tarantella(contestants: list[Contestant]) -> Callable[[Task], list[str]]:
    return next(one.command for one in contestants if one.name == TARANTELLA)


def _table(seconds: Mapping[str, list[float]], created: float) -> Table:
    rows = [
        [f"**{name}**" if name not in FOR_SCALE else f"for scale: `{name}`", *_figures(found)]
        for name, found in seconds.items()
    ]
    rows.append([f"**{TARANTELLA}**, creating its data directory", *_figures([created])])
    return Table(("start", "median ms", "min–max"), rows)


def _figures(seconds: list[float]) -> list[str]:
    return [f"{median(seconds) * 1e3:,.0f}", f"{min(seconds) * 1e3:,.0f}–{max(seconds) * 1e3:,.0f}"]


BENCHMARK = Benchmark("first-request", "How long from the command to its first request?", run)
