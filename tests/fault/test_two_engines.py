"""Two processes on one data directory: each page once, the limits held by both together."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fault.commands import driver, tarantella
from tests.fault.invariants import check, one_value, read_run
from tests.fault.kill_loop import has_schema
from tests.fault.places import on_both
from tests.fault.processes import LOOK_AGAIN, Child, SiteProcess
from tests.site import tree_path, tree_paths

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
DEPTH, FAN, DELAY_MS = 2, 6, 240
CONCURRENCY, PER_HOST = 8, 4
SPEC = {"concurrency": CONCURRENCY, "per_host": PER_HOST}


def start_urls(site: SiteProcess) -> list[str]:
    return [site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS), host) for host in HOSTS]


def each_once(site: SiteProcess, times: int = 1) -> dict[str, int]:
    return {site.url_for(path, host): times for host in HOSTS for path in tree_paths(DEPTH, FAN, DELAY_MS)}


def requests_of(child: Child) -> int:
    """How many attempts a driver made, as it told at its end."""
    [counters] = [told["counters"] for told in child.told if told["told"] == "worked"]
    return sum(int(line.rpartition(" ")[2]) for line in counters if line.startswith("tarantella_requests_total{"))


def watched(child: Child, data_dir: Path) -> int:
    """Wait for the end, checking the invariants on the way; the most workers that owned hosts at one moment."""
    most = 0
    give_up = time.monotonic() + 60
    while child.is_running and time.monotonic() < give_up:
        if has_schema(data_dir):
            owners = one_value(data_dir, "SELECT count(DISTINCT owner) FROM lanes WHERE name <> '!duties'")
            most = max(most, owners)
            check(data_dir)
        time.sleep(LOOK_AGAIN * 5)
    assert child.wait(1) == 0, child.errors
    return most


def peaks(site: SiteProcess) -> tuple[int, int]:
    """The most requests in flight together: in all, and to one host."""
    log: dict[str, Any] = site.log()
    return log["peak"], max(log["peak_by_host"].values())


@on_both
def test_two_engines_share_a_run_and_fetch_each_page_once(site: SiteProcess, data_dir: Path) -> None:
    with driver(data_dir, "scrape", *start_urls(site), spec=SPEC) as keeper:
        run_id = keeper.until_it_tells("run")["id"]
        with driver(data_dir, "engine", run_id) as helper:
            assert watched(keeper, data_dir) == 2
            assert helper.wait() == 0, helper.errors
            shares = [requests_of(keeper), requests_of(helper)]
    assert site.hits() == Counter(each_once(site))
    assert sum(shares) == len(each_once(site))
    # How large the share of each is depends on how soon the second one has started.
    assert min(shares) >= 0.1 * sum(shares), shares
    assert peaks(site)[0] <= CONCURRENCY
    assert peaks(site)[1] <= PER_HOST
    check(data_dir, at_rest=True)


@on_both
def test_the_command_line_with_two_engines_fetches_each_page_once(site: SiteProcess, data_dir: Path) -> None:
    limits = ("--concurrency", str(CONCURRENCY), "--per-host", str(PER_HOST), "--engines", "2")
    rules = ("--depth", "all", "--text", "none", "--allow-network", "127.0.0.0/8", "--quiet")
    with tarantella(data_dir, "scrape", *start_urls(site), *rules, *limits) as command:
        assert watched(command, data_dir) == 2
    assert read_run(data_dir).done == each_once(site).keys()
    assert site.hits() == Counter(each_once(site))
    assert peaks(site)[0] <= CONCURRENCY
    assert peaks(site)[1] <= PER_HOST
    check(data_dir, at_rest=True)


@on_both
def test_two_commands_on_the_same_hosts_share_their_politeness(site: SiteProcess, data_dir: Path) -> None:
    with driver(data_dir, "scrape", *start_urls(site), spec=SPEC) as one:
        first = one.until_it_tells("run")["id"]
        with driver(data_dir, "scrape", *start_urls(site), spec=SPEC) as other:
            second = other.until_it_tells("run")["id"]
            watched(one, data_dir)
            watched(other, data_dir)
    for run_id in (first, second):
        run = read_run(data_dir, run_id)
        assert (run.status, run.done) == ("completed", set(each_once(site)))
    assert site.hits() == Counter(each_once(site, times=2))
    assert peaks(site)[0] <= 2 * CONCURRENCY
    assert peaks(site)[1] <= PER_HOST
    check(data_dir, at_rest=True)
