"""The demo site keeps its promises: what a crawl finds there is what EXPECTED says."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from tarantella.demo import EXPECTED, EXPECTED_WITH_BROWSER, PAGES, DemoSite, Ending, content
from tests.site.client import Answer, exchange, get, parse

ROOT = Path(__file__).parents[2]


async def crawl(site: DemoSite) -> dict[str, Answer]:
    """Follow every link from the home page, calling again where the site first refuses."""
    answers: dict[str, Answer] = {}
    waiting = deque(["/"])
    while waiting:
        path = waiting.popleft()
        if path in answers or path.startswith("/private/"):
            continue
        answer = await get(urljoin(site.url, path))
        for _ in range(3):
            if answer.status not in {429, 503}:
                break
            answer = await get(urljoin(site.url, path))
        answers[path] = answer
        if answer.headers["content-type"].startswith("text/html"):
            waiting += re.findall(r'<a [^>]*?href="(/[^"#]*)', answer.text)
    return answers


def test_a_crawl_finds_exactly_the_pages_that_are_expected() -> None:
    async def story() -> None:
        async with DemoSite(siesta_seconds=0) as site:
            answers = await crawl(site)
        private = {page.path for page in PAGES if page.reason == "robots"}
        assert set(answers) | private == {page.path for page in PAGES}
        statuses = {path: answer.status for path, answer in answers.items()}
        for page in PAGES:
            if page.ending is Ending.FAILED:
                assert statuses[page.path] == 404
            elif page.path == content.BACK_DOOR:
                assert statuses[page.path] == 403
            elif page.path in content.REDIRECTS:
                assert statuses[page.path] == 301
            elif page.path not in private:
                assert statuses[page.path] == 200, page

    asyncio.run(story())


def test_the_expected_counts_add_up() -> None:
    assert EXPECTED.total == len(PAGES) == len({page.path for page in PAGES})
    assert sum(EXPECTED.reasons.values()) == EXPECTED.failed + EXPECTED.skipped
    assert EXPECTED_WITH_BROWSER.total == EXPECTED.total
    assert EXPECTED_WITH_BROWSER.done == EXPECTED.done + 2
    assert EXPECTED.done > len(content.ARTICLES) == 60


def test_articles_differ_in_all_that_a_reader_sees() -> None:
    articles = content.ARTICLES
    for facet in ("slug", "title", "published", "paragraphs", "summary"):
        assert len({getattr(article, facet) for article in articles}) == len(articles), facet
    assert {len(article.paragraphs) for article in articles} == {3, 4, 5, 6}
    assert len({article.section.desk for article in articles}) == 6
    assert not any("{" in text for article in articles for text in article.paragraphs)


def test_an_article_has_the_parts_that_fields_are_made_of() -> None:
    async def story() -> None:
        article = content.ARTICLES[7]
        async with DemoSite() as site:
            text = (await get(urljoin(site.url, article.path))).text
        assert '<html lang="en">' in text
        assert '<meta name="description" content="' in text
        assert f"<h1>{article.title}</h1>" in text
        assert f'<time datetime="{article.published.isoformat()}">' in text
        assert f'class="price" value="{article.price}"' in text
        assert f'<a rel="author" href="/desks/{article.section.key}">{article.section.desk}</a>' in text
        assert "<article>" in text
        assert 'class="byline"' in text

    asyncio.run(story())


def test_each_site_counts_its_own_refusals() -> None:
    async def story() -> None:
        for _ in range(2):
            async with DemoSite() as site:
                bridge = [await get(urljoin(site.url, content.SWING_BRIDGE)) for _ in range(4)]
                window = [await get(urljoin(site.url, content.TICKET_WINDOW)) for _ in range(3)]
            assert [answer.status for answer in bridge] == [503, 503, 200, 200]
            assert [answer.status for answer in window] == [429, 200, 200]
            assert all("retry-after" not in answer.headers for answer in bridge)
            assert window[0].headers["retry-after"] == "1"

    asyncio.run(story())


def test_redirects_lead_to_articles_one_of_them_in_no_list() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            for path, goal in content.REDIRECTS.items():
                answer = await get(urljoin(site.url, path))
                assert (answer.status, answer.headers["location"]) == (301, goal)
                assert (await get(urljoin(site.url, goal))).status == 200
        listed = {article.path for article in content.ARTICLES}
        assert content.REDIRECTS[content.TODAYS_STORY] in listed
        assert content.REDIRECTS[content.OLD_ADDRESS] not in listed

    asyncio.run(story())


def test_the_siesta_takes_its_time_and_holds_up_nobody_else() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            began = time.monotonic()
            siesta = asyncio.create_task(get(urljoin(site.url, content.SIESTA)))
            await get(site.url)
            assert not siesta.done()
            assert (await siesta).status == 200
            assert time.monotonic() - began >= 1.4

    asyncio.run(story())


def test_robots_and_the_tide_table_say_what_they_are() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            robots = await get(urljoin(site.url, "/robots.txt"))
            tides = await get(urljoin(site.url, content.TIDES))
        assert robots.headers["content-type"].startswith("text/plain")
        assert "Disallow: /private/" in robots.text
        assert tides.headers["content-type"] == "application/json"
        assert len(tides.json()["tides"]) == 4

    asyncio.run(story())


def test_archive_pages_outside_the_archive_are_not_found() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            for page in ("0", str(content.ARCHIVE_PAGES + 1), "x", "-1", "", "1e3", "9" * 400):
                answer = await get(urljoin(site.url, f"/archive?page={page}&a=b"))
                assert answer.status == (200 if page == "" else 404), page

    asyncio.run(story())


def test_a_connection_serves_request_after_request() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            first = b"GET /about HTTP/1.1\r\nHost: x\r\n\r\nHEAD /about HTTP/1.1\r\nHost: x\r\n\r\n"
            raw = await exchange(site.url, first + b"GET /about HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        parts = raw.split(b"HTTP/1.1 200 OK\r\n")[1:]
        assert [b"<h1>" in part for part in parts] == [True, False, True]
        lengths = re.findall(rb"Content-Length: (\d+)", raw)
        assert len(set(lengths)) == 1

    asyncio.run(story())


def test_bad_requests_are_told_so_and_others_are_still_served() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            for request in (
                b"hello\r\n\r\n",
                b"GET about HTTP/1.1\r\nHost: x\r\n\r\n",
                b"GET / HTTP/3.0\r\nHost: x\r\n\r\n",
                b"GET / HTTP/1.1\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                b"GET /" + b"a" * 5_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            ):
                assert parse(await exchange(site.url, request)).status == 400, request[:40]
            assert (await get(site.url, method="DELETE")).status == 405
            assert (await get(site.url)).status == 200

    asyncio.run(story())


def test_two_hundred_callers_at_once_are_all_served() -> None:
    async def story() -> None:
        async with DemoSite() as site:
            answers = await asyncio.gather(*(get(site.url) for _ in range(200)))
            assert {answer.status for answer in answers} == {200}
            assert site.hits["/"] == 200

    asyncio.run(story())


def test_stopping_cuts_off_whoever_is_waiting() -> None:
    async def story() -> None:
        site = DemoSite(siesta_seconds=60)
        await site.start()
        parts = urlsplit(site.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        paths = ("/robots.txt", content.SIESTA)
        writer.write("".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths).encode())
        async with asyncio.timeout(5):
            # The first answer tells that the second request is being worked on.
            await reader.readuntil(content.ROBOTS_TXT.encode())
            await site.stop()
            assert await reader.read() == b""
        writer.transport.abort()

    asyncio.run(story())


def test_the_module_prints_its_address_and_ends_at_ctrl_c() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tarantella.demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert asyncio.run(get(url)).status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.communicate()
