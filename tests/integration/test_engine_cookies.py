"""What a site sets is sent back to it for the rest of the run, by whoever fetches its pages, and to nobody else."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from tarantella.bootstrap import make_tools
from tarantella.domain.spec import Secrets
from tarantella.domain.struct import replace
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.services.app import App
from tests.integration.crawling import awaited, begin, crawl, eager, resume
from tests.logs import captured_log
from tests.site import Call, Reply, Site
from tests.site.reply import page, page_with_links

SECRET = "s3cret-and-never-shown"


def with_names(app: App) -> App:
    """The same application in a world where every name leads to the test site."""
    return replace(app, make_tools=lambda: make_tools(Guard(dns=Dns(lambda host: ["127.0.0.1"]))))


def login(site: Site, *set_cookies: str, links: tuple[str, ...] = ("/cookies?1", "/cookies?2")) -> None:
    """`/login` sets these cookies and links to pages that tell which they were sent."""

    async def handler(call: Call) -> Reply:
        reply = page_with_links("Welcome", links)
        return dataclasses.replace(reply, headers=tuple(("Set-Cookie", each) for each in set_cookies))

    site.routes["/login"] = handler


@awaited
async def test_a_session_holds_for_the_rest_of_its_run_and_not_for_the_next(app: App) -> None:
    async with Site() as site:
        login(site, "sid=1; Path=/", "old=1; Path=/; Max-Age=0", "deep=1; Path=/elsewhere")
        crawled = await crawl(app, site, "/login", depth=2)
        again = await crawl(app, site, "/cookies?1")
    assert crawled.records["/cookies?1"]["data"] == crawled.records["/cookies?2"]["data"] == {"sid": "1"}
    assert again.records["/cookies?1"]["data"] == {}


@awaited
async def test_a_run_can_be_told_to_keep_no_cookies_but_those_it_was_given(app: App) -> None:
    given = {"domain": "127.0.0.1", "path": "/", "name": "mine", "value": "1", "secure": "false"}
    async with Site() as site:
        login(site, "sid=1; Path=/")
        secrets = Secrets(cookies=(given,))
        crawled = await crawl(app, site, "/login", depth=2, keep_cookies=False, secrets=secrets)
    assert crawled.records["/cookies?1"]["data"] == {"mine": "1"}
    assert crawled.read(lambda tx: tx.value("SELECT count(*) FROM cookies")) == 0


@awaited
async def test_a_session_that_the_site_renews_replaces_the_one_that_was_given(app: App) -> None:
    given = {"domain": "127.0.0.1", "path": "/", "name": "sid", "value": "given", "secure": "false"}
    async with Site() as site:
        login(site, "sid=renewed; Path=/")
        crawled = await crawl(app, site, "/login", depth=2, secrets=Secrets(cookies=(given,)))
    assert crawled.records["/cookies?1"]["data"] == {"sid": "renewed"}
    assert [hit.path for hit in site.hits if hit.path == "/login"] == ["/login"]


@awaited
async def test_another_host_is_not_told(app: App) -> None:
    async with Site() as site:
        login(site, "sid=1; Path=/", links=(site.url_for("/cookies", "127.0.0.2"),))
        crawled = await crawl(app, site, "/login", depth=2, scope="any")
    assert crawled.records["127.0.0.2/cookies"]["data"] == {}


@awaited
async def test_a_cookie_of_a_domain_is_known_to_the_pages_that_are_found_on_its_other_hosts(app: App) -> None:
    async with Site() as site:
        cookies = ("all=1; Domain=shop.test; Path=/", "one=1; Path=/", "no=1; Domain=test; Path=/")
        login(site, *cookies, links=(site.url_for("/cookies", "api.shop.test"), "/cookies"))
        start = site.url_for("/login", "www.shop.test")
        crawled = await crawl(with_names(app), site, start, depth=2, scope="domain")
    assert crawled.records["api.shop.test/cookies"]["data"] == {"all": "1"}
    assert crawled.records["www.shop.test/cookies"]["data"] == {"all": "1", "one": "1"}


@awaited
async def test_a_cookie_that_is_set_on_the_way_to_another_host_arrives_there(app: App) -> None:
    async with Site() as site:

        async def gate(call: Call) -> Reply:
            reply = page("Moved", status=302, location=site.url_for("/cookies", "www.shop.test"))
            return dataclasses.replace(
                reply, headers=(*reply.headers, ("Set-Cookie", "pass=1; Domain=shop.test; Path=/"))
            )

        site.routes["/gate"] = gate
        crawled = await crawl(with_names(app), site, site.url_for("/gate", "login.shop.test"))
    [record] = crawled.records.values()
    assert (record["final_url"], record["data"]) == (site.url_for("/cookies", "www.shop.test"), {"pass": "1"})


@awaited
async def test_a_session_survives_the_end_of_the_process(app: App) -> None:
    async with Site() as site:
        login(site, "sid=1; Path=/", "all=1; Path=/; Max-Age=3600", links=("/slow?s=30",))
        hasty = replace(app, settings=dataclasses.replace(app.settings, drain_seconds=0.0))
        async with begin(eager(hasty), site, "/login", depth=2) as ongoing:
            await site.until(lambda: any(hit.path == "/slow" for hit in site.hits))
            await ongoing.until(lambda run: run.states.get("/login") == "done")
            ongoing.interrupt.set()
            assert (await ongoing.end()).status == "paused"
        site.routes["/slow"] = site.routes["/cookies"]
        # Another worker, with a memory of its own.
        async with resume(app, site, ongoing.run_id) as ongoing:
            crawled = await ongoing.end()
    assert crawled.records["/slow?s=30"]["data"] == {"sid": "1", "all": "1"}


@awaited
async def test_an_attempt_that_fails_brings_its_cookies_to_the_next(app: App) -> None:
    async with Site() as site:

        async def gate(call: Call) -> Reply:
            if call.request.header("cookie") == "proof=1":
                return page("Inside")
            return dataclasses.replace(page("Prove it", status=503), headers=(("Set-Cookie", "proof=1; Path=/"),))

        site.routes["/gate"] = gate
        crawled = await crawl(app, site, "/gate")
    assert (crawled.states, len(crawled.attempts("/gate"))) == ({"/gate": "done"}, 2)


@pytest.mark.parametrize("ending", ["completed", "failed"])
@awaited
async def test_a_cookie_s_value_is_shown_nowhere(app: App, ending: str) -> None:
    async with Site() as site:

        async def handler(call: Call) -> Reply:
            status = 200 if ending == "completed" else 500
            return dataclasses.replace(page("Hello", status=status), headers=(("Set-Cookie", f"sid={SECRET}; Path=/"),))

        site.routes["/set"] = handler
        with captured_log() as logs:
            crawled = await crawl(app, site, "/set", "/set?2", attempts=2)

    def look(tx: Any) -> list[Any]:
        tables = ("run_events", "pages", "attempts", "runs", "records")
        return [[tuple(row) for row in tx.all(f"SELECT * FROM {table}")] for table in tables]

    assert crawled.status == ending
    assert crawled.read(lambda tx: tx.value("SELECT value FROM cookies")) == SECRET
    assert SECRET not in json.dumps([crawled.read(look), logs], default=str)
