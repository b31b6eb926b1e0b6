"""How many pages a second: everybody crawls the same kind of site, on one host, in one process."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks import comparison
from benchmarks.contestants.contract import Contestant
from benchmarks.contestants.registry import BARE_LOOP, CONTESTANTS, TARANTELLA
from benchmarks.contract import Benchmark, Findings, Setting, Wish, say
from benchmarks.rig.measure import Measurement
from benchmarks.rig.site import Shape
from benchmarks.rounds import Entry, run_rounds, serving

WANTED = {BARE_LOOP: 0.65, "scrapy-dedup": 14.0, "scrapy-plain": 30.0}

SAME_FOR_ALL = """\
A run is timed from the start of its process to its exit; interpreter, imports and the export to JSON lines are
included. It counts only if its output holds every page of the site exactly once, with its title."""
THE_SITE = """\
Pages have about 20 KB and 40 links; nginx serves them on loopback. Concurrency is {concurrency}, text of pages: {text}."""
THE_FIGURES = """\
CPU time is that of the contestant and its children, not of nginx. Peak MB is that of its largest process."""
THE_WORK = """\
The bare loop neither reads robots.txt nor retries; the others do. Scrapy and Crawlee write their records straight
into a file, or keep them in memory until the end, and have no store that would survive a crash."""
SMALLER_SITES = """\
Who is slow crawls a smaller site of the same kind, because the large one would take too long. Pages/s stay
comparable, though the start counts for more, and peak memory would be higher on the larger site. To give
everybody the same: `--scrapy-pages {pages} --crawlee-pages {pages}`."""
NO_TEXT = "Scrapy and Crawlee extract no text: they do less here than the others."


def run(setting: Setting) -> Findings:
    chosen, absent = _choose(setting.contestants)
    with ExitStack() as stack:
        sizes = sorted({setting.pages_for(contestant) for contestant in chosen})
        served = {pages: stack.enter_context(serving(Shape(pages), setting.work_dir)) for pages in sizes}
        entries = [Entry(contestant, served[setting.pages_for(contestant)]) for contestant in chosen]
        measurements = run_rounds(entries, setting, setting.rounds)
    tables = [comparison.costs(chosen, measurements), comparison.standing(TARANTELLA, measurements)]
    return Findings(
        tables=[table for table in tables if table],
        raw=comparison.raw(measurements),
        wishes=_wishes(measurements),
        notes=_notes(setting, chosen),
        complaints=comparison.complaints(measurements),
        absent=absent,
    )


def _choose(only: Sequence[str]) -> tuple[list[Contestant], dict[str, str]]:
    """Who runs, and who can't and why; to ask for one by name that can't run is an error."""
    wanted = [one for one in CONTESTANTS if not only or one.name in only]
    absent = {one.name: reason for one in wanted if (reason := one.missing())}
    for name, reason in absent.items():
        if only:
            sys.exit(f"error: {name} can't run: {reason}")
        say(f"LEFT OUT: {name}: {reason}")
    return [one for one in wanted if one.name not in absent], absent


def _wishes(measurements: Sequence[Measurement]) -> list[Wish]:
    ratios = {other: comparison.median_ratio(TARANTELLA, other, measurements) for other in WANTED}
    return [
        Wish(f"Tarantella's pages/s ÷ {other}'s", ratio, WANTED[other], at_most=False)
        for other, ratio in ratios.items()
        if ratio is not None
    ]


def _notes(setting: Setting, chosen: Sequence[Contestant]) -> list[str]:
    notes = [SAME_FOR_ALL, THE_SITE.format(concurrency=setting.concurrency, text=setting.text), THE_FIGURES, THE_WORK]
    if any(setting.pages_for(contestant) != setting.pages for contestant in chosen):
        notes.append(SMALLER_SITES.format(pages=setting.pages))
    if setting.text != "none" and not all(contestant.extracts_text for contestant in chosen):
        notes.append(NO_TEXT)
    return notes


BENCHMARK = Benchmark("crawl", "How many pages a second, beside the ceiling, Scrapy and Crawlee?", run)
