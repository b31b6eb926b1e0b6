"""One try at a page: whatever goes wrong in it, nothing that it found is forgotten."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import orjson
import pytest

from tarantella.domain.breaker import Breaker
from tarantella.domain.failure import Failure
from tarantella.domain.outcome import Outcome
from tarantella.domain.page import Page, PageState
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Spec
from tarantella.domain.strategy import STRATEGIES
from tarantella.domain.url import Url, fingerprint, resolve
from tarantella.engine import answering, recording
from tarantella.engine.attempt import attempt
from tarantella.engine.clock import Clock
from tarantella.engine.lane import OwnedLane
from tarantella.engine.robots import robots_refusal
from tarantella.engine.served import ServedRun
from tarantella.engine.tools import Tools
from tarantella.engine.visit import DirectVisitor, Visit
from tarantella.extractors.page import Extracted, Wants
from tarantella.fetchers.contract import Request, Response
from tarantella.fetchers.robots import Robots, RobotsRules, RobotsUnreachable
from tarantella.store.lanes import Lane
from tests.unit.made import Time, lane, served

NEXT = "https://a.example/next"
EXCHANGE: Any = object()


class Unwritable:
    """Nobody can say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("broken")


class OneSite:
    """Every page links to the same one. What the first holds can't be written down."""

    def __init__(self) -> None:
        self.visits = 0

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        self.visits += 1
        title = Unwritable() if self.visits == 1 else "fine"
        return Visit(request.url.href, 200, extracted=Extracted({"title": title}, hrefs=[NEXT]))


def test_links_of_an_attempt_that_went_wrong_are_found_again_on_another_page() -> None:
    site = OneSite()
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]})
    run = served("r", spec=Spec(depth=None, obey_robots=False, scope=ScopeKind.HOST))
    place = lane(Time())

    def page(path: str) -> Page:
        url = f"https://a.example/{path}"
        return Page(1, "r", fingerprint(url), "a.example", url, 1, 0, 0, "http", 0, False, None)

    broken = asyncio.run(attempt(page("one"), place, run, tools))
    fine = asyncio.run(attempt(page("two"), place, run, tools))
    assert (broken.state, broken.reason) == (PageState.PENDING, "unknown")
    assert [link.url for link in fine.links] == [NEXT]


def test_what_json_has_no_word_for_does_not_cost_the_page() -> None:
    found = {"title": "half a character: \ud800", "data": {"sku": 123456789012345678901234567890, "n": 2**64 - 1}}

    class Site:
        async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
            return Visit(request.url.href, 200, extracted=Extracted(found))

    site = Site()
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]})
    outcome = asyncio.run(attempt(start(""), lane(Time()), served("r", spec=Spec(obey_robots=False)), tools))
    assert outcome.state is PageState.DONE
    [record] = map(orjson.loads, outcome.records)
    assert record["title"] == "half a character: \ufffd"
    assert record["data"] == {"sku": "123456789012345678901234567890", "n": 2**64 - 1}


class Slow:
    """Its page has a picture, which takes so long to be stored that somebody loses patience."""

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        return Visit(request.url.href, 200, extracted=Extracted({"title": "fine"}, hrefs=[NEXT]), exchanges=(EXCHANGE,))


def test_links_of_an_attempt_that_was_cancelled_are_found_when_it_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(*_: object) -> Outcome:
        await asyncio.sleep(60)
        raise AssertionError

    async def at_once(outcome: Outcome, *_: object) -> Outcome:
        return outcome

    site = Slow()
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]})
    run = served("r", spec=Spec(depth=None, obey_robots=False, scope=ScopeKind.HOST))
    place = lane(Time())
    url = "https://a.example/one"
    page = Page(1, "r", fingerprint(url), "a.example", url, 1, 0, 0, "http", 0, False, None)

    async def twice() -> Outcome:
        monkeypatch.setattr(recording, "with_recording", never)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await attempt(page, place, run, tools)
        monkeypatch.setattr(recording, "with_recording", at_once)
        return await attempt(page, place, run, tools)

    assert [link.url for link in asyncio.run(twice()).links] == [NEXT]


def start(path: str) -> Page:
    url = f"https://a.example/{path}"
    return Page(1, "r", fingerprint(url), "a.example", url, 1, 0, 0, "http", 0, True, None)


def test_the_next_page_of_a_list_is_found_among_however_many_links() -> None:
    class Endless:
        async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
            hrefs = dict.fromkeys([*(f"/{number}" for number in range(answering.MAX_LINKS + 10)), NEXT])
            return Visit(request.url.href, 200, extracted=Extracted({}, hrefs=hrefs, following=(NEXT,)))

    site = Endless()
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]})
    run = served("r", spec=Spec(depth=2, obey_robots=False, scope=ScopeKind.HOST))
    outcome = asyncio.run(attempt(start("list"), lane(Time()), run, tools))
    assert (outcome.links[0].url, outcome.links[0].depth) == (NEXT, 1)
    assert outcome.refused["too_many"].count == 10


class Instant:
    """A site that answers at once."""

    async def fetch(self, request: Request) -> Response:
        return Response(request.url.href, 200, {"content-type": "text/html"}, b"<title>Quick</title>")

    async def close(self) -> None: ...


class SlowReader:
    """Somebody who takes his time over what the site sent."""

    async def read(self, body: bytes, content_type: str, wants: Wants, page_url: str) -> Extracted:
        await asyncio.sleep(0.3)
        return Extracted({"title": "Quick"})


def test_a_site_is_not_blamed_for_the_time_that_we_take_to_read() -> None:
    visitor = DirectVisitor(Instant(), cast("Any", SlowReader()))
    tools = Tools({"http": visitor}, visitor, cast("Robots", None), {"http": STRATEGIES["http"]})
    run = served("r", spec=Spec(obey_robots=False, text="article"))
    place = OwnedLane(Lane("a.example", 0.0, Breaker(), 0), Clock())
    outcome = asyncio.run(attempt(start(""), place, run, tools))
    assert outcome.state is PageState.DONE and outcome.attempt is not None
    assert outcome.attempt.elapsed_ms < 200
    assert place.throttle.usual is not None and place.throttle.usual < 0.2


class Asked:
    """robots.txt, as somebody has read it before."""

    def __init__(self, text: str) -> None:
        self._rules = RobotsRules(text)

    def known(self, _url: Url) -> RobotsRules:
        return self._rules


def test_a_crawl_delay_that_is_meant_for_another_user_agent_holds_for_the_host_too() -> None:
    robots = cast("Robots", Asked("User-agent: *\nAllow: /\n\nUser-agent: slowbot\nCrawl-delay: 7"))
    tools = Tools({}, cast("Any", None), robots, STRATEGIES)
    ours, theirs = served("ours"), served("theirs", spec=Spec(user_agent="slowbot/1.0"))
    place, page = lane(Time()), start("")

    async def look(run: ServedRun) -> float:
        assert await robots_refusal(page, resolve(page.url), place, run, tools) is None
        return place.delay

    assert [asyncio.run(look(run)) for run in (ours, theirs, ours)] == [0.0, 7.0, 7.0]


class Frozen:
    """A process that is stopped while it waits for an answer."""

    def __init__(self, time: Time, seconds: float, failure: Failure) -> None:
        self._time, self._seconds, self._failure = time, seconds, failure

    async def visit(self, request: Request, wants: Wants, keep_body: bool) -> Visit:
        self._time.seconds += self._seconds
        return Visit(request.url.href, failure=self._failure, detail="total")


@pytest.mark.parametrize("failure", [Failure.TIMEOUT, Failure.NETWORK])
@pytest.mark.parametrize(("seconds", "blamed"), [(20.5, True), (73.0, False)])
def test_a_site_is_not_blamed_for_the_time_in_which_we_stood_still(
    failure: Failure, seconds: float, blamed: bool
) -> None:
    time = Time()
    site, place = Frozen(time, seconds, failure), lane(time)
    tools = Tools({"http": site}, site, cast("Robots", None), {"http": STRATEGIES["http"]}, clock=time.clock)
    run = served("r", spec=Spec(obey_robots=False, attempts=1))
    outcome = asyncio.run(attempt(start(""), place, run, tools))
    assert outcome.state is (PageState.FAILED if blamed else PageState.PENDING)
    assert (outcome.charged, place.breaker.failures) == ((True, 1) if blamed else (False, 0))
    assert ("stood still" in (outcome.detail or "")) is not blamed


def test_who_can_t_ask_for_robots_txt_because_of_a_proxy_waits_alone() -> None:
    class NoProxy:
        def known(self, _url: Url) -> None:
            return None

        async def rules(self, _url: Url, _options: Any) -> RobotsRules:
            raise RobotsUnreachable(Failure.PROXY, "connect", "The proxy can't be reached.")

    tools = Tools({}, cast("Any", None), cast("Robots", NoProxy()), STRATEGIES, clock=Time().clock)
    place, page = lane(Time()), start("")
    outcome = asyncio.run(robots_refusal(page, resolve(page.url), place, served("r"), tools))
    assert outcome is not None and outcome.next_at is not None
    assert (outcome.state, outcome.reason, outcome.charged) == (PageState.PENDING, Failure.PROXY, False)
    assert place.wait_time() == 0.0, "others go on"


def test_a_proxy_that_stays_away_is_the_pages_failure_and_not_a_matter_of_robots_txt() -> None:
    class NoProxy:
        def known(self, _url: Url) -> None:
            return None

        async def rules(self, _url: Url, _options: Any) -> RobotsRules:
            error = RobotsUnreachable(Failure.PROXY, "connect", "The proxy refuses connections.")
            error.tries = 3
            raise error

    tools = Tools({}, cast("Any", None), cast("Robots", NoProxy()), STRATEGIES, clock=Time().clock)
    page = start("")
    outcome = asyncio.run(robots_refusal(page, resolve(page.url), lane(Time()), served("r"), tools))
    assert outcome is not None
    assert (outcome.state, outcome.reason) == (PageState.FAILED, Failure.PROXY)
    assert outcome.detail == "connect: The proxy refuses connections."
