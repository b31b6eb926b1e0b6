"""A run can be paused, resumed, cancelled, interrupted, retried and explained, in the middle of its work."""

from __future__ import annotations

import asyncio
import dataclasses
import time

import pytest

from tarantella.domain.errors import NotFound
from tarantella.domain.event import (
    DEADLINE_REACHED,
    RUN_CANCELLED,
    RUN_PAUSED,
    RUN_REQUEUED,
    RUN_RESUMED,
)
from tarantella.domain.struct import replace
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.store import workers
from tests.integration.crawling import (
    FakeClock,
    asked,
    awaited,
    begin,
    crawl,
    eager,
    hits,
    resume,
    retry_failed,
    with_clock,
)
from tests.site import Call, Reply, Site, tree_path, tree_paths
from tests.site.reply import page


@awaited
async def test_a_run_that_is_paused_in_the_middle_and_resumed_fetches_every_page_once(app: App) -> None:
    async with Site() as site:
        async with begin(eager(app), site, tree_path(3, 4, delay_ms=20), depth=None, per_host=3) as ongoing:
            await site.until(lambda: len(hits(site)) >= 20)
            await runs.pause(app, ongoing.run_id)
            paused = await ongoing.end()
        assert (paused.status, paused.run.reason) == ("paused", runs.USER)
        assert paused.run.counts.pending > 0
        assert RUN_PAUSED in paused.messages
        so_far = len(hits(site))
        await asyncio.sleep(0.1)
        assert len(hits(site)) == so_far
        async with resume(app, site, paused.id) as ongoing:
            crawled = await ongoing.end()
    assert crawled.status == "completed"
    assert sorted(asked(site)) == sorted(tree_paths(3, 4, delay_ms=20))
    assert crawled.run.records == 85
    assert crawled.messages.count(RUN_PAUSED) == crawled.messages.count(RUN_RESUMED) == 1


@awaited
async def test_what_is_in_flight_at_a_pause_gets_a_moment_and_is_then_asked_for_again(app: App) -> None:
    async with Site() as site:
        async with begin(eager(app), site, "/ok", "/slow?s=0.3", "/slow?s=20") as ongoing:
            await site.until(lambda: len(hits(site)) == 3)
            await runs.pause(app, ongoing.run_id)
            paused = await ongoing.end()
        assert paused.states == {"/ok": "done", "/slow?s=0.3": "done", "/slow?s=20": "pending"}
        assert paused.pages["/slow?s=20"]["charged"] == 0
        assert paused.attempts("/slow?s=20") == []


@awaited
async def test_a_run_that_is_cancelled_in_the_middle_keeps_what_it_has(app: App) -> None:
    # What is left of it takes longer than a cancel may.
    start = tree_path(3, 4, delay_ms=80)
    async with Site() as site, begin(app, site, start, depth=None, per_host=3) as ongoing:
        await site.until(lambda: len(hits(site)) >= 20)
        await runs.cancel(app, ongoing.run_id)
        crawled = await ongoing.end()
    assert crawled.status == "cancelled"
    assert crawled.run.counts.done == crawled.run.records > 0
    assert crawled.run.counts.skipped > 0
    assert crawled.messages[-1] == RUN_CANCELLED
    assert len(hits(site)) < 85


@awaited
async def test_an_interrupted_run_costs_no_attempt_and_goes_on_where_it_was(app: App) -> None:
    async with Site() as site:
        start = [f"/slow?n={number}&s=0.2" for number in range(8)]
        async with begin(app, site, *start, attempts=1, per_host=2) as ongoing:
            await site.until(lambda: len(hits(site)) >= 3)
            ongoing.interrupt.set()
            stopped = await ongoing.end()
        assert (stopped.status, stopped.run.reason) == ("paused", workers.INTERRUPTED)
        assert await runs.workers_alive(app) == []
        # What was in flight was waited for: nothing was asked for in vain.
        assert stopped.run.counts.done == len(hits(site))
        assert {page["charged"] for page in stopped.pages.values() if page["state"] == "pending"} == {0}
        async with resume(app, site, stopped.id) as ongoing:
            crawled = await ongoing.end()
    assert crawled.status == "completed"
    assert sorted(asked(site)) == sorted(start)


@awaited
async def test_a_stop_does_not_wait_for_ever_and_charges_nothing(app: App) -> None:
    hasty = replace(app, settings=dataclasses.replace(app.settings, drain_seconds=0.1))
    async with Site() as site, begin(eager(hasty), site, "/never", attempts=1) as ongoing:
        await site.until(lambda: len(hits(site)) == 1)
        ongoing.interrupt.set()
        async with asyncio.timeout(3):
            stopped = await ongoing.end()
    assert stopped.states == {"/never": "pending"}
    assert stopped.pages["/never"]["charged"] == 0


@awaited
async def test_at_a_deadline_what_is_left_is_skipped_and_what_there_is_is_kept(app: App) -> None:
    async with Site() as site:
        start = [f"/slow?n={number}&s=0.2" for number in range(30)]
        crawled = await crawl(app, site, *start, deadline_seconds=0.7, per_host=2)
    assert crawled.status == "partial"
    assert crawled.run.counts.done == crawled.run.records > 0
    assert crawled.run.counts.skipped == crawled.run.counts.incomplete > 0
    assert set(crawled.states.values()) == {"done", "skipped(deadline)"}
    assert crawled.event(DEADLINE_REACHED)["pending"] == crawled.run.counts.skipped
    assert crawled.run.reason == "deadline"


@awaited
async def test_a_deadline_that_is_missed_is_a_failure_where_partial_results_are_not_wanted(app: App) -> None:
    async with Site() as site:
        began = time.monotonic()
        crawled = await crawl(app, site, "/ok", "/never", deadline_seconds=0.5, partial_ok=False)
        # What is in flight of a run that is over is not waited for.
        assert time.monotonic() - began < 15
    assert crawled.status == "failed"
    assert crawled.states == {"/ok": "done", "/never": "skipped(deadline)"}


@awaited
async def test_a_pause_stops_the_clock_of_the_deadline(app: App) -> None:
    clock = FakeClock()
    timed = with_clock(app, clock)
    async with Site() as site:
        start = [f"/slow?n={number}&s=0.1" for number in range(6)]
        async with begin(timed, site, *start, deadline_seconds=100.0, per_host=1) as ongoing:
            await site.until(lambda: len(hits(site)) == 2)
            await runs.pause(timed, ongoing.run_id)
            paused = await ongoing.end()
        clock.advance(1_000)
        async with resume(timed, site, paused.id) as ongoing:
            crawled = await ongoing.end()
    assert crawled.status == "completed"


@awaited
async def test_retry_failed_tries_only_what_failed(app: App) -> None:
    async with Site() as site:
        first = await crawl(app, site, "/ok", "/flaky?n=2", "/404", attempts=2)
        assert first.status == "partial"
        assert first.states["/flaky?n=2"] == "failed(bad_response)"
        site.log.reset()
        async with retry_failed(app, site, first.id) as ongoing:
            crawled = await ongoing.end()
    assert sorted(asked(site)) == ["/404", "/flaky?n=2"]
    assert crawled.states == {"/ok": "done", "/flaky?n=2": "done", "/404": "failed(not_found)"}
    assert crawled.status == "partial"
    assert RUN_REQUEUED in crawled.messages
    assert crawled.run.records == 2


@awaited
async def test_links_of_a_page_that_is_retried_are_followed(app: App) -> None:
    async with Site() as site:
        broken = True

        async def moody(_call: Call) -> Reply:
            return page("Broken", status=500) if broken else page("Fine", '<a href="/item/1">one</a>')

        site.routes["/moody"] = moody
        first = await crawl(app, site, "/moody", depth=2, attempts=1)
        broken = False
        async with retry_failed(app, site, first.id) as ongoing:
            crawled = await ongoing.end()
    assert crawled.states == {"/moody": "done", "/item/1": "done"}
    assert crawled.status == "completed"
    assert crawled.run.failure_code is None


@awaited
async def test_explain_tells_the_whole_story_of_a_page(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/links?hrefs=/flaky%3Fn%3D2%26code%3D503", depth=2)
        url = site.url_for("/flaky?n=2&code=503")
        story = await runs.explain(app, crawled.id, url)
        with pytest.raises(NotFound, match="not a page of this run"):
            await runs.explain(app, crawled.id, site.url_for("/nowhere"))
    assert (story["page"]["url"], story["page"]["state"], story["page"]["depth"]) == (url, "done", 2)
    assert crawled.short(story["found_on"]["url"]).startswith("/links")
    assert [
        (attempt["strategy"], attempt["status"], attempt["failure"], attempt["detail"], attempt["decision"])
        for attempt in story["attempts"]
    ] == [
        ("http", 503, "bad_response", "HTTP 503", "retry in 0.1 s with http"),
        ("http", 503, "bad_response", "HTTP 503", "retry in 0.1 s with http"),
        ("http", 200, None, None, "done"),
    ]
    times = [attempt["started_at"] for attempt in story["attempts"]]
    assert times == sorted(times)


@awaited
async def test_explain_finds_a_page_by_where_it_was_redirected_to(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/redirect?to=/ok")
        story = await runs.explain(app, crawled.id, site.url_for("/ok"))
    assert crawled.short(story["page"]["url"]) == "/redirect?to=/ok"


@awaited
async def test_runs_beyond_the_limit_wait_and_are_served_by_whoever_has_time(app: App) -> None:
    async with Site() as site:
        ongoing = [begin(app, site, f"/slow?n={number}&s=0.3", depth=2) for number in range(7)]
        waiting = await ongoing[-1].until(lambda now: "waits" in (now.run.reason or ""))
        assert (waiting.status, waiting.run.started_at) == ("queued", None)
        crawled = [await each.end() for each in ongoing]
    assert {each.status for each in crawled} == {"completed"}
    assert len(hits(site)) == 7


@awaited
async def test_a_deleted_run_leaves_nothing(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/list?n=30", depth=2, keep_bodies=True)
        kept = await crawl(app, site, "/ok")
    await runs.delete(app, crawled.id)
    assert [run.id for run in await runs.listed(app)] == [kept.id]
    tables = ("pages", "records", "attempts", "bodies", "run_events")
    left = {table: kept.read(lambda tx, table=table: tx.value(f"SELECT count(*) FROM {table}")) for table in tables}
    assert left == {"pages": 1, "records": 1, "attempts": 1, "bodies": 0, "run_events": 3}
