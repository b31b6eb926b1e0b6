"""Redirects that lead in circles, inside, or to somebody who should not know: rows 15 and 16 of docs/hostile-input.md."""

from __future__ import annotations

from typing import Any

import pytest

from tarantella.domain.spec import Secrets
from tarantella.services.app import App
from tests.integration.crawling import awaited, crawl, hits
from tests.site import Call, Reply, Site
from tests.site.reply import page

SECRET = "s3cret-and-never-shown"


def sends(site: Site, path: str, to: str, *cookies: str, code: int = 302) -> None:
    """Let the site send callers of this path there."""
    headers = (("Location", to), *(("Set-Cookie", cookie) for cookie in cookies))

    async def redirect(_call: Call) -> Reply:
        return Reply(code, b"moved", headers=headers)

    site.routes[path] = redirect


def only(crawled: Any) -> tuple[str, str]:
    """The reason and the detail of the only page."""
    [found] = crawled.pages.values()
    return found["reason"], found["detail"].partition(":")[0]


# -- row 15: bounded, and classified


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@awaited
async def test_a_page_that_sends_us_to_itself_is_a_loop(app: App, code: int) -> None:
    async with Site() as site:
        sends(site, "/self", "/self", code=code)
        crawled = await crawl(app, site, "/self", attempts=3)
    assert only(crawled) == ("bad_response", "redirect_loop")
    assert len(hits(site)) == 1
    assert crawled.run.requests == 1


@awaited
async def test_two_pages_that_send_us_to_each_other_are_a_loop(app: App) -> None:
    async with Site() as site:
        sends(site, "/a", "/b")
        sends(site, "/b", "/a")
        crawled = await crawl(app, site, "/a", attempts=3)
    assert only(crawled) == ("bad_response", "redirect_loop")
    assert [hit.path for hit in hits(site)] == ["/a", "/b"]


@awaited
async def test_a_chain_of_a_thousand_ends_after_ten(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/redirect-chain?n=1000", attempts=3)
    assert only(crawled) == ("bad_response", "too_many_redirects")
    assert len(hits(site)) == 11


@awaited
async def test_a_chain_of_a_thousand_across_hosts_ends_after_ten(app: App) -> None:
    async with Site() as site:

        async def onward(call: Call) -> Reply:
            step = call.request.integer("n", 0) + 1
            return page("On", status=302, location=site.url_for(f"/onward?n={step}", f"127.0.0.{step % 9 + 1}"))

        site.routes["/onward"] = onward
        crawled = await crawl(app, site, "/onward", attempts=3)
    assert only(crawled) == ("bad_response", "too_many_redirects")
    assert len(hits(site)) == 11


@awaited
async def test_a_chain_whose_addresses_grow_ends(app: App) -> None:
    async with Site() as site:

        async def longer(call: Call) -> Reply:
            return page("On", status=302, location=f"/longer?{call.request.query}{'x' * 3_000}")

        site.routes["/longer"] = longer
        crawled = await crawl(app, site, "/longer", attempts=3)
    assert only(crawled) == ("bad_response", "bad_redirect")
    assert len(hits(site)) == 3


@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1:{port}/item/1",
        "//127.0.0.1:{port}/item/1",
        "http://2130706433:{port}/item/1",
        "http://0x7f.1:{port}/item/1",
        "http://[::ffff:127.0.0.1]:{port}/item/1",
        "http:\\\\127.0.0.1:{port}\\item\\1",
        "http://me:pw@127.0.0.1:{port}/item/1",
        "http://localhost:{port}/item/1",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/",
        "http://10.0.0.1/",
    ],
)
@awaited
async def test_a_redirect_into_a_private_network_is_denied(app: App, to: str) -> None:
    async with Site() as site:
        sends(site, "/in", to.replace("{port}", str(site.port)))
        crawled = await crawl(app, site, site.url_for("/in", "127.0.0.2"), allow_networks=("127.0.0.2/32",))
    assert only(crawled) == ("denied", "address")
    assert [hit.hostname for hit in hits(site)] == ["127.0.0.2"]


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "FILE:///etc/passwd", "data:text/html,hi", "javascript:1", "gopher://x/", "FtP://x/"]
)
@awaited
async def test_a_redirect_to_another_scheme_is_denied(app: App, to: str) -> None:
    async with Site() as site:
        sends(site, "/in", to)
        crawled = await crawl(app, site, "/in", attempts=3)
    assert only(crawled) == ("denied", "scheme")
    assert len(hits(site)) == 1


@pytest.mark.parametrize("to", ["http://", "http://[", "http://exa mple.com/", "/" + "x" * 9_000, "http://a:99999/"])
@awaited
async def test_a_redirect_to_what_is_no_address_is_a_failure(app: App, to: str) -> None:
    async with Site() as site:
        sends(site, "/in", to)
        crawled = await crawl(app, site, "/in", attempts=3)
    assert only(crawled) == ("bad_response", "bad_redirect")
    assert len(crawled.run.error_message or "") < 500


@awaited
async def test_two_locations_in_one_answer_lead_to_the_first_or_nowhere_but_not_on(app: App) -> None:
    async with Site() as site:

        async def torn(_call: Call) -> Reply:
            return Reply(302, headers=(("Location", "/item/1"), ("Location", "/item/2")))

        site.routes["/torn"] = torn
        await crawl(app, site, "/torn")
    assert [hit.path for hit in hits(site)] == ["/torn", "/item/1"]


# -- row 16: what was confided to one is not told to another


SECRETS = Secrets(
    headers={"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET, "Cookie": f"given={SECRET}"},
    cookies=({"domain": "127.0.0.1", "path": "/", "name": "jar", "value": SECRET, "secure": "false"},),
)


def heard(site: Site) -> dict[str, str]:
    """What `/listen` was told, header by header, to be filled by the site."""
    heads: dict[str, str] = {}

    async def listen(call: Call) -> Reply:
        heads.update({name.lower(): value for name, value in call.request.headers})
        heads["body"] = call.request.body.decode()
        heads["method"] = call.request.method
        return page("I am listening")

    site.routes["/listen"] = listen
    return heads


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@awaited
async def test_another_host_hears_nothing_of_what_was_confided(app: App, code: int) -> None:
    async with Site() as site:
        heads = heard(site)
        sends(site, "/go", site.url_for("/listen", "127.0.0.2"), f"chain={SECRET}; Path=/", code=code)
        crawled = await crawl(app, site, "/go", secrets=SECRETS)
    assert crawled.status == "completed"
    assert SECRET not in str(heads)
    assert {"authorization", "x-api-key", "cookie"}.isdisjoint(heads)
    assert (heads["method"], heads["body"]) == ("GET", "")


@awaited
async def test_another_port_of_the_same_host_hears_no_headers(app: App) -> None:
    """Another program may listen there; cookies alone are the host's, as browsers have it."""
    async with Site() as site, Site() as other:
        heads = heard(other)
        sends(site, "/go", other.url_for("/listen"))
        crawled = await crawl(app, site, "/go", secrets=SECRETS)
    assert crawled.status == "completed"
    assert {"authorization", "x-api-key"}.isdisjoint(heads)
    assert heads["cookie"] == f"jar={SECRET}"


@awaited
async def test_the_same_origin_hears_them_along_the_way(app: App) -> None:
    async with Site() as site:
        heads = heard(site)
        sends(site, "/go", "/listen", f"chain={SECRET}; Path=/")
        await crawl(app, site, "/go", secrets=SECRETS)
    assert heads["authorization"] == f"Bearer {SECRET}"
    assert heads["x-api-key"] == SECRET
    assert {pair.partition("=")[0] for pair in heads["cookie"].split("; ")} == {"given", "jar", "chain"}


@awaited
async def test_there_and_back_again_the_credentials_do_not_travel(app: App) -> None:
    async with Site() as site:
        heads = heard(site)
        sends(site, "/go", site.url_for("/back", "127.0.0.2"))
        sends(site, "/back", site.url_for("/listen"))
        crawled = await crawl(app, site, "/go", secrets=SECRETS)
    assert crawled.status == "completed"
    # Who sent us back here chose the address: it gets what any link to it would, and nothing in the clear.
    assert "authorization" not in heads


@awaited
async def test_no_referrer_tells_where_we_came_from(app: App) -> None:
    async with Site() as site:
        heads = heard(site)
        sends(site, "/go", site.url_for("/listen", "127.0.0.2"))
        await crawl(app, site, f"/go?token={SECRET}")
    assert "referer" not in heads
    assert SECRET not in str(heads)
