"""Figures as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from benchmarks.contestants import BARE_LOOP, CONTESTANTS, SCRAPY_DEDUP, SCRAPY_PLAIN
from benchmarks.machine import Machine
from benchmarks.measure import Measurement

NOTHING = "–"
COLUMNS = (
    "contestant",
    "pages/s, median",
    "min–max",
    "× bare loop",
    "× Scrapy dedup",
    "× Scrapy plain",
    "CPU ms/page",
    "peak MB",
    "site",
    "complete",
)
HOW_TO_READ = """\
- Rounds: {rounds}, interleaved: in each, everybody runs once. Figures are medians; a ratio is the median
  of the ratios within each round. Read the ratios: the rest depends on the machine and on its other users.
- A run is timed from the start of its process to its exit; interpreter, imports and the export to JSON lines
  are included. It counts only if its output holds every page of the site exactly once, with its title.
- Pages have about 20 KB and 40 links; nginx serves them on loopback. Concurrency is {concurrency} for
  everybody. Text of pages: {text}.
- CPU time is that of the contestant and its children, not of nginx. Peak MB is that of its largest process.
- The bare loop neither reads robots.txt nor retries; Scrapy and Tarantella do. Scrapy writes its records
  straight into the file and keeps no store that would survive a crash."""
SMALLER_SITE = """\
- Scrapy crawls a smaller site of the same kind, {scrapy_pages:,} instead of {pages:,} pages, because it would
  take too long. Pages/s stay comparable, though its start counts for more, and its peak memory would be
  higher on the larger site. To give everybody the same: `--scrapy-pages {pages}`."""
NO_TEXT = "- Scrapy extracts no text: it does less here than the others."


@dataclass(frozen=True, slots=True)
class Setting:
    """How the runs were made."""

    pages: int
    scrapy_pages: int
    rounds: int
    concurrency: int
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured, and on what."""

    machine: Machine
    setting: Setting
    measurements: Sequence[Measurement]
    absent: dict[str, str]

    def as_json(self) -> str:
        """The raw figures."""
        return json.dumps(
            {
                "machine": asdict(self.machine),
                "setting": asdict(self.setting),
                "absent": self.absent,
                "measurements": [
                    {**asdict(one), "pages_per_second": one.pages_per_second} for one in self.measurements
                ],
            },
            indent=2,
        )

    def as_markdown(self) -> str:
        """The table, with what a reader must know to trust it."""
        sections = [
            "# Benchmark",
            _table(self.measurements),
            _complaints(self.measurements),
            _absences(self.absent),
            _how_to_read(self.setting, {one.contestant for one in self.measurements}),
            _machine(self.machine),
        ]
        return "\n\n".join(section for section in sections if section) + "\n"


def _table(measurements: Sequence[Measurement]) -> str:
    lines = [f"| {' | '.join(COLUMNS)} |", f"|---|{'---:|' * (len(COLUMNS) - 2)}---|"]
    for contestant in CONTESTANTS:
        if runs := _runs_of(contestant.name, measurements):
            lines.append(_row(f"**{contestant.name}**: {contestant.describes}", runs, measurements))
    return "\n".join(lines)


def _row(label: str, runs: Sequence[Measurement], everybody: Sequence[Measurement]) -> str:
    good = [run for run in runs if run.complaint is None]
    rates = [rate for run in good if (rate := run.pages_per_second)]
    cells = [
        label,
        f"{median(rates):,.0f}" if rates else NOTHING,
        f"{min(rates):,.0f}–{max(rates):,.0f}" if rates else NOTHING,
        *(_ratio(runs, _runs_of(peer, everybody)) for peer in (BARE_LOOP, SCRAPY_DEDUP, SCRAPY_PLAIN)),
        f"{median(run.cpu_seconds / run.pages for run in good) * 1e3:.2f}" if good else NOTHING,
        f"{median(run.peak_bytes for run in good) / 1e6:.0f}" if good else NOTHING,
        f"{runs[0].pages:,} pages",
        f"{len(good)} of {len(runs)}" if len(good) == len(runs) else f"**ONLY {len(good)} OF {len(runs)}**",
    ]
    return f"| {' | '.join(cells)} |"


def _ratio(runs: Sequence[Measurement], peers: Sequence[Measurement]) -> str:
    """The median of the ratios within each round: what slowed the machine then slowed both."""
    peer_rates = {peer.round: peer.pages_per_second for peer in peers}
    ratios = [
        rate / peer_rate for run in runs if (rate := run.pages_per_second) and (peer_rate := peer_rates.get(run.round))
    ]
    if not ratios:
        return NOTHING
    return f"{(ratio := median(ratios)):.{0 if ratio >= 10 else 1 if ratio >= 2 else 2}f}"


def _runs_of(name: str, measurements: Sequence[Measurement]) -> list[Measurement]:
    return [one for one in measurements if one.contestant == name]


def _complaints(measurements: Sequence[Measurement]) -> str:
    bad = [one for one in measurements if one.complaint]
    if not bad:
        return ""
    lines = [f"- {one.contestant}, round {one.round}: {one.complaint}" for one in bad]
    return "\n".join(["**These runs did not do their work, and count for nothing:**", "", *lines])


def _absences(absent: dict[str, str]) -> str:
    return "\n".join(f"**{name} did not run**: {reason}." for name, reason in absent.items())


def _how_to_read(setting: Setting, names: set[str]) -> str:
    notes = [HOW_TO_READ]
    if names & {SCRAPY_DEDUP, SCRAPY_PLAIN}:
        if setting.scrapy_pages != setting.pages:
            notes.append(SMALLER_SITE)
        if setting.text != "none":
            notes.append(NO_TEXT)
    return "\n".join(notes).format(**asdict(setting))


def _machine(machine: Machine) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return (
        f"Measured on {machine.cores} cores of {machine.cpu}, {machine.memory_gb:.0f} GB, {machine.system}; "
        f"load average before the first run {machine.load_average}. Python {machine.python}, {versions}."
    )
