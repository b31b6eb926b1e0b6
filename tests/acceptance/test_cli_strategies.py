"""`tarantella scrape` as most people type it: over HTTP where that does, in a browser where it must."""

from __future__ import annotations

import json

from tests.acceptance.command import LOOPBACK, Shell
from tests.browsers import program_or_skip


def test_rows_90_97_and_106_pages_are_rendered_where_they_must_and_the_run_tells_what_that_took(
    shell: Shell, site: str
) -> None:
    browser = {"TARANTELLA_BROWSER": program_or_skip()}
    scraped = shell.run(
        *("scrape", f"{site}/mixed?plain=2&filled=1", f"{site}/browsers-only/1", "--depth", "2", "--backoff", "0.1"),
        *("--output", "-", *LOOPBACK),
        **browser,
    )
    assert scraped.code == 0, scraped.err
    records = {record["url"].removeprefix(site): record for record in map(json.loads, scraped.out.splitlines())}
    assert "A sentence about looms" in records["/filled/0"]["text"]
    assert records["/browsers-only/1"]["title"] == "Welcome to /browsers-only/1"
    assert "; pages: 3 with http, 2 with browser; the browser was busy for " in scraped.err

    run = shell.run("runs", "show", "latest", "--json").json
    assert run["cost"]["pages_by_strategy"] == {"http": 3, "browser": 2}
    climbs = [
        event["meta"]
        for event in shell.run("runs", "events", "latest", "--json").json
        if event["message"] == "Strategy escalated"
    ]
    assert {(climb["from"], climb["to"], climb["reason"]) for climb in climbs} == {
        ("http", "browser", "needs_render"),
        ("http", "browser", "blocked"),
    }
    known = shell.run("sites", "show", "127.0.0.1", "--json").json
    assert known["strategy"] == "http", "three of five pages were had over HTTP"
    assert known["learned"]["evidence"]["browser"]["pages"] == 2

    shell.run("sites", "set", "127.0.0.1", "--strategy", "http")
    plain = shell.run("scrape", f"{site}/filled/1", *LOOPBACK, "--json", **browser).json
    assert plain["cost"]["pages_by_strategy"] == {"http": 1}


def test_without_a_browser_an_empty_page_fails_and_the_summary_says_what_would_help(shell: Shell, site: str) -> None:
    scraped = shell.run("scrape", f"{site}/filled/1", *LOOPBACK)
    assert scraped.code == 1
    assert "A browser would get further: the page is empty until its scripts run." in scraped.err
    named = shell.run("scrape", f"{site}/filled/1", "--strategy", "http", *LOOPBACK)
    assert named.code == 0
    assert "would get further" not in named.err
