"""What is in a page ends up in its record, and what is no page ends up nowhere."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from tarantella.domain.spec import Field
from tarantella.services.app import App
from tests.integration.crawling import asked, awaited, crawl
from tests.site import Site
from tests.site.documents import CYRILLIC, JAPANESE, WESTERN

MB = 1_000_000


@awaited
async def test_fields_that_were_asked_for_are_in_the_record(app: App) -> None:
    fields = (
        "title=h1",
        "price=.price",
        "amount=span.price@data-amount",
        "tags=.tag",
        "author=a[rel=author]@href",
        "no=.no",
    )
    async with Site() as site:
        crawled = await crawl(app, site, "/fields", "/json", fields=tuple(map(Field.parse, fields)))
    assert crawled.records["/fields"]["fields"] == {
        "title": "A loom for beginners",
        "price": ["€ 49.90", "€ 65.00"],
        "amount": "49.90",
        "tags": ["wood", "hand-made", "small & light"],
        "author": site.url_for("/item/author"),
        "no": None,
    }
    assert crawled.records["/fields"]["description"] == "A small loom of beech wood."
    assert set(crawled.records["/json"]["fields"].values()) == {None}


@awaited
async def test_json_and_pdf_are_recorded_and_other_bytes_are_skipped(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/json", "/pdf", "/binary", "/binary?as=image/png", "/binary?as=text/html")
    assert crawled.status == "completed"
    assert crawled.states == {
        "/json": "done",
        "/pdf": "done",
        "/binary": "skipped(content_type)",
        "/binary?as=image/png": "skipped(content_type)",
        "/binary?as=text/html": "skipped(content_type)",
    }
    assert crawled.records["/json"]["data"]["items"][0] == {"id": 1, "name": "item 1", "price": 1.5}
    assert crawled.records["/pdf"]["content_type"] == "application/pdf"
    assert crawled.pages["/binary?as=image/png"]["detail"] == "image/png is not a document"
    assert crawled.run.records == 2


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("enc=windows-1251&declared=header", CYRILLIC),
        ("enc=windows-1251&declared=meta", CYRILLIC),
        ("enc=windows-1251&declared=none", CYRILLIC),
        ("enc=shift_jis&declared=meta", JAPANESE),
        ("enc=euc_jp&declared=header", JAPANESE),
        ("enc=utf-16&declared=none", CYRILLIC),
        ("enc=iso8859-1&declared=header", WESTERN),
        ("enc=utf-8&declared=header&claim=klingon", CYRILLIC),
    ],
)
@awaited
async def test_a_page_is_decoded_whatever_it_is_written_in(app: App, query: str, text: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"/charset?{query}", fields=(Field("said", "p"),))
    [record] = crawled.records.values()
    assert record["fields"]["said"] == text


@awaited
async def test_the_text_of_a_page_is_recorded_unless_it_is_not_wanted(app: App) -> None:
    async with Site() as site:
        wanted = await crawl(app, site, "/ok", text="fast")
        unwanted = await crawl(app, site, "/ok", text="none")
    assert "All is well." in wanted.records["/ok"]["text"]
    assert wanted.records["/ok"]["word_count"] > 0
    assert "text" not in unwanted.records["/ok"]


@awaited
async def test_bodies_are_kept_when_that_was_asked_for(app: App) -> None:
    async with Site() as site:
        kept = await crawl(app, site, "/ok", "/404", keep_bodies=True)
        dropped = await crawl(app, site, "/ok")
    [body] = kept.read(lambda tx: tx.all("SELECT page_id, content_type, body FROM bodies"))
    assert (body.page_id, body.content_type) == (kept.pages["/ok"]["id"], "text/html")
    assert b"<p>All is well.</p>" in zlib.decompress(body.body)
    assert dropped.run.records == 1


@pytest.mark.parametrize(
    ("path", "limits"),
    [
        ("/huge?mb=30", {"max_body": 2 * MB, "max_decoded": 2 * MB}),
        ("/endless", {"max_body": 2 * MB, "max_decoded": 2 * MB}),
        ("/gzip-bomb?mb=60", {"max_decoded": 2 * MB}),
        ("/tiny-chunks?n=300000", {"max_body": 100_000, "max_decoded": 100_000}),
    ],
)
@awaited
async def test_a_body_without_end_is_too_large_and_does_not_fill_the_memory(
    app: App, path: str, limits: dict[str, int]
) -> None:
    async with Site() as site:
        tracemalloc.start()
        crawled = await crawl(app, site, path, attempts=3, **limits)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert crawled.states == {path: "failed(too_large)"}
    assert asked(site) == [path]
    assert peak < 30 * MB


# -- which links belong to a run


@awaited
async def test_links_out_of_scope_are_counted_with_samples_and_not_fetched(app: App) -> None:
    async with Site() as site:
        away = site.url_for("/item/1", "127.0.0.2")
        hrefs = f"{away}|https://example.com/?token=s3cret|mailto:me@example.com|javascript:x()|/ok"
        crawled = await crawl(app, site, f"/links?hrefs={hrefs.replace('?', '%3F')}", depth=2)
    assert asked(site)[1:] == ["/ok"]
    assert crawled.run.refused["scope"] == {"count": 2, "samples": [away, "https://example.com/?token=***"]}
    assert crawled.run.refused["scheme"]["count"] == 2
    assert crawled.run.counts.total == 2


@awaited
async def test_include_and_exclude_choose_among_the_links(app: App) -> None:
    async with Site() as site:
        hrefs = "/item/1|/item/2|/item/22|/ok"
        crawled = await crawl(
            app, site, f"/links?hrefs={hrefs}", depth=2, include=("*/item/*",), exclude=("*/item/22",)
        )
    assert set(asked(site)[1:]) == {"/item/1", "/item/2"}
    assert crawled.run.refused["scope"]["count"] == 2


@awaited
async def test_a_scope_can_be_a_folder_or_everything(app: App) -> None:
    async with Site() as site:
        away = site.url_for("/item/3", "127.0.0.2")
        hrefs = f"/item/1|/ok|{away}"
        narrow = await crawl(
            app, site, f"/links?hrefs={hrefs}", "/item/0", depth=2, scope="path", include=("*/item/*",)
        )
        wide = await crawl(app, site, f"/links?hrefs={hrefs}", depth=2, scope="any")
    assert set(narrow.states) == {f"/links?hrefs={hrefs}", "/item/0", "/item/1"}
    assert set(wide.states) == {f"/links?hrefs={hrefs}", "/item/1", "/ok", "127.0.0.2/item/3"}


@awaited
async def test_five_thousand_links_are_crawled_within_bounded_memory(app: App) -> None:
    async with Site() as site:
        tracemalloc.start()
        crawled = await crawl(app, site, "/many-links?n=5000", depth=2, max_pages=300, per_host=32, concurrency=32)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert crawled.run.counts.total == 5_001
    assert (crawled.run.counts.done, crawled.run.counts.skipped) == (300, 4_701)
    assert peak < 40 * MB


@awaited
async def test_fifty_thousand_links_on_one_page_are_stored_in_slices_until_the_run_is_full(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/many-links?n=50000", depth=2, max_pages=20)
    counts, refused = crawled.run.counts, crawled.run.refused["max_pages"]["count"]
    assert counts.done == 20
    assert counts.total + refused == 50_001
    assert counts.total < 10_000


@awaited
async def test_a_hundred_thousand_nested_tags_are_read(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/deep?n=100000", depth=2)
    assert asked(site) == ["/deep?n=100000", "/item/deep"]
    assert crawled.status == "completed"


@awaited
async def test_links_beyond_what_one_page_may_bring_are_counted_not_dropped_in_silence(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/many-links?n=50500", depth=2, max_pages=5)
    assert crawled.run.refused["too_many"]["count"] == 500
    assert crawled.run.counts.total - crawled.run.surplus == 5
