"""Measured runs as tables: what each costs, and how one of them stands beside the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from benchmarks.contestants.contract import Contestant
from benchmarks.contract import Table
from benchmarks.rig.measure import Measurement

NOTHING = "–"
COSTS = ("contestant", "pages", "pages/s", "min–max", "CPU ms/page", "peak MB", "complete")
COSTS_TOGETHER = (
    "contestant",
    "pages",
    "pages/s",
    "min–max",
    "CPU ms/page",
    "peak MB, largest",
    "together",
    "complete",
)


def costs(contestants: Sequence[Contestant], measurements: Sequence[Measurement], *, together: bool = False) -> Table:
    """Medians of what each contestant's runs cost."""
    rows = []
    for contestant in contestants:
        if runs := runs_of(contestant.name, measurements):
            rows.append([f"**{contestant.name}**: {contestant.describes}", *_costs(runs, together)])
    return Table(COSTS_TOGETHER if together else COSTS, rows)


def standing(name: str, measurements: Sequence[Measurement]) -> Table | None:
    """One contestant's pages per second as a multiple of each other's, round by round, and its CPU time per page."""
    ours = runs_of(name, measurements)
    others = list(dict.fromkeys(one.contestant for one in measurements if one.contestant != name))
    if not ours or not others:
        return None
    rows = []
    for other in others:
        theirs = runs_of(other, measurements)
        speed = ratios(ours, theirs, lambda run: run.pages / run.wall_seconds)
        work = ratios(ours, theirs, lambda run: run.cpu_seconds / run.pages)
        rows.append(
            [
                other,
                _digits(median(speed)) if speed else NOTHING,
                " ".join(map(_digits, speed)) or NOTHING,
                _digits(median(work)) if work else NOTHING,
            ]
        )
    columns = (f"{name} ÷", "pages/s", "by round", "CPU/page")
    return Table(columns, rows, title="The median of the ratios within each round")


def ratios(
    ours: Sequence[Measurement], theirs: Sequence[Measurement], figure: Callable[[Measurement], float]
) -> list[float]:
    """Ours by theirs in each round in which both did their work."""
    peers = {run.round: figure(run) for run in theirs if run.complaint is None}
    return [figure(run) / peers[run.round] for run in ours if run.complaint is None and run.round in peers]


def median_ratio(name: str, other: str, measurements: Sequence[Measurement]) -> float | None:
    """How many times as fast as another one a contestant is."""
    found = ratios(runs_of(name, measurements), runs_of(other, measurements), lambda run: run.pages / run.wall_seconds)
    return median(found) if found else None


def runs_of(name: str, measurements: Sequence[Measurement]) -> list[Measurement]:
    return [one for one in measurements if one.contestant == name]


def raw(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    return [{**asdict(one), "pages_per_second": one.pages_per_second} for one in measurements]


def complaints(measurements: Sequence[Measurement]) -> list[str]:
    return [f"{one.contestant}, round {one.round}: {one.complaint}" for one in measurements if one.complaint]


def megabytes(count: float) -> str:
    return f"{count / 1e6:.0f}"


def _costs(runs: Sequence[Measurement], together: bool) -> list[str]:
    good = [run for run in runs if run.complaint is None]
    pages = f"{runs[0].pages:,}"
    if not good:
        return [pages, *([NOTHING] * (5 if together else 4)), f"**NONE OF {len(runs)}**"]
    rates = [run.pages / run.wall_seconds for run in good]
    return [
        pages,
        f"{median(rates):,.0f}",
        f"{min(rates):,.0f}–{max(rates):,.0f}",
        f"{median(run.cpu_seconds / run.pages for run in good) * 1e3:.2f}",
        megabytes(median(run.peak_bytes for run in good)),
        *([megabytes(median(run.peak_sum_bytes for run in good))] if together else []),
        f"{len(good)} of {len(runs)}" if len(good) == len(runs) else f"**ONLY {len(good)} OF {len(runs)}**",
    ]


def _digits(ratio: float) -> str:
    return f"{ratio:.{0 if ratio >= 10 else 1 if ratio >= 2 else 2}f}"
