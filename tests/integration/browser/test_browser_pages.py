"""Pages as a real Chromium shows them, through the whole engine."""

from __future__ import annotations

import pytest

from tarantella.services.app import App
from tests.integration.crawling import awaited, crawl, hits
from tests.site import Site

pytestmark = pytest.mark.usefixtures("browser")


@awaited
async def test_a_page_is_read_as_its_scripts_have_left_it_and_its_links_are_followed(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/spa", strategy="browser", depth=2)
        assert found.states == {"/spa": "done", "/item/1": "done"}
        assert found.records["/spa"]["links"] == 1
        assert [attempt["strategy"] for attempt in found.attempts("/spa")] == ["browser"]


@awaited
async def test_a_redirect_to_another_host_moves_the_page_there(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, f"/redirect?to=http://127.0.0.2:{site.port}/spa", strategy="browser")
        [record] = found.records.values()
        assert (record["final_url"], record["title"]) == (f"http://127.0.0.2:{site.port}/spa", "App")
        assert len(hits(site, "/spa")) == 1


@awaited
async def test_a_private_address_is_denied_with_the_option_that_would_allow_it(app: App) -> None:
    async with Site() as site:
        found = await crawl(app, site, "/ok", strategy="browser", allow_networks=())
        assert found.states == {"/ok": "failed(denied)"}
        assert "--allow-network 127.0.0.1/32" in found.pages["/ok"]["detail"]
        assert site.hits == []
