"""AUTO over HTTP: resolved by what people say, what a site has taught, what a job's last run found, and else by a look."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tarantella.domain.learning import Sight, Sights
from tarantella.domain.site import Tally
from tarantella.services.app import App
from tarantella.store import sites
from tests.integration.api.talking import Talker
from tests.site import Site

HOST = "127.0.0.1"
WALL: Sight = ("http", "blocked")
GIVEN: Sight = ("browser", None)


def teach(app: App, seen: dict[Sight, int], *, ago: float = 0.0) -> None:
    """What pages of the host have shown."""
    told = Tally(seen={sight: Sights(count, url=f"http://{HOST}/x") for sight, count in seen.items()})
    app.database.write_now(partial(sites.tally, tallies={HOST: told}, now=app.now() - ago))


def created(client: Talker, run: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = client.get(f"/jobs/runs/{run['id']}/events")[0]["meta"]
    return meta


def test_what_a_site_has_taught_spares_the_look(app: App, client: Talker, site: Site) -> None:
    teach(app, {WALL: 6, GIVEN: 6})
    run = client.run_of(client.job(site.url_for("/ok")))
    assert run["resolved_strategy"] == "browser"
    assert created(client, run)["why"].startswith("learned from its site: HTTP gave 0 pages, and was refused 6 times")
    assert site.hits == []


def test_what_was_taught_too_long_ago_is_found_out_anew(app: App, client: Talker, site: Site) -> None:
    teach(app, {WALL: 6, GIVEN: 6}, ago=app.settings.strategy_memory_seconds + 60)
    assert client.get(f"/sites/{HOST}")["learned"]["strategy"] is None
    assert client.run_of(client.job(site.url_for("/ok")))["resolved_strategy"] == "http"
    assert [hit.path for hit in site.hits] == ["/robots.txt", "/ok"]


def test_that_http_works_for_a_site_says_little_of_a_page_that_nobody_has_seen(
    app: App, client: Talker, site: Site
) -> None:
    teach(app, {("http", None): 50})
    assert client.run_of(client.job(site.url_for("/403")))["resolved_strategy"] == "browser"
    assert client.run_of(client.job(site.url_for("/spa")))["resolved_strategy"] == "browser"


@pytest.mark.parametrize("strategy", ["http", "browser"])
def test_a_pinned_site_is_asked_as_people_say(client: Talker, site: Site, strategy: str) -> None:
    client.patch(f"/sites/{HOST}", {"strategy": strategy})
    run = client.run_of(client.job(site.url_for("/spa")))
    assert (run["resolved_strategy"], created(client, run)["why"]) == (strategy, "pinned for its site")
    assert site.hits == []
    named = client.run_of(client.job(site.url_for("/spa"), strategy="http"))
    assert (named["resolved_strategy"], created(client, named)["why"]) == ("http", "as asked for")
    assert client.patch(f"/sites/{HOST}", {"strategy": "auto"})["policy"]["strategy"] is None
    assert client.run_of(client.job(site.url_for("/spa")))["resolved_strategy"] == "browser"


def test_a_look_that_was_refused_is_evidence_and_counts_once(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/spa"))
    for _ in range(3):
        client.run_of(job)
    learned = client.get(f"/sites/{HOST}")["learned"]
    assert learned["evidence"]["http"]["refused"] == {"needs_render": 1}
    assert learned["evidence"]["http"]["last_url"] == site.url_for("/spa")
    assert [hit.path for hit in site.hits].count("/spa") == 1


@pytest.mark.usefixtures("engine")
def test_a_job_whose_last_run_had_its_page_over_http_needs_no_look(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/item/1"))
    first = client.ended(client.run_of(job)["id"])
    assert first["cost"] == {
        "requests": 1,
        "bytes": first["bytes"],
        "browser_seconds": 0.0,
        "pages_by_strategy": {"http": 1},
    }
    assert first["stats"]["cost"] == first["cost"]
    client.until(f"/sites/{HOST}", lambda found: found["learned"]["strategy"] == "http")
    again = client.run_of(job)
    assert created(client, again)["why"] == "as in the last run of its job"
    client.ended(again["id"])
    assert [hit.path for hit in site.hits].count("/item/1") == 3, "a look and two runs"


@pytest.mark.usefixtures("engine")
def test_a_job_whose_page_was_empty_for_want_of_a_browser_is_looked_at_again(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/spa"))
    first = client.ended(client.run_of(job)["id"])
    assert (first["status"], first["failure_code"]) == ("failed", "unknown"), "there is no browser"
    refused = {"needs_render": 2}
    client.until(f"/sites/{HOST}", lambda found: found["learned"]["evidence"]["http"]["refused"] == refused)
    assert client.run_of(job)["resolved_strategy"] == "browser"
    assert client.messages(first["id"]).count("Strategy not available") == 1


def test_a_site_tells_what_it_was_found_to_take_and_why(app: App, client: Talker) -> None:
    teach(app, {WALL: 6, GIVEN: 2})
    learned = client.get(f"/sites/{HOST}")["learned"]
    assert (learned["strategy"], learned["evidence"]["browser"]["pages"]) == ("browser", 2)
    assert learned["why"] == "HTTP gave 0 pages, and was refused 6 times (blocked 6); the browser gave 2 pages"
    assert learned["seen_at"] < learned["expires_at"]


def test_tasks_leave_their_strategy_to_us(client: Talker, site: Site) -> None:
    run = client.get(f"/jobs/runs/{client.task(site.url_for('/ok'))}")
    assert (run["requested_strategy"], run["resolved_strategy"]) == ("auto", "http")
    assert site.hits == [], "the first page is as good as a look"


# -- with a real browser


@pytest.mark.usefixtures("browser", "engine")
def test_a_page_that_scripts_fill_is_rendered_without_asking_for_it_twice(client: Talker, site: Site) -> None:
    run = client.run_of(client.job(site.url_for("/filled/7"), {"name": "heading", "css": "h1"}))
    assert (run["requested_strategy"], run["resolved_strategy"]) == ("auto", "browser")
    over = client.ended(run["id"])
    assert (over["status"], over["cost"]["pages_by_strategy"]) == ("completed", {"browser": 1})
    [record] = client.get(f"/jobs/runs/{run['id']}/records")
    assert record["fields"]["heading"] == "Story 7"
    story = client.get(f"/jobs/runs/{run['id']}/explain", params={"url": site.url_for("/filled/7")})
    assert {tried["strategy"] for tried in story["attempts"]} == {"browser"}
    asked = [hit.path for hit in site.hits].count("/filled/7")
    assert asked == 1 + len(story["attempts"]), "the look, and the browser"
    client.until(f"/sites/{HOST}", lambda found: "browser" in found["learned"]["evidence"])
    again = client.run_of(client.job(site.url_for("/filled/7")))
    assert again["resolved_strategy"] == "browser"


@pytest.mark.usefixtures("browser", "engine")
def test_a_named_strategy_is_used_as_given_and_a_refused_page_goes_up_the_ladder_with_all_six_events(
    client: Talker, site: Site
) -> None:
    job = client.job(site.url_for("/403"), strategy="http", max_attempts=2, backoff={"base": 0.05, "jitter": 0})
    refused = client.ended(client.run_of(job)["id"])
    job = client.job(site.url_for("/browsers-only/1"), strategy="http", backoff={"base": 0.05, "jitter": 0})
    given = client.ended(client.run_of(job)["id"])
    assert (refused["status"], refused["resolved_strategy"], refused["failure_code"]) == ("failed", "http", "blocked")
    assert (given["status"], given["resolved_strategy"]) == ("completed", "http")
    messages = client.messages(given["id"])
    assert messages == ["Run created", "Run started", "Strategy escalated", "Retry scheduled", "Run completed"]
    assert client.messages(refused["id"])[-1] == "Run failed"
    [climb] = [e for e in client.get(f"/jobs/runs/{given['id']}/events") if e["message"] == "Strategy escalated"]
    assert climb["meta"] == {
        "from": "http",
        "to": "browser",
        "reason": "blocked",
        "detail": "HTTP 403",
        "url": site.url_for("/browsers-only/1"),
    }
