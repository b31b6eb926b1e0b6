"""PostgreSQL goes away in the middle of a crawl: the crawl waits, says so, and goes on as if nothing had been."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.fault.commands import driver, tarantella
from tests.fault.invariants import check, read_run
from tests.fault.processes import SiteProcess, until
from tests.postgres import Server
from tests.site import tree_path, tree_paths

DEPTH, FAN, DELAY_MS = 4, 4, 40
on_postgres = pytest.mark.parametrize("new_place", ["postgresql"], indirect=True)


def start_url(site: SiteProcess) -> str:
    return site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS))


def until_fetched(site: SiteProcess, pages: int) -> None:
    until(lambda: len(site.hits()) > pages, 60, f"not even {pages} pages are fetched")


def assert_all_once(site: SiteProcess, data_dir: Path) -> None:
    """Every page is there with one record, and was asked for once: what is in flight is not given up for that."""
    run = read_run(data_dir)
    expected = {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}
    assert (run.status, run.done, set(run.records)) == ("completed", expected, expected)
    assert set(site.hits().values()) == {1}
    check(data_dir, at_rest=True)


@on_postgres
def test_a_crawl_survives_that_its_server_crashes_again_and_again(
    site: SiteProcess, data_dir: Path, postgres_server: Server
) -> None:
    with driver(data_dir, "scrape", start_url(site), spec={"concurrency": 8, "per_host": 8}) as child:
        child.until_it_tells("run")
        for crash in range(1, 5):
            until_fetched(site, 60 * crash)
            postgres_server.restart()
        assert child.wait(120) == 0, child.errors
    assert_all_once(site, data_dir)


@on_postgres
def test_a_crawl_waits_for_a_server_that_is_away_says_so_and_goes_on(
    site: SiteProcess, data_dir: Path, postgres_server: Server
) -> None:
    with driver(data_dir, "scrape", start_url(site), spec={"concurrency": 4, "per_host": 4}) as child:
        child.until_it_tells("run")
        until_fetched(site, 20)
        postgres_server.stop()
        try:
            assert "has not answered" in child.until_it_tells("trouble", 60)["text"]
            until(lambda: site.log()["in_flight"] == 0, 30, "something is still in flight")
            before = site.hits()
            time.sleep(1.0)
            assert site.hits() == before
        finally:
            postgres_server.start()
        assert child.until_it_tells("trouble", 60)["text"] is None
        assert child.wait(120) == 0, child.errors
    assert_all_once(site, data_dir)


@on_postgres
def test_two_engines_survive_it_too(site: SiteProcess, data_dir: Path, postgres_server: Server) -> None:
    rules = ("--depth", "all", "--text", "none", "--allow-network", "127.0.0.0/8", "--quiet", "--engines", "2")
    with tarantella(data_dir, "scrape", start_url(site), *rules) as command:
        for seen in (30, 120):
            until_fetched(site, seen)
            postgres_server.restart()
        assert command.wait(120) == 0, command.errors
    assert_all_once(site, data_dir)
