"""How long from the command to its first request: what somebody feels who tries things out."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.contestants.contract import Contestant, Task
from benchmarks.contestants.registry import CONTESTANTS, TARANTELLA, named
from benchmarks.contestants.tarantella_run import ALL_PARTS
from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish, say
from benchmarks.rig import nginx, site
from benchmarks.rig.arrivals import Arrivals
from benchmarks.rig.command import cpu_seconds_of_children, running, seconds_of
from benchmarks.rounds import task_in

WANTED_SECONDS = 0.8
PATIENCE = 60.0
FOR_SCALE: Mapping[str, str] = {
    "`python -c pass`": "pass",
    "`import tarantella`": "import tarantella",
    "import all that `tarantella scrape` needs": ALL_PARTS,
}
# They start as their deduplicating twins do.
LEFT_OUT = ("scrapy-plain", "crawlee-plain")

HOW = """\
From the start of the process to its first request, be it robots.txt or a page, by the log of the site: nginx stamps
each request with the millisecond of its arrival. Everybody once in every round, {repetitions} rounds. Tarantella works in a data
directory that exists and has runs in it; the first start of all, which creates it, is told apart. What is there for scale is timed
from start to exit. CPU is that of the whole command, which crawls one page."""


@dataclass(slots=True)
class Starts:
    """How long each start took, and what the whole command cost."""

    name: str
    seconds: list[float]
    cpu_seconds: list[float]


def run(setting: Setting) -> Findings:
    if (reason := named(TARANTELLA).missing()) is not None:
        return Findings([], [], absent={TARANTELLA: reason})
    contestants = [one for one in CONTESTANTS if one.name not in LEFT_OUT and one.missing() is None]
    folder = setting.work_dir / "first-request"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with nginx.serving(site.prepare(site.Shape(1), setting.work_dir), setting.work_dir, keep_log=True) as served:
            assert served.log is not None
            found = _measure(contestants, task_in(folder, served, setting), served.log, setting.repetitions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ours = next(starts for starts in found if starts.name == TARANTELLA)
    return Findings(
        tables=[_table(found)],
        raw=[asdict(starts) for starts in found],
        wishes=[Wish("`tarantella scrape`, command to first request", median(ours.seconds), WANTED_SECONDS, "s")],
        notes=[HOW.format(repetitions=setting.repetitions)],
    )


def _measure(contestants: Sequence[Contestant], task: Task, log: Path, repetitions: int) -> list[Starts]:
    creating = Starts(f"{TARANTELLA}, creating its data directory", [], [])
    _start(named(TARANTELLA), task, log, creating)
    found = {one.name: Starts(one.name, [], []) for one in contestants}
    scale = {name: Starts(f"for scale: {name}", [], []) for name in FOR_SCALE}
    for _ in range(repetitions):
        for one in contestants:
            _start(one, task, log, found[one.name])
        for name, code in FOR_SCALE.items():
            before = cpu_seconds_of_children()
            scale[name].seconds.append(seconds_of(code, task.out.parent))
            scale[name].cpu_seconds.append(cpu_seconds_of_children() - before)
    for starts in found.values():
        say(f"{starts.name}: {median(starts.seconds):.3f} s")
    return [*found.values(), creating, *scale.values()]


def _start(contestant: Contestant, task: Task, log: Path, starts: Starts) -> None:
    """Start a crawl of one page, note when the site heard of it, and let it end."""
    arrivals = Arrivals(log)
    before = cpu_seconds_of_children()
    with running(contestant.command(task), task.out.parent) as started:
        started.wait(PATIENCE)
    starts.seconds.append(next(arrivals.new()).at - started.began_at)
    starts.cpu_seconds.append(cpu_seconds_of_children() - before)


def _table(found: Sequence[Starts]) -> Table:
    rows = [
        [
            f"**{starts.name}**" if starts.name == TARANTELLA else starts.name,
            f"{median(starts.seconds) * 1e3:,.0f}",
            f"{min(starts.seconds) * 1e3:,.0f}–{max(starts.seconds) * 1e3:,.0f}",
            f"{median(starts.cpu_seconds) * 1e3:,.0f}",
        ]
        for starts in found
    ]
    return Table(("start", "median ms", "min–max", "CPU ms"), rows)


BENCHMARK = Benchmark("first-request", "How long from the command to its first request?", run)
