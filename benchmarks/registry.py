"""Every benchmark, in the order in which they run."""

from __future__ import annotations

from benchmarks import api, browser, crawl, engines, first_request, fleet, lists, memory, replay, resume, text
from benchmarks.contract import Benchmark

BENCHMARKS: tuple[Benchmark, ...] = (
    crawl.BENCHMARK,
    text.BENCHMARK,
    engines.BENCHMARK,
    memory.BENCHMARK,
    resume.BENCHMARK,
    first_request.BENCHMARK,
    lists.BENCHMARK,
    api.BENCHMARK,
    browser.BENCHMARK,
    replay.BENCHMARK,
    fleet.BENCHMARK,
)
