"""`from tarantella import scrape`: records as an iterator, wherever Python runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tarantella import ScrapeFailed, scrape, scrape_async
from tarantella.bootstrap import open_app
from tarantella.domain.errors import InvalidInput
from tarantella.domain.run import RunStatus
from tarantella.services import runs
from tarantella.services.python import make_scrape
from tests.site.server import Site

LOCAL: dict[str, Any] = {"allow_networks": ("127.0.0.0/8",)}


def in_a_thread(site: Site, work: Any) -> Any:
    """Run ordinary blocking code while the site is served by this thread's event loop."""

    async def serve() -> Any:
        async with site:
            return await asyncio.to_thread(work)

    return asyncio.run(serve())


def test_scrape_yields_a_record_for_each_page(tmp_path: Path) -> None:
    site = Site()
    found = in_a_thread(
        site, lambda: list(scrape(f"{site.url}/list?n=5", depth=2, data_dir=tmp_path / "data", **LOCAL))
    )
    assert len(found) == 6
    assert {record["depth"] for record in found} == {1, 2}


def test_scrape_works_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    site = Site()
    options = {"data_dir": tmp_path / "data", "database_url": postgres_url, **LOCAL}
    found = in_a_thread(site, lambda: list(scrape(f"{site.url}/list?n=5", depth=2, **options)))
    assert len(found) == 6
    assert not (tmp_path / "data" / "tarantella.db").exists()


def test_fields_are_given_by_name(tmp_path: Path) -> None:
    site = Site()
    [record] = in_a_thread(
        site,
        lambda: list(scrape(f"{site.url}/fields", data_dir=tmp_path / "data", fields={"heading": "h1"}, **LOCAL)),
    )
    assert record["fields"]["heading"]


def test_headers_and_cookies_are_sent(tmp_path: Path) -> None:
    site = Site()
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tbaked\n")
    options = {"headers": {"Authorization": "Bearer hidden"}, "cookies_file": cookies, **LOCAL}
    [record] = in_a_thread(site, lambda: list(scrape(f"{site.url}/echo", data_dir=tmp_path / "data", **options)))
    sent = record["data"]["headers"]
    assert (sent["authorization"], sent["cookie"]) == ("Bearer hidden", "session=baked")


def test_who_gets_nothing_is_told_why_in_words(tmp_path: Path) -> None:
    site = Site(robots="User-agent: *\nDisallow: /")
    with pytest.raises(ScrapeFailed, match=r"robots\.txt") as nothing:
        in_a_thread(site, lambda: list(scrape(f"{site.url}/ok", data_dir=tmp_path / "data", **LOCAL)))
    assert "None" not in str(nothing.value) and ".." not in str(nothing.value)


def test_answers_can_be_kept_for_the_next_time(tmp_path: Path) -> None:
    site = Site()

    def twice() -> list[dict[str, Any]]:
        return [*(next(scrape(f"{site.url}/ok", data_dir=tmp_path / "data", cache=True, **LOCAL)) for _ in range(2))]

    assert [record["from_cache"] for record in in_a_thread(site, twice)] == [False, True]
    assert list((tmp_path / "data" / "cache").glob("*/*.page"))


def test_a_sitemap_can_be_all_that_is_given(tmp_path: Path) -> None:
    site = Site()
    found = in_a_thread(
        site, lambda: list(scrape(sitemap=f"{site.url}/sitemap/list?n=3", data_dir=tmp_path / "data", **LOCAL))
    )
    assert {record["url"] for record in found} == {f"{site.url}/item/{number}" for number in range(3)}


def test_sitemaps_and_trap_limits_are_given_beside_the_addresses(tmp_path: Path) -> None:
    site = Site()
    options: dict[str, Any] = {"sitemap": ["auto"], "depth": None, "traps": {"dates": 5, "queries": None}}
    found = in_a_thread(
        site, lambda: list(scrape(f"{site.url}/days/2026/11/16", data_dir=tmp_path / "data", **options, **LOCAL))
    )
    assert len([record for record in found if "/days/" in record["url"]]) == 6


def test_a_limit_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="trap limit"):
        list(scrape("http://127.0.0.1:9/", data_dir=tmp_path / "data", traps={"moons": 5}))
    with pytest.raises(InvalidInput, match="dates is a number of 20 digits or more"):
        list(scrape("http://127.0.0.1:9/", data_dir=tmp_path / "data", traps={"dates": 10**6_000}))


def test_scrape_works_inside_a_running_event_loop_as_in_a_notebook(tmp_path: Path) -> None:
    async def cell() -> list[dict[str, Any]]:
        async with Site() as site:
            # A notebook calls the ordinary function while its own loop is running; here the site needs that loop too.
            return await asyncio.to_thread(lambda: list(scrape(f"{site.url}/ok", data_dir=tmp_path / "data", **LOCAL)))

    assert len(asyncio.run(cell())) == 1


def test_scrape_async_yields_while_the_run_goes_on(tmp_path: Path) -> None:
    async def collect() -> tuple[list[dict[str, Any]], int]:
        async with Site() as site:
            urls = [f"{site.url}/ok", site.url_for("/slow?s=1", host="127.0.0.2")]
            found = []
            ended_at_first = -1
            async for record in scrape_async(urls, data_dir=tmp_path / "data", **LOCAL):
                if ended_at_first < 0:
                    ended_at_first = sum(hit.end is not None for hit in site.hits if hit.path.startswith("/slow"))
                found.append(record)
            return found, ended_at_first

    found, slow_pages_done_at_first_record = asyncio.run(collect())
    assert len(found) == 2
    assert slow_pages_done_at_first_record == 0


def test_leaving_the_loop_early_pauses_the_run(tmp_path: Path) -> None:
    site = Site()

    def take_one() -> None:
        for _record in scrape(f"{site.url}/list?n=200", depth=2, delay=0.1, data_dir=tmp_path / "data", **LOCAL):
            break

    in_a_thread(site, take_one)
    app = open_app(data_dir=tmp_path / "data")
    try:
        [run] = asyncio.run(runs.listed(app))
    finally:
        app.close()
    assert run.status is RunStatus.PAUSED
    assert run.reason == "interrupted"


def test_nothing_scraped_raises_with_the_reason(tmp_path: Path) -> None:
    site = Site()
    with pytest.raises(ScrapeFailed, match="does not exist"):
        in_a_thread(site, lambda: list(scrape(f"{site.url}/404", data_dir=tmp_path / "data", **LOCAL)))


def test_bad_input_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="max_pages"):
        list(scrape("https://example.com/", max_pages=0, data_dir=tmp_path / "data"))
    with pytest.raises(InvalidInput, match="http or https"):
        list(scrape("ftp://example.com/", data_dir=tmp_path / "data"))


def test_a_text_where_several_may_stand_is_a_single_one(tmp_path: Path) -> None:
    site = Site()
    options: dict[str, Any] = {"depth": 2, "fields": "title", "exclude": "*/item/0", "allow_networks": "127.0.0.0/8"}
    found = in_a_thread(site, lambda: list(scrape(f"{site.url}/list?n=3", data_dir=tmp_path / "data", **options)))
    assert all(list(record["fields"]) == ["title"] for record in found)
    assert {record["url"] for record in found} == {f"{site.url}{path}" for path in ("/list?n=3", "/item/1", "/item/2")}


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"urls": None}, "urls is None"),
        ({"urls": 5}, "urls is 5"),
        ({"urls": ["http://127.0.0.1:9/", None]}, "urls is None"),
        ({"urls": b"http://127.0.0.1:9/"}, "urls is b'http"),
        ({"sitemap": [5]}, "sitemap is 5"),
        ({"fields": {"a": 5}}, "fields.a is not a field"),
        ({"fields_file": 5}, "fields_file is 5"),
        ({"data_dir": "a\0b"}, "data_dir is 'a"),
        ({"data_dir": ""}, "data_dir is ''"),
        ({"database_url": ""}, "database_url is given, and is empty"),
        ({"traps": None}, "traps is None"),
        ({"include": [5]}, "include is 5"),
        ({"allow_networks": None}, "allow_networks is None"),
        ({"scope": "moon"}, "scope is 'moon'"),
        ({"priority": "utmost"}, "priority is 'utmost'"),
        ({"backoff": "long"}, "backoff is 'long'"),
        ({"max_pages": None}, "max_pages is None"),
        ({"depth": 1.5}, "depth is 1.5"),
        ({"obey_robots": "no"}, "obey_robots is 'no'"),
        ({"user_agent": 5}, "user_agent is 5"),
        ({"headers": ["Authorization: hidden"]}, "headers are not texts by name."),
        ({"headers": {"Authorization": b"hidden"}}, "headers are not texts by name."),
        ({"headers": {"Not a name": "hidden"}}, "'Not a name' is not a header."),
        ({"headers": {"Content-Length": "5"}}, "The header 'Content-Length' is not for you to set"),
        ({"proxy": "gopher://me:hidden@proxy"}, "The proxy is not an address"),
        ({"proxy": 5}, "proxy is"),
        ({"cookies_file": 5}, "cookies_file is 5"),
        ({"fill": {"PASSWORD": 5}}, "fill are not texts by name."),
        ({"secrets": {"headers": {"Authorization": "hidden"}}}, "scrape() has no option 'secrets'"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused_by_its_name(said: dict[str, Any], named: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        list(scrape(**{"urls": "http://127.0.0.1:9/", "data_dir": tmp_path / "data", **said}))
    assert refused.value.message.startswith(named)
    assert "hidden" not in str(refused.value)


def test_priority_and_backoff_are_said_as_at_the_command_line(tmp_path: Path) -> None:
    site = Site()
    options: dict[str, Any] = {"priority": "high", "backoff": 2, "data_dir": tmp_path / "data", **LOCAL}
    assert len(in_a_thread(site, lambda: list(scrape(f"{site.url}/ok", **options)))) == 1


def test_a_reader_who_is_slower_than_the_site_gets_every_record() -> None:
    async def many(_: object) -> AsyncIterator[dict[str, Any]]:
        for number in range(1_250):
            yield {"n": number}

    found = []
    for record in make_scrape(many)("https://a.example/"):  # type: ignore[arg-type]
        found.append(record["n"])
        if len(found) == 250:
            time.sleep(0.3)  # everything else has been found by now, and there is no room for the end of it
    assert found == list(range(1_250))


def test_an_error_before_the_first_page_is_raised_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(work: Any) -> None:
        work.close()
        raise OSError("too many open files")

    monkeypatch.setattr(asyncio, "run", run)
    with pytest.raises(OSError, match="too many"):
        list(scrape("https://a.example/"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dept": 2}, "'depth'"),
        ({"allow_network": "127.0.0.1"}, "'allow_networks'"),
        ({"nonsense": 1}, "It has .*cache, .*fields, .*headers, .*sitemap, .*strategy, .*traps, .*urls"),
        ({"chache": True}, "Did you mean 'cache'"),
        ({"strategie": "http"}, "Did you mean 'strategy'"),
        ({"cookie_file": "cookies.txt"}, "Did you mean 'cookies_file'"),
        ({"cache_ttl": 5}, "cache_ttl is for a cache. Add cache=True"),
        ({"cache_ttl": 5, "cache_dir": None}, "cache_ttl is for a cache. Add cache=True"),
        ({"depth": "x"}, "depth is 'x'"),
    ],
)
def test_options_that_can_not_be_meant_are_refused_in_words(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        list(scrape("https://a.example/", data_dir=tmp_path / "data", **options))
