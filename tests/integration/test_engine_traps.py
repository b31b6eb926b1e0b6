"""A site without end ends: the trap rules say what they stopped, and the rest of it, and other hosts, are crawled."""

from __future__ import annotations

from typing import Any

import pytest

from tarantella.domain.errors import NotFound
from tarantella.domain.trap import TrapLimits
from tarantella.services import runs
from tarantella.services.app import App
from tests.integration.crawling import Crawled, asked, awaited, begin, crawl, eager, resume
from tests.site import Site

LIMITS = TrapLimits(dates=20, combinations=30)
WIDE: dict[str, Any] = {"depth": None, "max_pages": 2_000}
GOOD = {"/item/1", "/item/2"}


def stopped(crawled: Crawled) -> list[tuple[str, str]]:
    """Rule and pattern of each event that tells of a trap."""
    told = [event for event in crawled.events if event["message"] == "Trap stopped"]
    assert all(event["level"] == "warn" for event in told)
    return [(event["meta"]["rule"], event["meta"]["pattern"].partition("/")[2]) for event in told]


@pytest.mark.parametrize(
    ("start", "rule", "pattern", "most"),
    [
        ("/deeper/", "repeats", "", 10),
        ("/days/2026/11/16", "dates", "days/{date}", 21),
        ("/calendar?month=2030-01", "dates", "calendar?month={date}", 21),
        ("/facets?a=0&b=0&c=0&d=0&e=0", "combinations", "facets", 210),
    ],
)
@awaited
async def test_a_trap_is_stopped_told_of_once_and_other_hosts_are_untouched(
    app: App, start: str, rule: str, pattern: str, most: int
) -> None:
    async with Site() as site:
        elsewhere = site.url_for("/tree?depth=3&fan=3", "127.0.0.2")
        crawled = await crawl(app, site, start, elsewhere, traps=LIMITS, **WIDE)
    assert crawled.status == "completed"
    here = [address for address in crawled.records if not address.startswith("127.0.0.2")]
    assert len(here) <= most + len(GOOD)
    assert (set(here) >= GOOD) == (start != "/calendar?month=2030-01"), "what is worth having was found"
    assert len(crawled.records) - len(here) == 40, "the other host was crawled to its end"
    assert stopped(crawled) == [(rule, pattern)]
    refused = crawled.run.refused[f"trap_{rule}"]
    assert refused["count"] > 0
    assert 1 <= len(refused["samples"]) <= 3
    [note] = [note for note in crawled.run.traps if note.stopped]
    assert (note.rule, note.sample.startswith(site.url)) == (rule, True)


@awaited
async def test_a_session_in_every_address_leads_to_one_page_each_and_not_to_many(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/sessions/", **WIDE)
    assert crawled.status == "completed"
    assert len(crawled.records) == 6 + len(GOOD)
    assert len(asked(site)) == 6 + len(GOOD)


@awaited
async def test_without_traps_it_goes_on_until_the_pages_run_out(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/deeper/", depth=None, max_pages=60, traps=TrapLimits.none())
    assert crawled.run.counts.done == 60
    assert stopped(crawled) == []


@awaited
async def test_start_addresses_are_never_traps(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/item/a/a/a/a/a", "/days/2099/01/01")
    assert crawled.run.counts.done == 2


@awaited
async def test_a_resumed_run_goes_on_counting_where_it_was(app: App) -> None:
    app = eager(app)
    async with Site() as site:
        options: dict[str, Any] = {**WIDE, "traps": TrapLimits(dates=60), "delay": 0.005}
        async with begin(app, site, "/days/2026/11/16", **options) as ongoing:
            await ongoing.until(lambda crawled: crawled.run.counts.done > 30)
            await runs.pause(app, ongoing.run_id)
            await ongoing.until(lambda crawled: crawled.status == "paused")
        async with resume(app, site, ongoing.run_id) as again:
            crawled = await again.end()
    days = [address for address in crawled.records if address.startswith("/days/")]
    assert 61 <= len(days) <= 61 + 6
    assert stopped(crawled) == [("dates", "days/{date}")]


@awaited
async def test_an_address_that_was_stopped_can_be_explained(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/days/2026/11/16", traps=LIMITS, **WIDE)

        async def told(path: str, host: str | None = None) -> str:
            with pytest.raises(NotFound) as caught:
                await runs.explain(app, crawled.id, site.url_for(path, host))
            return str(caught.value)

        days = await told("/days/2020/01/01")
        assert "taken for a trap: more than 20 dates at one place" in days
        assert "with the trap limit dates=N." in days
        assert "with the trap limit dates=off." in await told("/days/2199/01/01")
        assert "more than 3 times one folder" in await told("/x/x/x/x")
        assert "outside the scope" in await told("/ok", "127.0.0.2")
        assert "never found" in await told("/nowhere")
