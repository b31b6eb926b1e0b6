"""A page that kills whoever visits it: a taster dies of it instead, and the run goes on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tarantella.domain.spec import Spec
from tarantella.domain.url import start_url
from tarantella.engine.taster import Taster
from tarantella.extractors.page import Wants
from tarantella.fetchers.contract import Options, Request
from tests.fault.commands import driver
from tests.fault.crawler import POISONED
from tests.fault.invariants import check, one_value, read_run
from tests.fault.processes import Child, SiteProcess

POISON = "/item/7"
OTHERS = [*range(7), *range(8, 20)]
MOST_LIVES = 8


def crawl(data_dir: Path, what: str, target: str, spec: dict[str, object] | None = None) -> Child:
    return driver(data_dir, what, target, spec=spec, options=("--poison", POISON))


def live_until_the_end(site: SiteProcess, data_dir: Path, spec: dict[str, object]) -> int:
    """Start, and resume after each death; how many lives it took."""
    for life in range(1, MOST_LIVES + 1):
        arguments = ("resume", "latest") if life > 1 else ("scrape", site.url_for("/list?n=20"))
        with crawl(data_dir, *arguments, spec=spec) as child:
            code = child.wait()
            assert code in (0, POISONED), child.errors
        check(data_dir, at_rest=code == 0)
        if code == 0:
            return life
    raise AssertionError(f"The page killed {MOST_LIVES} workers.")


def test_a_page_that_kills_its_worker_is_found_and_the_run_goes_on(site: SiteProcess, data_dir: Path) -> None:
    lives = live_until_the_end(site, data_dir, {"attempts": 1})
    assert lives == 3  # two deaths, then the lane is tasted
    run = read_run(data_dir)
    assert run.status == "partial"
    assert run.pages[site.url_for(POISON)] == ("failed", "unknown", "crash")
    assert run.done == {site.url_for("/list?n=20"), *(site.url_for(f"/item/{n}") for n in OTHERS)}
    # It has survived a tasting: whoever comes next may go there without one.
    assert one_value(data_dir, "SELECT unclean_deaths FROM lanes WHERE name = '127.0.0.1'") == 0


def test_a_poisonous_page_is_tasted_again_at_each_of_its_attempts(site: SiteProcess, data_dir: Path) -> None:
    """Its next attempt comes when all else is done, and must not kill the worker that was spared before."""
    lives = live_until_the_end(site, data_dir, {"attempts": 3})
    assert lives == 3
    run = read_run(data_dir)
    assert run.status == "partial"
    assert run.pages[site.url_for(POISON)] == ("failed", "unknown", "crash")
    tried = "SELECT count(*) FROM attempts JOIN pages ON pages.id = page_id WHERE pages.url = ? AND attempts.detail = 'crash'"
    assert one_value(data_dir, tried, site.url_for(POISON)) == 3


def test_a_taster_that_does_not_start_is_not_blamed_on_the_page(site: SiteProcess) -> None:
    async def taste() -> None:
        taster = Taster((sys.executable, "-c", "raise SystemExit(1)"))
        request = Request(start_url(site.url_for("/ok")), Options(user_agent="test"))
        with pytest.raises(OSError, match="did not start"):
            await taster.visit(request, Wants.of(Spec()), False)

    asyncio.run(taste())
