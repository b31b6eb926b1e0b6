"""What was confided to a run goes to those it is meant for, and to nobody else: no host, no log, no event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tarantella.domain.spec import Secrets
from tarantella.services.app import App
from tests.integration.crawling import Crawled, asked, awaited, crawl, hits, retry_failed
from tests.logs import captured_log
from tests.site import Call, Proxy, Reply, Site
from tests.site.reply import page

SECRET = "s3cret-and-never-shown"
HEADERS = {"Authorization": f"Bearer {SECRET}", "X-Key": SECRET}


def cookie(name: str, domain: str) -> dict[str, str]:
    return {"domain": domain, "path": "/", "name": name, "value": SECRET, "secure": "false"}


def echoed(crawled: Crawled, address: str) -> dict[str, str]:
    """The headers that the site saw."""
    headers: dict[str, str] = crawled.records[address]["data"]["headers"]
    return headers


def told(crawled: Crawled, logs: Any) -> str:
    """All that a person may get to see of a run, its records aside."""

    def look(tx: Any) -> list[Any]:
        return [
            [tuple(row) for row in tx.all(question)]
            for question in (
                "SELECT level, message, meta FROM run_events",
                "SELECT reason, detail FROM pages",
                "SELECT failure, detail, decision FROM attempts",
                "SELECT reason, spec, refused, failure_code, error_message FROM runs",
            )
        ]

    return json.dumps([crawled.read(look), logs], default=str)


@awaited
async def test_headers_are_sent_to_the_hosts_that_the_run_starts_from(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/echo", site.url_for("/echo", "127.0.0.2"), secrets=Secrets(headers=HEADERS))
    for address in ("/echo", "127.0.0.2/echo"):
        seen = echoed(crawled, address)
        assert (seen["authorization"], seen["x-key"]) == (f"Bearer {SECRET}", SECRET)


@awaited
async def test_headers_are_not_sent_to_a_host_that_a_link_leads_to(app: App) -> None:
    async with Site() as site:
        away = site.url_for("/echo", "127.0.0.2")
        crawled = await crawl(
            app, site, f"/links?hrefs={away}|/echo", depth=2, scope="any", secrets=Secrets(headers=HEADERS)
        )
    assert "authorization" not in echoed(crawled, "127.0.0.2/echo")
    assert "x-key" not in echoed(crawled, "127.0.0.2/echo")
    assert "authorization" in echoed(crawled, "/echo")


@awaited
async def test_headers_are_not_sent_to_where_a_start_address_is_redirected(app: App) -> None:
    async with Site() as site:
        there = site.url_for("/links?hrefs=/echo", "127.0.0.2").replace("?hrefs=", "%3Fhrefs%3D")
        crawled = await crawl(app, site, f"/redirect?to={there}", depth=2, secrets=Secrets(headers=HEADERS))
    assert crawled.status == "completed"
    # The scope has moved there; the trust has not.
    assert "authorization" not in echoed(crawled, "127.0.0.2/echo")


@awaited
async def test_headers_are_not_sent_there_either_when_the_run_is_taken_up_again(app: App) -> None:
    async with Site() as site:

        async def moody(call: Call) -> Reply | None:
            site.counts["moody"] += 1
            return page("Not now", status=500) if site.counts["moody"] == 1 else await site.routes["/echo"](call)

        site.routes["/moody"] = moody
        there = site.url_for("/links?hrefs=/moody", "127.0.0.2").replace("?hrefs=", "%3Fhrefs%3D")
        first = await crawl(app, site, f"/redirect?to={there}", depth=2, attempts=1, secrets=Secrets(headers=HEADERS))
        assert first.states["127.0.0.2/moody"] == "failed(bad_response)"
        async with retry_failed(app, site, first.id) as ongoing:
            crawled = await ongoing.end()
    assert "authorization" not in echoed(crawled, "127.0.0.2/moody")


@awaited
async def test_cookies_are_sent_where_they_belong(app: App) -> None:
    async with Site() as site:
        secrets = Secrets(cookies=(cookie("mine", "127.0.0.1"), cookie("other", "127.0.0.3")))
        crawled = await crawl(app, site, "/cookies", site.url_for("/cookies", "127.0.0.2"), secrets=secrets)
    assert crawled.records["/cookies"]["data"] == {"mine": SECRET}
    assert crawled.records["127.0.0.2/cookies"]["data"] == {}


@awaited
async def test_loopback_is_denied_unless_it_is_allowed_and_the_detail_says_how(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/ok", allow_networks=())
        without_robots = await crawl(app, site, "/ok", allow_networks=(), obey_robots=False)
        mended = await crawl(app, site, "/ok", allow_networks=("127.0.0.1/32",))
    for denied in (crawled, without_robots):
        assert denied.states == {"/ok": "failed(denied)"}
        assert denied.pages["/ok"]["detail"].endswith("--allow-network 127.0.0.1/32")
        assert denied.run.error_message == denied.pages["/ok"]["detail"]
    assert mended.status == "completed"
    assert asked(site) == ["/ok"]


# -- proxies


@awaited
async def test_a_proxy_is_used_for_every_request(app: App) -> None:
    async with Site() as site, Proxy(auth=("user", SECRET)) as proxy:
        crawled = await crawl(app, site, "/list?n=5", depth=2, secrets=Secrets(proxy=proxy.url_with_credentials))
    assert crawled.status == "completed"
    targets = [seen.target for seen in proxy.seen]
    assert sorted(targets) == sorted(
        [
            site.url_for("/robots.txt"),
            site.url_for("/list?n=5"),
            *(site.url_for(f"/item/{n}") for n in range(5)),
        ]
    )


@pytest.mark.parametrize("kind", ["refused", "hangs_up", "wrong_password"])
@awaited
async def test_a_proxy_that_fails_is_never_gone_around(app: App, kind: str) -> None:
    async with Site() as site, Proxy(auth=("user", "right"), hang_up=kind == "hangs_up") as proxy:
        url = {
            "refused": "http://127.0.0.1:1",
            "hangs_up": proxy.url_with_credentials,
            "wrong_password": f"http://user:{SECRET}@127.0.0.1:{proxy.port}",
        }[kind]
        with captured_log() as logs:
            crawled = await crawl(app, site, "/ok", obey_robots=False, attempts=3, secrets=Secrets(proxy=url))
    assert crawled.states == {"/ok": "failed(proxy)"}
    assert site.hits == []
    assert len(crawled.attempts("/ok")) == 3
    assert SECRET not in told(crawled, logs)


@awaited
async def test_a_dead_proxy_is_not_gone_around_for_robots_txt_either(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/ok", secrets=Secrets(proxy="http://127.0.0.1:1"))
    assert site.hits == []
    assert crawled.status == "failed"


# -- nobody sees


@awaited
async def test_no_secret_appears_in_an_event_a_detail_an_error_or_the_log(app: App) -> None:
    async with Site() as site, Proxy(auth=("user", SECRET)) as proxy:
        target = site.url_for(f"/item/1?token={SECRET}", "127.0.0.2").replace("?", "%3F").replace("=", "%3D")
        starts = [
            f"/500?token={SECRET}",
            f"/429?token={SECRET}&after=0",
            f"/404?api_key={SECRET}",
            f"/redirect?to={target}",
            f"/redirect-loop?token={SECRET}",
            f"/garbage?access_token={SECRET}",
            f"/never?password={SECRET}",
            f"/binary?as=image/png&key={SECRET}",
            f"/links?hrefs=https://example.com/%3Ftoken%3D{SECRET}|ftp://u:{SECRET}@example.com/|/item/1%3Ftoken%3D{SECRET}",
        ]
        secrets = Secrets(HEADERS, (cookie("c", "127.0.0.1"),), proxy.url_with_credentials)
        with captured_log() as logs:
            crawled = await crawl(
                app, site, *starts, depth=2, attempts=2, total_timeout=1.0, secrets=secrets, max_pages=30
            )
    assert crawled.status == "partial"
    assert crawled.run.counts.failed >= 5
    assert len(hits(site)) > 10
    shown = told(crawled, logs)
    assert "token=***" in shown
    assert SECRET not in shown
