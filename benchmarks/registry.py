"""Every benchmark, in the order in which they run."""

from __future__ import annotations

from benchmarks import api, browser, crawl, engines, first_request, lists, memory, resume
from benchmarks.contract import Benchmark

BENCHMARKS: tuple[Benchmark, ...] = (
    crawl.BENCHMARK,
    engines.BENCHMARK,
    memory.BENCHMARK,
    resume.BENCHMARK,
    first_request.BENCHMARK,
    lists.BENCHMARK,
    api.BENCHMARK,
    browser.BENCHMARK,
)
