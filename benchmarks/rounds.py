"""Everybody once in every round, one after the other, so that whatever slows the machine slows all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.contestants.contract import Contestant, Task
from benchmarks.contract import Setting, say
from benchmarks.rig import nginx, site
from benchmarks.rig.measure import Measurement, measure
from benchmarks.rig.site import Served


@dataclass(frozen=True, slots=True)
class Entry:
    """A contestant, and the site that it is to crawl."""

    contestant: Contestant
    served: Served
    processes: int = 1


def run_rounds(entries: Sequence[Entry], setting: Setting, rounds: int) -> list[Measurement]:
    """What each run of each of them cost."""
    measurements: list[Measurement] = []
    for number in range(1, rounds + 1):
        for entry in entries:
            one = _run(entry, number, setting)
            say(_line(one))
            measurements.append(one)
    return measurements


@contextmanager
def serving(shape: site.Shape, work_dir: Path) -> Iterator[Served]:
    """A generated site with every page in the server's caches."""
    say(f"preparing a site of {shape.pages:,} pages")
    with nginx.serving(site.prepare(shape, work_dir), work_dir) as served:
        nginx.warm_up(served)
        yield served


@contextmanager
def fresh_folder(work_dir: Path) -> Iterator[Path]:
    """An empty folder for one run; what it leaves can be a gigabyte, and goes with it."""
    folder = work_dir / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def task_in(folder: Path, served: Served, setting: Setting) -> Task:
    return Task(served.start_urls, folder / "pages.jsonl", setting.concurrency, setting.text)


def _run(entry: Entry, number: int, setting: Setting) -> Measurement:
    contestant, served = entry.contestant, entry.served
    with fresh_folder(setting.work_dir) as folder:
        task = replace(task_in(folder, served, setting), processes=entry.processes)
        return measure(
            contestant.name,
            contestant.command(task),
            round_number=number,
            served=served,
            outputs=contestant.outputs(task),
            folder=folder,
            timeout_seconds=contestant.timeout_seconds(served.site.shape.pages),
        )


def _line(one: Measurement) -> str:
    if one.complaint:
        return f"round {one.round}: {one.contestant}: NOT COMPLETE: {one.complaint}"
    return (
        f"round {one.round}: {one.contestant}, {one.pages:,} pages: {one.pages_per_second:,.0f} pages/s, "
        f"{one.wall_seconds:.1f} s, {one.cpu_seconds:.1f} s CPU, {one.peak_bytes / 1e6:.0f} MB"
    )
