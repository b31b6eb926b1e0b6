"""Answers that are late, broken, endless or unreadable: rows 6 to 8 and 12 to 14 of docs/hostile-input.md."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from tarantella.domain.event import HOST_WAITS, PAGE_CUT, RETRY_SCHEDULED
from tarantella.domain.spec import Field
from tarantella.services.app import App
from tests.fault.processes import SiteProcess
from tests.integration.bounds import growing_by_at_most, loop_busy_at_most
from tests.integration.crawling import awaited, begin, crawl, eager, gaps, hits
from tests.site import Call, Reply, Site
from tests.site.documents import CYRILLIC, JAPANESE, WESTERN
from tests.site.reply import page
from tests.site.wire import saying, silence, wire

HERE = "127.0.0.1"
MB = 1_000_000


# -- row 6: nothing keeps us waiting longer than the total time


LATE = {
    "/never": "total",
    "/drip-headers?every=0.02": "total",
    "/drip-body?every=0.02": "read",
    "/endless-1xx": "total",
    "/slow?s=60": "total",
}


@awaited
async def test_servers_that_take_their_time_are_timeouts_and_hold_up_nobody_else(app: App) -> None:
    """Each on a host of its own, and a site that works beside them."""
    async with Site() as site:
        late = {site.url_for(path, f"127.0.0.{number}"): path for number, path in enumerate(LATE, start=2)}
        good = [f"/item/{number}" for number in range(30)]
        began = time.monotonic()
        crawled = await crawl(eager(app), site, *late, *good, attempts=1, total_timeout=1.5, max_body=2**40)
        assert time.monotonic() - began < 10
    assert crawled.run.counts.done == len(good)
    first_to_end = min(hit.end or 0 for hit in hits(site) if hit.hostname != HERE)
    meanwhile = [hit for hit in hits(site) if hit.hostname == HERE and (hit.end or 0) < first_to_end]
    assert len(meanwhile) > len(good) / 2
    for url, path in late.items():
        found = crawled.pages[crawled.short(url)]
        assert (found["reason"], found["detail"].partition(":")[0]) == ("timeout", LATE[path])
        [attempt] = crawled.attempts(crawled.short(url))
        assert 1_400 <= attempt["elapsed_ms"] < 6_000


@awaited
async def test_a_server_that_accepts_and_says_nothing_at_all_is_a_timeout(app: App) -> None:
    async with Site() as site, wire(silence) as port:
        crawled = await crawl(
            app, site, f"http://{HERE}:{port}/", attempts=2, total_timeout=0.3, obey_robots=False
        )  # fmt: skip
    assert list(crawled.states.values()) == ["failed(timeout)"]
    assert len(crawled.attempts("127.0.0.1/")) == 2


# -- row 7: what is no proper answer


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/reset-in-body", "reset"),
        ("/short-body", "truncated"),
        ("/conflicting-lengths", "protocol"),
        ("/garbage", "protocol"),
        ("/many-headers?n=10000", "headers"),
        ("/long-header?kb=1024", "headers"),
    ],
)
@awaited
async def test_a_broken_answer_is_a_network_failure_that_says_which(app: App, path: str, detail: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, path, attempts=2)
    assert crawled.states == {path: "failed(network)"}
    assert [attempt["detail"].partition(":")[0] for attempt in crawled.attempts(path)] == [detail] * 2
    assert len(hits(site)) == 2


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (b"", "closed"),
        (b"\r\n", "closed"),
        (b"HTTP/1.1", "closed"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "protocol"),
        (b"HTTP/1.1 OK\r\n\r\n", "protocol"),
        (b"HTTP/1.1 99 Low\r\n\r\n", "protocol"),
        (b"HTTP/9.9 200 OK\r\n\r\n", "protocol"),
        (b"ICY 200 OK\r\n\r\nmusic", "protocol"),
        (HEAD + b"Content-Length: ten\r\n\r\n", "protocol"),
        (HEAD + b"Content-Length: 5, 6\r\n\r\nhello", "protocol"),
        (HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n", "protocol"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nnot a number\r\n", "protocol"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", "protocol"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "truncated"),
        (HEAD + b"\x00: zero\r\n\r\n", "protocol"),
    ],
    ids=lambda value: repr(value[:60]) if isinstance(value, bytes) else value,
)
@awaited
async def test_these_bytes_are_a_network_failure(app: App, answer: bytes, detail: str) -> None:
    async with Site() as site, wire(saying(answer)) as port:
        crawled = await crawl(app, site, f"http://{HERE}:{port}/", attempts=1, obey_robots=False)
    [found] = crawled.pages.values()
    assert (found["reason"], found["detail"].partition(":")[0]) == ("network", detail)


PAGE = b"<title>Fine</title>"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(PAGE)


@pytest.mark.parametrize(
    "head",
    [
        b"X-Policy: one,\r\n\ttwo,\r\n  three\r\n" + LENGTH,
        b"X-Cache : hit\r\n" + LENGTH,
        b"What is this\r\n" + LENGTH,
        b"Content-Length:\r\n %d\r\n\r\n" % len(PAGE),
    ],
    ids=["over several lines", "a blank before the colon", "no colon", "a length on the next line"],
)
@awaited
async def test_a_head_that_browsers_forgive_is_that_of_a_page(app: App, head: bytes) -> None:
    async with Site() as site, wire(saying(HEAD + head + PAGE)) as port:
        crawled = await crawl(app, site, f"http://{HERE}:{port}/", attempts=1, obey_robots=False)
    assert [record["title"] for record in crawled.records.values()] == ["Fine"]


BROKEN = {
    "shorter than it says": b"Content-Length: 5000\r\n\r\nSo",
    "no gzip": b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nSo",
    "no brotli": b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\nSo",
    "no chunks": b"Transfer-Encoding: chunked\r\n\r\nSo\r\n",
}


@pytest.mark.parametrize("body", BROKEN)
@pytest.mark.parametrize(
    ("status", "state"),
    [
        (b"404 Gone", "failed(not_found)"),
        (b"403 No", "failed(blocked)"),
        (b"500 Oh", "failed(bad_response)"),
        (b"503 Later\r\nRetry-After: 0", "failed(rate_limited)"),
    ],
)
@awaited
async def test_an_error_is_known_by_its_status_whatever_becomes_of_its_body(
    app: App, status: bytes, state: str, body: str
) -> None:
    async with Site() as site, wire(saying(b"HTTP/1.1 " + status + b"\r\n" + BROKEN[body])) as port:
        crawled = await crawl(app, site, f"http://{HERE}:{port}/", attempts=1, obey_robots=False)
    assert list(crawled.states.values()) == [state]


# -- row 8: Retry-After in every form


def http_date(seconds: float) -> str:
    """The date that many seconds from now, rounded up: dates know no fractions."""
    return formatdate(time.time() + seconds + 0.999, usegmt=True)


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
@awaited
async def test_a_pause_is_kept_by_the_whole_host_whether_seconds_or_a_date(app: App, code: int, form: str) -> None:
    async with Site() as site:

        async def limited(_call: Call) -> Reply:
            site.counts["limited"] += 1
            if site.counts["limited"] > 1:
                return page("Fine")
            return page("Not now", status=code, retry_after="1" if form == "seconds" else http_date(1))

        site.routes["/limited"] = limited
        other = [f"/item/{number}" for number in range(3)]
        crawled = await crawl(app, site, "/limited", *other, per_host=1)
    assert set(crawled.states.values()) == {"done"}
    first, second, *_ = hits(site)
    assert first.path == "/limited"
    assert second.start - (first.end or 0) >= 0.9
    assert 0.5 < crawled.event(HOST_WAITS)["seconds"] <= 2.1


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        ("-5", 0.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("soon", 0.05),
        ("12 parsecs", 0.05),
        ("1e400", 0.05),
        ("nan", 0.05),
        ("", 0.05),
        ("Sun, 99 Nov 9999 99:99:99 GMT", 0.05),
        ("9" * 5_000, 0.05),
    ],
    ids=lambda value: str(value)[:30],
)
@awaited
async def test_a_pause_in_the_past_is_none_and_junk_is_a_failure_like_others(
    app: App, value: str, delay: float
) -> None:
    async with Site() as site:

        async def limited(_call: Call) -> Reply:
            site.counts["limited"] += 1
            return page("Fine") if site.counts["limited"] > 1 else page("Not now", status=429, retry_after=value)

        site.routes["/limited"] = limited
        crawled = await crawl(app, site, "/limited")
    assert crawled.states == {"/limited": "done"}
    assert crawled.event(RETRY_SCHEDULED)["delay_seconds"] == delay
    assert gaps(hits(site))[0] < 5


@pytest.mark.parametrize("form", ["seconds", "date", "digits"])
@awaited
async def test_a_pause_of_ten_years_is_an_hour_and_other_hosts_go_on(app: App, form: str) -> None:
    decade = 10 * 365 * 86_400
    value = {"seconds": str(decade), "date": http_date(decade), "digits": "9" * 100}[form]
    async with Site() as site:

        async def limited(_call: Call) -> Reply:
            return page("Not now", status=503, retry_after=value)

        site.routes["/limited"] = limited
        other = [site.url_for(f"/item/{number}", "127.0.0.2") for number in range(5)]
        async with begin(eager(app), site, "/limited", "/ok", *other, per_host=1) as ongoing:
            crawled = await ongoing.until(lambda now: HOST_WAITS in now.messages and now.run.counts.done == 5)
    assert crawled.event(HOST_WAITS)["seconds"] == 3_600
    assert [hit.path for hit in hits(site) if hit.hostname == HERE] == ["/limited"]


# -- row 12: bodies without end


@pytest.mark.parametrize(
    ("path", "limits"),
    [
        ("/endless", {}),
        ("/huge?mb=200", {}),
        ("/endless", {"max_body": 4 * MB, "max_decoded": 4 * MB}),
        ("/tiny-chunks?n=1000000", {"max_body": 50_000, "max_decoded": 50_000}),
    ],
)
@awaited
async def test_a_body_without_end_is_too_large_at_the_limit(
    app: App, far_site: SiteProcess, path: str, limits: dict[str, int]
) -> None:
    other = [far_site.url_for(f"/item/{number}", "127.0.0.2") for number in range(20)]
    with growing_by_at_most(110):
        async with loop_busy_at_most(1.0):
            crawled = await crawl(app, far_site, path, *other, **limits)
    assert crawled.states[path] == "failed(too_large)"
    assert crawled.run.counts.done == len(other)
    assert far_site.hits()[far_site.url_for(path)] == 1


@awaited
async def test_a_size_that_is_announced_is_refused_before_a_byte_of_it_is_read(app: App) -> None:
    answer = HEAD + b"Content-Length: 200000000\r\n\r\n"
    async with Site() as site, wire(saying(answer)) as port:
        crawled = await crawl(app, site, f"http://{HERE}:{port}/", attempts=3, obey_robots=False)
    [found] = crawled.pages.values()
    assert (found["reason"], found["detail"].partition(":")[0]) == ("too_large", "body")
    assert crawled.run.requests == 1


@awaited
async def test_a_million_tiny_chunks_end_in_time_and_let_others_work(app: App, far_site: SiteProcess) -> None:
    """They are a megabyte: a page if the time is enough, and a timeout if not."""
    other = [far_site.url_for(f"/item/{number}", "127.0.0.2") for number in range(100)]
    path = "/tiny-chunks?n=1000000"
    with growing_by_at_most(60):
        async with loop_busy_at_most(1.0):
            crawled = await crawl(app, far_site, path, *other, attempts=1, total_timeout=1.5)
    assert crawled.states[path] in ("done", "failed(timeout)")
    assert crawled.run.counts.done >= len(other)


# -- row 13: what the bytes mean


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("enc=utf-8&declared=none", CYRILLIC),
        ("enc=windows-1251&declared=none", CYRILLIC),
        ("enc=shift_jis&declared=none", JAPANESE),
        ("enc=windows-1252&declared=none", WESTERN),
        ("enc=utf-8&declared=header&claim=klingon", CYRILLIC),
        ("enc=utf-8&declared=meta&claim=x-none", CYRILLIC),
        ("enc=utf-8&declared=header&claim=utf-7", CYRILLIC),
        ("enc=utf-8&declared=header&claim=", CYRILLIC),
        ("enc=utf-16&declared=header", CYRILLIC),
        ("enc=utf-16&declared=none", CYRILLIC),
        ("enc=utf-16-le&declared=header", CYRILLIC),
        ("enc=utf-16-be&declared=none", CYRILLIC),
        ("enc=utf-8&declared=header&claim=utf-16", CYRILLIC),
        ("enc=utf-8-sig&declared=header&claim=iso-8859-1", CYRILLIC),
    ],
)
@awaited
async def test_a_charset_that_is_unknown_missing_or_impossible_does_not_garble_a_page(
    app: App, query: str, text: str
) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"/charset?{query}", fields=(Field("said", "p"),))
    [record] = crawled.records.values()
    assert record["fields"]["said"] == text


@pytest.mark.parametrize(("enc", "claim"), [("windows-1251", "utf-8"), ("shift_jis", "utf-8"), ("utf-8", "shift_jis")])
@awaited
async def test_a_charset_that_is_wrong_is_believed_and_still_gives_a_page(app: App, enc: str, claim: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"/charset?enc={enc}&declared=header&claim={claim}")
    [record] = crawled.records.values()
    assert record["title"] == "Charset"


BINARY = {
    "zeroes": b"\0" * 5_000,
    "every byte": bytes(range(256)) * 20,
    "a picture": b"\x89PNG\r\n\x1a\n" + b"\0\1\2" * 500,
    "an archive": b"PK\x03\x04" + b"\0\1\2" * 500,
    "a compressed page": b"\x1f\x8b\x08\x00" + b"\3\4\5" * 500,
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("claim", ["text/html", "text/html; charset=utf-8", ""])
@awaited
async def test_what_is_binary_is_skipped_whatever_it_is_called(app: App, name: str, claim: str) -> None:
    async with Site() as site:

        async def binary(_call: Call) -> Reply:
            return Reply(200, BINARY[name], claim)

        site.routes["/binary"] = binary
        crawled = await crawl(app, site, "/binary")
    assert crawled.states == {"/binary": "skipped(content_type)"}
    assert crawled.status == "completed"


# -- row 14: markup that is hard to read


@pytest.mark.parametrize(
    ("shape", "count", "links"),
    [
        ("nested", 100_000, 1),
        ("nested-closed", 100_000, 1),
        ("links", 500_000, 500_000),
        ("open-links", 500_000, 500_000),
        ("unclosed-tag", 500_000, 1),
        ("unclosed-comment", 2_000_000, 1),
        ("unclosed-title", 1_000_000, 0),
        ("unclosed-script", 300_000, 1),
        ("tables", 30_000, 0),
        ("formatting", 100_000, 0),
        ("attributes", 200_000, 0),
        ("entities", 500_000, 0),
    ],
)
@awaited
async def test_hard_markup_is_read_within_bounds(
    app: App, far_site: SiteProcess, shape: str, count: int, links: int
) -> None:
    path = f"/markup?n={count}&shape={shape}"
    other = [far_site.url_for(f"/item/{number}", "127.0.0.2") for number in range(10)]
    with growing_by_at_most(450):
        async with loop_busy_at_most(6.0):
            crawled = await crawl(app, far_site, path, *other, depth=1, text="fast", total_timeout=30.0)
    assert crawled.status == "completed"
    assert crawled.records[path]["links"] == links
    assert PAGE_CUT not in crawled.messages


@pytest.mark.parametrize(("shape", "count"), [("tags", 16_000_000), ("brackets", 45_000_000)])
@awaited
async def test_markup_without_measure_is_read_in_part_and_that_is_said(
    app: App, far_site: SiteProcess, shape: str, count: int
) -> None:
    """Small on the wire, fifty megabytes unpacked; read as a whole it would take gigabytes."""
    path = f"/markup?gzip=1&n={count}&shape={shape}"
    other = [far_site.url_for(f"/item/{number}", "127.0.0.2") for number in range(10)]
    with growing_by_at_most(500):
        async with loop_busy_at_most(6.0):
            crawled = await crawl(app, far_site, path, *other, text="fast", total_timeout=60.0)
    assert crawled.status == "completed"
    assert crawled.event(PAGE_CUT)["bytes"] > 40 * MB


@awaited
async def test_half_a_million_links_are_not_half_a_million_rows(app: App, far_site: SiteProcess) -> None:
    other = [far_site.url_for(f"/item/{number}", "127.0.0.2") for number in range(10)]
    with growing_by_at_most(500):
        async with loop_busy_at_most(6.0):
            crawled = await crawl(
                app, far_site, "/markup?n=500000&shape=open-links", *other, depth=2, max_pages=15, total_timeout=30.0
            )  # fmt: skip
    assert crawled.run.refused["too_many"]["count"] == 450_000
    assert crawled.run.counts.done == 11
    assert crawled.run.counts.total <= 50_011


@awaited
async def test_pages_are_read_one_after_the_other_so_that_several_cost_no_more_than_one(
    app: App, far_site: SiteProcess
) -> None:
    paths = [f"/markup?gzip=1&n=16000000&shape=tags&x={number}" for number in range(3)]
    hosts = [far_site.url_for(path, f"127.0.0.{number}") for number, path in enumerate(paths, start=2)]
    with growing_by_at_most(600):
        crawled = await crawl(app, far_site, *hosts, text="none", total_timeout=60.0)
    assert crawled.run.counts.done == 3
