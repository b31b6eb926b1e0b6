"""A host is never asked for more than it was promised, and a slow one holds nobody back."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from tarantella.domain.event import BREAKER_CLOSED, BREAKER_OPENED
from tarantella.engine import tenure
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.store.tx import Tx
from tests.integration.crawling import FakeClock, awaited, begin, crawl, eager, gaps, hits, resume, with_clock
from tests.site import Call, Reply, Site, tree_path
from tests.site.reply import page, page_with_links

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 6))


def slow(site: Site, count: int, seconds: float, host: str = "127.0.0.1") -> list[str]:
    """Addresses of pages that take this long."""
    return [site.url_for(f"/slow?n={number}&s={seconds}", host) for number in range(count)]


@pytest.mark.parametrize("per_host", [1, 3, 8])
@awaited
async def test_a_host_is_asked_for_as_many_pages_at_a_time_as_allowed_and_no_more(app: App, per_host: int) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, tree_path(2, 6, delay_ms=20), depth=None, per_host=per_host, concurrency=50)
    assert crawled.run.counts.done == 43
    assert site.peak_by_host["127.0.0.1"] == per_host


@awaited
async def test_a_host_is_met_with_one_request_and_gets_more_as_it_answers(app: App) -> None:
    async with Site() as site:
        await crawl(app, site, *slow(site, 7, 0.1), per_host=8)
    found = hits(site)
    first_ended = found[0].end
    assert first_ended is not None
    assert sum(hit.start < first_ended for hit in found) == 1
    assert sum(hit.start < first_ended + 0.09 for hit in found) == 3


@awaited
async def test_a_delay_is_kept_between_the_beginnings_of_requests(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/list?n=5", depth=2, delay=0.2)
    assert crawled.run.counts.done == 6
    assert min(gaps(hits(site))) >= 0.15
    assert max(gaps(hits(site))) < 0.5


@awaited
async def test_hosts_have_their_delays_apart(app: App) -> None:
    async with Site() as site:
        starts = [site.url_for(f"/item/{number}", host) for host in HOSTS for number in range(3)]
        await crawl(app, site, *starts, delay=0.2)
    for host in HOSTS:
        assert min(gaps([hit for hit in hits(site) if hit.hostname == host])) >= 0.15
    found = hits(site)
    assert max(hit.start for hit in found) - min(hit.start for hit in found) < 1.5


@awaited
async def test_with_more_hosts_than_lanes_those_that_are_done_make_room(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenure, "MAX_LANES", 2)
    monkeypatch.setattr(tenure, "LANE_LINGERS", 1e9)
    async with Site() as site:
        crawled = await crawl(eager(app), site, *(site.url_for("/item/1", host) for host in HOSTS))
    assert crawled.run.counts.done == len(HOSTS)


async def until_nobody_has(app: App, lane: str) -> None:
    owner = partial(Tx.value, sql="SELECT owner FROM lanes WHERE name = :name", name=lane)
    while await app.database.read(owner) is not None:
        await asyncio.sleep(0.01)


@awaited
async def test_a_delay_is_kept_when_a_host_was_let_go_of_meanwhile(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenure, "LANE_LINGERS", 0.0)
    async with Site() as site:

        async def late(_call: Call) -> Reply:
            """Leads back to the first host when nobody has its lane any more."""
            await until_nobody_has(app, "127.0.0.1")
            return page_with_links("Late", [site.url_for("/item/2", "127.0.0.1")])

        site.routes["/late"] = late
        starts = [site.url_for("/item/1", "127.0.0.1"), site.url_for("/late", "127.0.0.2")]
        crawled = await crawl(eager(app), site, *starts, depth=2, delay=1.0, scope="any")
    assert crawled.run.counts.done == 3
    assert gaps([hit for hit in hits(site) if hit.hostname == "127.0.0.1"])[0] >= 0.95


@awaited
async def test_a_delay_is_kept_by_whoever_goes_on_with_a_run(app: App) -> None:
    async with Site() as site:
        async with begin(eager(app), site, "/list?n=5", depth=2, delay=1.0) as ongoing:
            await site.until(lambda: len(hits(site)) >= 2)
            await runs.pause(app, ongoing.run_id)
            paused = await ongoing.end()
        async with resume(app, site, paused.id) as ongoing:
            await site.until(lambda: len(hits(site)) >= 3)
            await runs.pause(app, ongoing.run_id)
            await ongoing.end()
    assert min(gaps(hits(site))) >= 0.95


@awaited
async def test_a_run_uses_as_many_requests_at_a_time_as_it_was_given_and_no_more(app: App) -> None:
    async with Site() as site:
        starts = [url for host in HOSTS for url in slow(site, 12, 0.05, host)]
        crawled = await crawl(app, site, *starts, concurrency=7, obey_robots=False)
    assert crawled.run.counts.done == 60
    assert site.peak == 7


@awaited
async def test_a_slow_host_does_not_hold_back_another(app: App) -> None:
    async with Site() as site:
        quick = [site.url_for(f"/item/{number}", "127.0.0.2") for number in range(20)]
        crawled = await crawl(app, site, *slow(site, 8, 0.5), *quick, concurrency=10)
    assert crawled.run.counts.done == 28
    there = [hit for hit in hits(site) if hit.hostname == "127.0.0.2"]
    first_slow = next(hit for hit in hits(site) if hit.path == "/slow")
    assert len([hit for hit in there if hit.start < (first_slow.end or 0)]) == 20


@awaited
async def test_a_host_that_has_all_slots_of_a_run_shares_them_with_one_that_comes_later(app: App) -> None:
    async with Site() as site:

        async def late(_call: Call) -> Reply:
            """Leads to another host when this one has long been busy."""
            await site.log.until(lambda: len(hits(site, "/slow")) >= 8)
            return page_with_links("Late", (site.url_for(f"/item/{number}", "127.0.0.2") for number in range(5)))

        site.routes["/late"] = late
        first, *rest = slow(site, 40, 0.1)
        crawled = await crawl(app, site, first, "/late", *rest, depth=2, concurrency=4, per_host=4, scope="any")
    assert crawled.run.counts.done == 46
    there = [hit for hit in hits(site) if hit.hostname == "127.0.0.2"]
    last = max(hit.start for hit in there)
    after = [hit for hit in hits(site, "/slow") if hit.start > last]
    assert len(after) > 10


@awaited
async def test_two_runs_of_one_host_share_its_limit(app: App) -> None:
    async with Site() as site:
        one = begin(app, site, *slow(site, 12, 0.05), per_host=2)
        async with one:
            await site.until(lambda: len(hits(site)) >= 2)
            async with begin(app, site, *slow(site, 12, 0.06), per_host=2) as two:
                await asyncio.gather(one.end(), two.end())
    assert len(hits(site)) == 24
    assert site.peak_by_host["127.0.0.1"] == 2


# -- the breaker


@awaited
async def test_a_breaker_opens_after_five_failures_and_the_host_is_left_alone_but_for_one_probe(
    app: App,
) -> None:
    clock = FakeClock()
    async with Site() as site:
        ill = True

        async def moody(_call: Call) -> Reply:
            return page("Ill", status=500) if ill else page("Well")

        site.routes["/moody/"] = moody
        starts = [f"/moody/{number}" for number in range(20)]
        async with begin(with_clock(app, clock), site, *starts, attempts=9) as ongoing:
            crawled = await ongoing.until(lambda now: BREAKER_OPENED in now.messages)
            assert crawled.event(BREAKER_OPENED)["failures"] == 5
            await asyncio.sleep(0.5)
            assert len(hits(site)) == 5
            clock.advance(299)
            await asyncio.sleep(0.3)
            assert len(hits(site)) == 5
            clock.advance(2)
            await site.until(lambda: len(hits(site)) == 6)
            await asyncio.sleep(0.3)
            assert len(hits(site)) == 6
            ill = False
            clock.advance(301)
            crawled = await ongoing.end()
    assert crawled.status == "completed"
    assert crawled.messages.count(BREAKER_OPENED) == 2
    assert crawled.messages.count(BREAKER_CLOSED) == 1


@awaited
async def test_three_failed_probes_close_the_pages_of_a_dead_host_and_of_no_other(app: App) -> None:
    clock = FakeClock()
    async with Site() as site:
        starts = [f"/500?n={number}" for number in range(10)]
        other = site.url_for("/ok", "127.0.0.2")
        async with begin(with_clock(app, clock), site, *starts, other, attempts=9) as ongoing:
            for probes in range(1, 4):
                await site.until(lambda: len(hits(site, "/500")) == 4 + probes)  # noqa: B023
                await ongoing.until(lambda now: now.messages.count(BREAKER_OPENED) == probes)  # noqa: B023
                clock.advance(301)
            crawled = await ongoing.end()
    assert len(hits(site, "/500")) == 8
    assert crawled.status == "partial"
    states = list(crawled.states.values())
    assert (states.count("skipped(host_down)"), states.count("done")) == (10, 1)
    assert crawled.run.counts.incomplete == 10
    opened = [event["meta"]["failed_probes"] for event in crawled.events if event["message"] == BREAKER_OPENED]
    assert opened == [0, 1, 2, 3]


@awaited
async def test_missing_pages_do_not_open_the_breaker(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, *(f"/404?n={number}" for number in range(12)))
    assert len(hits(site)) == 12
    assert BREAKER_OPENED not in crawled.messages


@awaited
async def test_four_failures_and_a_success_leave_the_breaker_closed(app: App) -> None:
    async with Site() as site:
        turn = [f"/500?n={number}" for number in range(4)]
        again = [f"/500?n={number}" for number in range(4, 8)]
        crawled = await crawl(app, site, *turn, "/ok", *again, attempts=1)
    assert len(hits(site)) == 9
    assert BREAKER_OPENED not in crawled.messages
