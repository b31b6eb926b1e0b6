"""Killed again and again, a crawl ends as if nobody had touched it. More of it: `python -m tests.fault.kill_loop`."""

from __future__ import annotations

import random
from pathlib import Path

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
from tests.fault.processes import SiteProcess
from tests.site import tree_path, tree_paths


def assert_untouched(crawler: Crawler, tmp_path: Path, *, kills: int, expected: set[str]) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    model = undisturbed(crawler, tmp_path / "model")
    assert (model.status, model.done, set(model.records)) == ("completed", expected, expected)
    report = kill_again_and_again(crawler, tmp_path / "killed", kills=kills, seed=seed)
    print(report)
    assert report.kills == kills
    assert [differences(run, model) for run in read_runs(tmp_path / "killed")] == [[]] * report.runs


@pytest.mark.timeout(240)
def test_a_crawl_that_is_killed_again_and_again_ends_as_if_nobody_had_touched_it(
    tmp_path: Path, site: SiteProcess
) -> None:
    expected = {site.url_for(path) for path in tree_paths(DEPTH, FAN, DELAY_MS)}
    crawler = one_process(site.url_for(tree_path(DEPTH, FAN, (), DELAY_MS)))
    assert_untouched(crawler, tmp_path, kills=12, expected=expected)


@pytest.mark.timeout(240)
def test_so_does_the_command_line_with_two_engines(tmp_path: Path, site: SiteProcess) -> None:
    depth, fan, delay_ms = SMALL
    expected = {site.url_for(path) for path in tree_paths(depth, fan, delay_ms)}
    crawler = command_line(site.url_for(tree_path(depth, fan, (), delay_ms)), engines=2)
    assert_untouched(crawler, tmp_path, kills=8, expected=expected)
