"""Killed again and again, a crawl ends as if nobody had touched it. More of it: `python -m tests.fault.kill_loop`."""

from __future__ import annotations

import random

import pytest

from tests.fault.invariants import read_runs
from tests.fault.kill_loop import (
    DELAY_MS,
    DEPTH,
    FAN,
    SMALL,
    Crawler,
    command_line,
    differences,
    kill_again_and_again,
    one_process,
    undisturbed,
)
from tests.fault.places import NewPlace
from tests.fault.processes import SiteProcess
from tests.site import tree_path, tree_paths


def assert_untouched(crawler: Crawler, new_place: NewPlace, *, kills: int, expected: set[str]) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    model = undisturbed(crawler, new_place("model"))
    assert (model.status, model.done, set(model.records)) == ("completed", expected, expected)
    killed = new_place("killed")
    report = kill_again_and_again(crawler, killed, kills=kills, seed=seed)
    print(report)
    assert report.kills == kills
    assert [differences(run, model) for run in read_runs(killed)] == [[]] * report.runs


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("new_place", "kills"), [("sqlite", 12), ("postgresql", 5)], indirect=["new_place"])
def test_a_crawl_that_is_killed_again_and_again_ends_as_if_nobody_had_touched_it(
    new_place: NewPlace, kills: int, site: SiteProcess
) -> None:
    expected = {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}
    crawler = one_process(site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS)))
    assert_untouched(crawler, new_place, kills=kills, expected=expected)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("new_place", "kills"), [("sqlite", 8), ("postgresql", 4)], indirect=["new_place"])
def test_so_does_the_command_line_with_two_engines(new_place: NewPlace, kills: int, site: SiteProcess) -> None:
    depth, fan, delay_ms = SMALL
    expected = {site.url_for(path) for path in tree_paths(depth, fan, delay_ms)}
    crawler = command_line(site.url_for(tree_path(depth, fan, (), delay_ms)), engines=2)
    assert_untouched(crawler, new_place, kills=kills, expected=expected)
