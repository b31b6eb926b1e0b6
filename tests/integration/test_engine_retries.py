"""What fails is tried again as often and as late as was asked for, and a host that wants a pause gets one."""

from __future__ import annotations

import asyncio

import pytest

from tarantella.domain.backoff import Backoff
from tarantella.domain.event import HOST_WAITS, PAGE_FAILED, RETRY_SCHEDULED
from tarantella.services.app import App
from tests.integration.crawling import awaited, begin, crawl, gaps, hits
from tests.site import Call, Reply, Site
from tests.site.reply import page


@awaited
async def test_a_page_that_works_the_third_time_is_done_after_growing_gaps(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/flaky?n=2", backoff=Backoff(base=0.2, factor=3.0, cap=9.0, jitter=0.0))
    assert crawled.status == "completed"
    first, second = gaps(hits(site))
    assert 0.2 <= first < 0.6
    assert 0.6 <= second < 1.2
    retries = [event["meta"] for event in crawled.events if event["message"] == RETRY_SCHEDULED]
    assert [(meta["attempt"], meta["delay_seconds"], meta["failure_code"]) for meta in retries] == [
        (1, 0.2, "bad_response"),
        (2, 0.6, "bad_response"),
    ]
    decisions = [attempt["decision"] for attempt in crawled.attempts("/flaky?n=2")]
    assert decisions == ["retry in 0.2 s with http", "retry in 0.6 s with http", "done"]


@pytest.mark.parametrize("attempts", [1, 3, 5])
@awaited
async def test_a_page_is_asked_for_as_often_as_it_was_allowed(app: App, attempts: int) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/502", attempts=attempts)
    assert len(hits(site)) == attempts
    assert crawled.states == {"/502": "failed(bad_response)"}
    assert len(crawled.attempts("/502")) == crawled.run.requests == attempts
    assert crawled.messages.count(PAGE_FAILED) == 1


@pytest.mark.parametrize(
    ("path", "failure", "count"),
    [
        ("/404", "not_found", 1),
        ("/410", "not_found", 1),
        ("/400", "bad_response", 1),
        ("/451", "bad_response", 1),
        ("/408", "bad_response", 2),
        ("/425", "bad_response", 2),
        ("/503", "bad_response", 2),
        ("/401", "blocked", 2),
        ("/403", "blocked", 2),
        ("/429", "rate_limited", 2),
        ("/reset-in-body", "network", 2),
        ("/short-body", "network", 2),
        ("/garbage", "network", 2),
        ("/bad-gzip", "network", 2),
    ],
)
@awaited
async def test_each_failure_is_retried_as_the_table_says(app: App, path: str, failure: str, count: int) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, path, attempts=2)
    assert crawled.states == {path: f"failed({failure})"}
    assert len(hits(site)) == count


@awaited
async def test_a_page_that_never_answers_is_a_timeout(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/never", "/ok", attempts=1, total_timeout=0.3)
    assert crawled.states == {"/never": "failed(timeout)", "/ok": "done"}


@awaited
async def test_a_host_that_nobody_answers_for_is_a_network_failure(app: App) -> None:
    async with Site() as site:
        port = site.port
    crawled = await crawl(app, site, f"http://127.0.0.1:{port}/", attempts=1, obey_robots=False)
    assert crawled.states == {"/": "failed(network)"}
    assert crawled.run.error_message is not None and "refuse" in crawled.run.error_message


# -- Retry-After


async def limited(app: App, site: Site, path: str) -> list[float]:
    """Crawl some items and a page that asks for a second's pause; when each began, counted from that one."""
    async with begin(app, site, path, *(f"/item/{number}" for number in range(5)), per_host=1) as ongoing:
        crawled = await ongoing.end()
    assert crawled.status == "completed"
    assert set(crawled.states.values()) == {"done"}
    told = crawled.event(HOST_WAITS)
    assert (told["host"], told["seconds"]) == ("127.0.0.1", 1.0)
    began = hits(site)
    return [hit.start - (began[0].end or 0) for hit in began[1:]]


@pytest.mark.parametrize("code", [429, 503])
@awaited
async def test_retry_after_is_obeyed_for_the_whole_host(app: App, code: int) -> None:
    async with Site() as site:
        later = await limited(app, site, f"/{code}?after=1&times=1")
    assert len(later) == 6
    assert min(later) >= 1.0
    assert max(later) < 3.0


@awaited
async def test_what_was_in_flight_when_the_host_asked_for_a_pause_is_not_charged(app: App) -> None:
    async with Site() as site:
        arrived, all_there = 0, asyncio.Event()

        async def crowded(_call: Call) -> Reply:
            """The first three wait for each other, and then all are told to come back in a moment."""
            nonlocal arrived
            arrived += 1
            if arrived > 3:
                return page("Fine")
            if arrived == 3:
                all_there.set()
            await all_there.wait()
            return page("Not now", status=429, retry_after="1")

        site.routes["/crowded/"] = crowded
        crawled = await crawl(
            app, site, "/item/1", "/item/2", "/item/3", *(f"/crowded/{name}" for name in "abc"), attempts=1
        )
    # One of the three is charged, and with one attempt in all it fails; the others come back.
    states = sorted(crawled.states[f"/crowded/{name}"] for name in "abc")
    assert states == ["done", "done", "failed(rate_limited)"]
    assert crawled.messages.count(HOST_WAITS) == 1


@awaited
async def test_a_retry_after_that_makes_no_sense_is_a_failure_like_others(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/429?after=soon&times=1", "/503?after=-5&times=1")
    assert crawled.status == "completed"
    retries = [event["meta"] for event in crawled.events if event["message"] == RETRY_SCHEDULED]
    assert {(crawled.short(meta["url"]), meta["delay_seconds"]) for meta in retries} == {
        ("/429?after=soon&times=1", 0.05),
        ("/503?after=-5&times=1", 0.0),
    }


@awaited
async def test_a_pause_of_ten_years_is_an_hour(app: App) -> None:
    async with Site() as site, begin(app, site, "/429?after=315360000", "/ok", per_host=1) as ongoing:
        crawled = await ongoing.until(lambda now: HOST_WAITS in now.messages and bool(ongoing.snapshots))
        assert crawled.event(HOST_WAITS)["seconds"] == 3_600
        await asyncio.sleep(0.3)
        assert [hit.path for hit in hits(site)] == ["/429"]
        last = ongoing.snapshots[-1]
        assert last.phase == "waiting"
        assert last.waits_seconds == pytest.approx(3_600, abs=60)


@awaited
async def test_another_host_goes_on_while_one_waits(app: App) -> None:
    async with Site() as site:
        other = [site.url_for(f"/item/{number}", "127.0.0.2") for number in range(10)]
        crawled = await crawl(app, site, "/429?after=1&times=1", *other)
    assert crawled.status == "completed"
    first, again = hits(site, "/429")
    there = [hit for hit in hits(site) if hit.hostname == "127.0.0.2"]
    assert max(hit.start for hit in there) < again.start
    assert len(there) == 10
    assert again.start - first.start >= 1.0
