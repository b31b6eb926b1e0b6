"""Findings as Markdown for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest

from benchmarks.contract import Benchmark, Findings, Setting, Table, Wish
from benchmarks.machine import Machine


@dataclass(frozen=True, slots=True)
class Report:
    """What one benchmark found, and on what machine."""

    benchmark: Benchmark
    setting: Setting
    machine: Machine
    findings: Findings

    def as_json(self) -> str:
        """The raw figures."""
        found = self.findings
        return json.dumps(
            {
                "benchmark": self.benchmark.name,
                "machine": asdict(self.machine),
                "setting": {**asdict(self.setting), "work_dir": None},
                "wishes": [{**asdict(wish), "met": wish.met} for wish in found.wishes],
                "complaints": list(found.complaints),
                "absent": dict(found.absent),
                "figures": list(found.raw),
            },
            indent=2,
        )

    def as_markdown(self, *, with_notes: bool = True) -> str:
        """The tables, with what a reader must know to trust them."""
        found = self.findings
        sections = [
            f"## {self.benchmark.name}",
            self.benchmark.asks,
            *(part for table in found.tables for part in (f"{table.title}:" if table.title else "", _table(table))),
            _wishes(found.wishes),
            _list("**These did not do their work, and count for nothing:**", found.complaints),
            "\n".join(f"**{name} did not run**: {reason}." for name, reason in found.absent.items()),
            _list("", [note.replace("\n", " ") for note in found.notes]) if with_notes else "",
        ]
        return "\n\n".join(section for section in sections if section) + "\n"


def whole(reports: Sequence[Report]) -> str:
    """All reports as one document."""
    return "\n".join(["# Benchmarks\n", *(report.as_markdown() for report in reports), _machine(reports[0].machine)])


def _wishes(wishes: Sequence[Wish]) -> str:
    if not wishes:
        return ""
    rows = [
        [
            wish.what,
            f"{_figure(wish.value)} {wish.unit}".strip(),
            f"{'≤' if wish.at_most else '≥'} {_figure(wish.limit)} {wish.unit}".strip(),
            "yes" if wish.met else "**NO**",
        ]
        for wish in wishes
    ]
    return _table(Table(("wanted of", "is", "should be", "met"), rows))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return "\n".join([*([title, ""] if title else []), *(f"- {line}" for line in lines)])


def _table(table: Table) -> str:
    """Padded, so that it can be read in a terminal too."""
    lines = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    # The first column is words, the others are figures.
    padded = [
        [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    rule = ["-" * width if place == 0 else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    head, *rows = ("| " + " | ".join(line) + " |" for line in (padded[0], rule, *padded[1:]))
    return "\n".join([head, *rows])


def _machine(machine: Machine) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return (
        f"Measured on {machine.cores} cores of {machine.cpu}, {machine.memory_gb:.0f} GB, {machine.system}; "
        f"load average before the first run {machine.load_average}. Python {machine.python}, {versions}.\n"
    )
