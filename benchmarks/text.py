"""The same with the text of every page, which is what `scrape` takes unless it is told not to."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import crawl
from benchmarks.contestants.registry import BARE_LOOP, TARANTELLA
from benchmarks.contract import Benchmark, Findings, Setting


def run(setting: Setting) -> Findings:
    return crawl.run(replace(setting, text="fast", contestants=(BARE_LOOP, TARANTELLA)))


BENCHMARK = Benchmark("text", "How many with the text of every page, beside the ceiling?", run)
