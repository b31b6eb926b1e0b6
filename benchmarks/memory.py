"""How much memory a crawl needs, and whether it grows with the number of pages."""

from __future__ import annotations

from benchmarks import comparison
from benchmarks.contestants.registry import BARE_LOOP, TARANTELLA, named
from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish
from benchmarks.rig.measure import Measurement
from benchmarks.rig.site import Shape
from benchmarks.rounds import Entry, run_rounds, serving

WANTED_GROWTH = 1.3
WANTED_MEGABYTES = 150.0
FEWER = 10

HOW = """\
Peak resident memory: of the largest process as the system itself keeps it (VmHWM), of all processes of a contestant
together by samples of /proc. The bare loop keeps its list of pages in memory: it is there for scale."""


def run(setting: Setting) -> Findings:
    measurements: list[Measurement] = []
    contestants = [one for name in (BARE_LOOP, TARANTELLA) if (one := named(name)).missing() is None]
    for pages in (max(1, setting.many // FEWER), setting.many):
        with serving(Shape(pages), setting.work_dir) as served:
            measurements += run_rounds([Entry(one, served) for one in contestants], setting, 1)
    return Findings(
        tables=[_table(measurements)],
        raw=comparison.raw(measurements),
        wishes=_wishes(comparison.runs_of(TARANTELLA, measurements)),
        notes=[HOW, f"Text of pages: {setting.text}."],
        complaints=comparison.complaints(measurements),
    )


def _table(measurements: list[Measurement]) -> Table:
    rows = []
    for one in measurements:
        smallest = comparison.runs_of(one.contestant, measurements)[0]
        rows.append(
            [
                f"**{one.contestant}**",
                f"{one.pages:,}",
                comparison.megabytes(one.peak_bytes),
                comparison.megabytes(one.peak_sum_bytes),
                f"{one.peak_bytes / smallest.peak_bytes:.2f}",
            ]
        )
    return Table(("contestant", "pages", "peak MB, largest process", "together", "× fewest pages"), rows)


def _wishes(ours: list[Measurement]) -> list[Wish]:
    if len(ours) < 2 or any(run.complaint for run in ours):
        return []
    few, many = ours
    growth = many.peak_bytes / few.peak_bytes
    return [
        Wish(f"peak at {many.pages:,} pages ÷ peak at {few.pages:,}", growth, WANTED_GROWTH),
        Wish(f"peak at {many.pages:,} pages", many.peak_bytes / 1e6, WANTED_MEGABYTES, "MB"),
    ]


BENCHMARK = Benchmark("memory", "How much memory, and does it grow with the pages?", run)
