"""Which strategy a page starts with, and that nothing goes down."""

from __future__ import annotations

from typing import cast

import pytest

from tarantella.domain.learning import FEWEST_REFUSALS
from tarantella.domain.page import Page
from tarantella.domain.site import SitePolicy
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import API_REPLAY, BROWSER, HTTP, STRATEGIES
from tarantella.engine import ladder
from tarantella.engine.lane import OwnedLane
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visitor
from tarantella.fetchers.robots import Robots
from tarantella.store.sites import Ruling
from tests.unit.made import Time, lane, served

NOBODY = cast("Visitor", None)
AUTO = Spec(auto=True)


def tools(*names: str, luck: float = 0.0) -> Tools:
    available = {name: STRATEGIES[name] for name in names or (HTTP.name, BROWSER.name)}
    return Tools({}, NOBODY, cast("Robots", None), available, luck=lambda: luck)


def page(strategy: str = "http", tries: int = 0) -> Page:
    return Page(1, "r", "f", "a.example", "https://a.example/", 1, tries, 0, strategy, 0, False)


def ruled(ruling: Ruling) -> OwnedLane:
    made = lane(Time())
    made.limits({}, ruling)
    return made


def start(host: OwnedLane, run: ServedRun | None = None, strategy: str = "http", *names: str) -> str:
    return ladder.climbed(page(strategy), host, run or served("r", spec=AUTO), tools(*names)).strategy


@pytest.mark.parametrize(
    ("ruling", "starts"),
    [
        (Ruling(), "http"),
        (Ruling(learned="browser"), "browser"),
        (Ruling(SitePolicy(strategy="browser")), "browser"),
        (Ruling(SitePolicy(strategy="http"), learned="browser"), "http"),
    ],
)
def test_a_page_starts_as_its_site_is_pinned_or_has_taught(ruling: Ruling, starts: str) -> None:
    assert start(ruled(ruling)) == starts
    assert start(ruled(ruling), None, "http", "http") == "http", "there is no browser"
    assert start(ruled(ruling), None, "browser") == "browser", "never down"
    assert start(ruled(ruling), None, API_REPLAY.name) == API_REPLAY.name, "what HTTP can't do says nothing of it"


def test_what_a_run_has_once_climbed_at_a_host_it_does_not_go_down_again() -> None:
    run = served("r", spec=AUTO)
    host = ruled(Ruling(learned="browser"))
    assert start(host, run) == "browser"
    host.limits({}, Ruling())
    assert start(host, run) == "browser"
    assert start(host) == "http", "the next run is cheaper"


def test_a_host_climbs_after_refusals_and_comes_down_for_nobody_who_pinned_it() -> None:
    host = lane(Time())
    news = [host.refused_plain() for _ in range(FEWEST_REFUSALS + 2)]
    assert news == [False] * (FEWEST_REFUSALS - 1) + [True, False, False]
    assert start(host) == "browser"
    host.limits({}, Ruling(SitePolicy(strategy="http")))
    assert host.prefers is None
    assert set(ladder.available(host, tools())) == {"http"}


@pytest.mark.parametrize(
    ("spec", "strategy", "tries", "luck", "rechecked"),
    [
        (AUTO, "browser", 0, 0.0, True),
        (AUTO, "browser", 0, 0.5, False),
        (AUTO, "browser", 1, 0.0, False),
        (AUTO, "http", 0, 0.0, False),
        (AUTO, API_REPLAY.name, 0, 0.0, False),
        (Spec(strategy="browser"), "browser", 0, 0.0, False),
    ],
)
def test_only_what_is_about_to_be_rendered_and_was_left_to_us_is_rechecked(
    spec: Spec, strategy: str, tries: int, luck: float, rechecked: bool
) -> None:
    run, host = served("r", spec=spec), lane(Time())
    assert ladder.is_to_be_rechecked(page(strategy, tries), host, run, tools(luck=luck)) is rechecked
    assert not run.climbed, "who asks changes nothing"
    host.limits({}, Ruling(SitePolicy(strategy="browser")))
    assert not ladder.is_to_be_rechecked(page(strategy, tries), host, run, tools(luck=luck)), "people know better"


def test_whether_a_page_is_rechecked_can_be_asked_without_climbing() -> None:
    run, host = served("r", spec=AUTO), ruled(Ruling(learned="browser"))
    assert ladder.is_to_be_rechecked(page(), host, run, tools(luck=0.0))
    assert not run.climbed
    assert ladder.climbed(page(), host, run, tools()).strategy == "browser"
    assert run.climbed == {"a.example": "browser"}
