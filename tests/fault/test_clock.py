"""Somebody sets the clock in the middle of a crawl: it says so, and goes on as if nothing had happened."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tarantella.bootstrap import make_tools
from tarantella.domain.struct import replace
from tarantella.engine.clock import Clock
from tarantella.engine.tools import Tools
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.submit import submit
from tests.fault.crawler import quick_app, spec_of
from tests.fault.engines import engine, until_over
from tests.fault.invariants import check, read_run
from tests.fault.processes import SiteProcess
from tests.logs import captured_log
from tests.site import tree_path, tree_paths

HOUR = 3_600.0
DEPTH, FAN, DELAY_MS = 3, 4, 30


class WallClock:
    """A clock on the wall that people set. The other one, which only counts seconds, nobody can reach."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


def app_with(data_dir: Path, wall: WallClock) -> App:
    def tools() -> Tools:
        return replace(make_tools(), clock=Clock(wall=wall))

    return replace(quick_app(data_dir, tools=tools), now=wall)


def all_urls(site: SiteProcess) -> set[str]:
    return {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_clock_that_is_set_during_a_crawl_costs_nothing(site: SiteProcess, data_dir: Path, jump: float) -> None:
    wall = WallClock()
    flaky = site.url_for(f"/flaky?code=503&key=clock{jump:.0f}&n=1", "127.0.0.2")
    urls = [site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS)), flaky]
    spec = (
        '{"concurrency": 4, "deadline_seconds": 60, "backoff": {"base": 2.0, "factor": 1.0, "cap": 2.0, "jitter": 0.0}}'
    )

    async def crawl() -> None:
        app = app_with(data_dir, wall)
        try:
            run_id = await submit(app, spec_of(spec), urls)
            async with engine(app):
                while (await runs.get(app, run_id)).counts.done < 10:
                    await asyncio.sleep(0.01)
                wall.ahead += jump
                await until_over(app, run_id, 20)
        finally:
            app.close()

    with captured_log() as logs:
        asyncio.run(crawl())
    run = read_run(data_dir)
    assert (run.status, run.done) == ("completed", {*all_urls(site), flaky})
    assert set(site.hits().values()) == {1, 2}
    assert [round(entry["seconds"], -1) for entry in logs if entry.get("action") == "clock_set"] == [jump]
    check(data_dir, at_rest=True)


def test_a_run_is_resumed_at_once_after_the_clock_was_put_back(site: SiteProcess, data_dir: Path) -> None:
    wall = WallClock()

    async def crawl() -> None:
        app = app_with(data_dir, wall)
        try:
            run_id = await submit(
                app, spec_of('{"concurrency": 4}'), [site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS))]
            )
            async with engine(app):
                while (await runs.get(app, run_id)).counts.done < 10:
                    await asyncio.sleep(0.01)
            wall.ahead -= HOUR
            async with engine(app):
                await until_over(app, run_id, 20)
        finally:
            app.close()

    asyncio.run(crawl())
    assert read_run(data_dir).done == all_urls(site)
    check(data_dir, at_rest=True)
