"""What a host is told of an attempt: only what it has to do with."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.cookie import Cookie
from tarantella.domain.event import BREAKER_CLOSED
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import FROM_CACHE, Outcome
from tarantella.domain.page import Page
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.throttle import Throttle
from tarantella.engine.attempt import attempt
from tarantella.engine.lane import OwnedLane
from tarantella.engine.recheck import attempt_recheck
from tarantella.engine.tools import Tools
from tarantella.engine.visit import Visit
from tarantella.extractors.page import Extracted, Wants
from tarantella.fetchers.contract import Request
from tarantella.fetchers.robots import Robots
from tests.unit.made import Time, lane, served

URL = "https://a.example/"
PROBED = Breaker(BreakerState.HALF_OPEN, failures=5)


class Site:
    """Answers everybody alike, after some seconds."""

    def __init__(self, time: Time, seconds: float = 0.0, **answer: Any) -> None:
        self._time, self._seconds, self._answer = time, seconds, answer

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        self._time.seconds += self._seconds
        return Visit(request.url.href, **self._answer)


def tried(place: OwnedLane, time: Time, site: Site, *, rechecked: bool = False) -> Outcome:
    """What becomes of a page of this site; a recheck asks over HTTP for a page that a browser is to have."""
    tools = Tools({"http": site}, site, cast("Robots", None), STRATEGIES, clock=time.clock)
    run = served("r", spec=Spec(auto=True, obey_robots=False))
    page = Page(1, "r", "f", "a.example", URL, 1, 0, 0, "browser" if rechecked else "http", 0, False)
    return asyncio.run((attempt_recheck if rechecked else attempt)(page, place, run, tools))


@pytest.mark.parametrize(
    ("failure", "slots"),
    [
        (Failure.TIMEOUT, 7.0),
        (Failure.BLOCKED, 7.0),
        (Failure.NOT_FOUND, 10.0),
        (Failure.TOO_LARGE, 10.0),
        (Failure.PROXY, 10.0),
        (Failure.BROWSER, 10.0),
        (Failure.DENIED, 10.0),
        (Failure.UNKNOWN, 10.0),
    ],
)
def test_a_host_is_slowed_down_only_by_what_it_has_to_do_with(failure: Failure, slots: float) -> None:
    time = Time()
    place = lane(time)
    place.throttle = Throttle(limit=10, slots=10.0)
    tried(place, time, Site(time, failure=failure, detail="said"))
    assert place.throttle.slots == slots


@pytest.mark.parametrize("rechecked", [False, True])
def test_a_recheck_teaches_what_any_attempt_does(rechecked: bool) -> None:
    time = Time()
    cookie = Cookie("seen", "1", "a.example")
    answer: dict[str, Any] = {"extracted": Extracted({"title": "fine"}), "cookies": (cookie,), "reading": 4.0}
    place = lane(time, breaker=PROBED)
    outcome = tried(place, time, Site(time, 5.0, status=200, **answer), rechecked=rechecked)
    assert outcome.attempt is not None and outcome.attempt.elapsed_ms == 1_000, "reading took the rest"
    assert [each.name for each in outcome.cookies] == ["seen"]
    assert place.breaker.state is BreakerState.CLOSED
    assert [event.message for event in outcome.events] == [BREAKER_CLOSED]


@pytest.mark.parametrize("rechecked", [False, True])
def test_an_answer_out_of_the_cache_says_nothing_of_the_host(rechecked: bool) -> None:
    time = Time()
    place = lane(time, breaker=PROBED)
    answer: dict[str, Any] = {"extracted": Extracted({"title": "fine"}), "protocol": FROM_CACHE, "from_cache": True}
    outcome = tried(place, time, Site(time, status=200, **answer), rechecked=rechecked)
    assert place.breaker.state is BreakerState.HALF_OPEN
    assert outcome.events == ()
