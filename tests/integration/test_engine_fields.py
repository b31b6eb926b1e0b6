"""From pages to typed records: lists, names, articles, coverage, and looking again at kept bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tarantella.domain.errors import Gone, InvalidInput, StoreBusy
from tarantella.domain.field import FieldSet, field_set_of
from tarantella.domain.spec import Secrets
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.preview import PreviewFailed, preview
from tarantella.services.reextract import reextract
from tarantella.services.runs import record_stream
from tarantella.store.tx import Tx
from tests.integration.crawling import LOOPBACK, awaited, crawl
from tests.site import Site
from tests.site.shop import GOODS

LIST = field_set_of(
    {
        "item": "li.goods",
        "pagination": "a.next",
        "fields": {
            "name": "h2",
            "price": {"css": ".price", "type": "price", "required": True},
            "to": {"css": "a", "attr": "href", "type": "url"},
        },
    }
)
PLAIN = field_set_of(["title", "price", "sku", "colour"])


def spec_values(wanted: FieldSet) -> dict[str, Any]:
    return {"fields": wanted.fields, "item": wanted.item, "pagination": wanted.pagination}


@awaited
async def test_large_records_are_read_a_few_at_a_time_and_none_is_left_out(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = app.database.read_now

    def read_now(work: Callable[[Tx], Any]) -> Any:
        read.append(len(found := real(work)))
        return found

    async with Site() as site:
        crawled = await crawl(app, site, "/list?n=60", depth=2)
    monkeypatch.setattr(app.database, "read_now", read_now)
    assert len(list(record_stream(app, crawled.id))) == 61
    assert read == [50, 11, 0]
    monkeypatch.setattr(runs, "SLICE_BYTES", 3 * len(next(record_stream(app, crawled.id)).text))
    read.clear()
    assert len({record["url"] for record in record_stream(app, crawled.id)}) == 61
    assert read[0] == 50
    assert max(read[1:]) < 10


@awaited
async def test_a_list_becomes_a_record_for_each_item_over_all_its_pages(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/list", depth=1, **spec_values(LIST))
    assert crawled.states == {"/shop/list": "done", "/shop/list?page=2": "done", "/shop/list?page=3": "done"}
    assert {page["depth"] for page in crawled.pages.values()} == {1}
    found = list(record_stream(app, crawled.id))
    assert sorted(record["fields"]["name"] for record in found) == [f"Loom {n}" for n in range(1, GOODS + 1)]
    by_name = {record["fields"]["name"]: record for record in found}
    assert by_name["Loom 2"]["fields"] == {"name": "Loom 2", "price": 2299.5, "to": site.url_for("/shop/goods/2")}
    assert by_name["Loom 2"]["item"] == 2
    assert by_name["Loom 4"]["problems"]["price"]["raw"] == "on request"
    run = await runs.get(app, crawled.id)
    assert run.records == GOODS
    price = {each.name: each for each in run.coverage}["price"]
    assert (price.found, price.missing, price.unfit) == (GOODS - 1, 0, 1)
    said = {event["message"]: event for event in await runs.event_list(app, crawled.id)}
    assert said["Required fields missing"]["meta"] == {"records_without": {"price": 1}}


@awaited
async def test_names_are_found_by_themselves_and_explain_tells_where(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/goods/3", **spec_values(PLAIN))
        told = await runs.explain(app, crawled.id, site.url_for("/shop/goods/3"))
    assert crawled.records["/shop/goods/3"]["fields"] == {"title": "Loom 3", "price": 3.5, "sku": "L-3", "colour": None}
    sources = {each["name"]: each["source"] for each in told["fields"]}
    assert sources == {
        "title": "json-ld Product.name",
        "price": "json-ld Product.offers.price",
        "sku": "json-ld Product.sku",
        "colour": None,
    }
    run = await runs.get(app, crawled.id)
    assert {each.name: each.share for each in run.coverage} == {"title": 1, "price": 1, "sku": 1, "colour": 0}


@awaited
async def test_the_text_of_an_article_comes_with_its_author_and_date(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/story", text="article")
    record = crawled.records["/shop/story"]
    assert record["text"].startswith("1. The loom stood") and "©" not in record["text"]
    assert (record["author"], record["published"]) == ("Ann Weaver", "2024-03-05")
    assert record["markdown"].count("The loom stood") == 16
    assert record["word_count"] > 300


@awaited
async def test_kept_bodies_are_looked_at_again_without_a_request(app: App) -> None:
    paths = [f"/shop/goods/{n}" for n in range(1, 6)]
    async with Site() as site:
        crawled = await crawl(app, site, *paths, keep_bodies=True)
        hits = len(site.hits)
        new = await reextract(app, crawled.id, PLAIN)
        assert len(site.hits) == hits
    found = {record["fields"]["sku"]: record for record in record_stream(app, new.id)}
    assert sorted(found) == [f"L-{n}" for n in range(1, 6)]
    before = crawled.records["/shop/goods/2"]
    kept = ("url", "final_url", "status", "depth", "fetched_at", "bytes", "content_type", "title")
    assert {name: found["L-2"][name] for name in kept} == {name: before[name] for name in kept}
    assert (new.status, new.counts.done, new.records) == ("completed", 5, 5)
    assert "fields" not in before and "fields" not in crawled.records["/shop/goods/2"]
    listed = await runs.event_list(app, new.id)
    assert [event["message"] for event in listed] == ["Run created", "Run completed"]
    assert listed[0]["meta"]["reextracted_from"] == crawled.id


@awaited
async def test_a_run_that_was_looked_at_again_can_be_looked_at_once_more(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/goods/1", keep_bodies=True)
    latest = crawled.id
    for _ in range(3):
        latest = (await reextract(app, latest, PLAIN)).id
    assert [record["fields"]["sku"] for record in record_stream(app, latest)] == ["L-1"]
    [created, *_] = await runs.event_list(app, latest)
    assert created["meta"]["reextracted_from"] == crawled.id


@awaited
async def test_a_list_can_be_looked_at_again_too(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/list", keep_bodies=True)
        new = await reextract(app, crawled.id, LIST)
    assert [record["fields"]["name"] for record in record_stream(app, new.id)] == ["Loom 1", "Loom 2", "Loom 3"]


@awaited
async def test_a_run_without_bodies_says_what_to_do(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/goods/1")
    with pytest.raises(InvalidInput, match="keep_bodies"):
        await reextract(app, crawled.id, PLAIN)


def look_spec(app: App, **values: Any) -> Any:
    from tarantella.domain.spec import Spec

    return Spec(allow_networks=LOOPBACK, text="none", **values)


@pytest.mark.parametrize("name", ["Host", "Content-Length"])
@awaited
async def test_a_preview_sends_no_header_that_belongs_to_the_connection(app: App, name: str) -> None:
    async with Site() as site:
        spec = look_spec(app, secrets=Secrets(headers={name: "5"}))
        with pytest.raises(InvalidInput, match=f"The header '{name}' is not for you to set"):
            await preview(app, site.url_for("/ok"), FieldSet(), spec=spec)
        assert site.hits == []


@awaited
async def test_a_preview_shows_each_field_and_suggests_selectors(app: App) -> None:
    async with Site() as site:
        seen = await preview(app, site.url_for("/shop/goods/2"), FieldSet(), spec=look_spec(app), example="2.50")
    fields = {each["name"]: each for each in seen.fields}
    assert fields["price"]["value"] == 2.5 and fields["price"]["source"] == "json-ld Product.offers.price"
    assert fields["title"]["value"] == "Loom 2"
    assert "author" not in fields
    assert seen.suggestions["title"][0].selector == {"css": "h1"}
    assert seen.found[0].selector == {"css": ".price"} and seen.found[0].confidence > 0.7
    assert {"jmespath": "offers.price"} in [each.selector for each in seen.found]
    assert await runs.listed(app) == []


@awaited
async def test_a_preview_of_a_list_shows_its_items_and_next_page(app: App) -> None:
    async with Site() as site:
        seen = await preview(app, site.url_for("/shop/list"), LIST, spec=look_spec(app))
    assert seen.items == 3
    assert seen.following == (site.url_for("/shop/list?page=2"),)
    assert [each["value"] for each in seen.fields if each["name"] == "price"] == [1199.5, 2299.5, 3399.5]


@awaited
async def test_a_preview_that_can_not_be_had_says_why(app: App) -> None:
    async with Site() as site:
        for path, why in (("/404", "not_found"), ("/binary?as=image/png", "nothing to read")):
            with pytest.raises(PreviewFailed, match=why):
                await preview(app, site.url_for(path), FieldSet(), spec=look_spec(app, obey_robots=False))
        with pytest.raises(PreviewFailed, match="denied"):
            await preview(app, site.url_for("/ok"), FieldSet())


@awaited
async def test_who_looks_again_at_a_run_that_is_deleted_meanwhile_is_told_and_leaves_nothing(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarantella.services.reextract.AT_ONCE", 1)
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/goods/1", "/shop/goods/2", keep_bodies=True)
    looking = asyncio.create_task(reextract(app, crawled.id, PLAIN))
    while not await app.database.read(lambda tx: tx.value("SELECT count(*) FROM runs WHERE reason = 'submitting'")):
        await asyncio.sleep(0)
    await runs.delete(app, crawled.id)
    with pytest.raises(Gone, match="was deleted meanwhile"):
        await looking
    assert await app.database.read(lambda tx: tx.value("SELECT count(*) FROM runs")) == 0


@awaited
async def test_an_export_of_a_run_that_is_deleted_meanwhile_is_not_taken_for_whole(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarantella.services.runs.FIRST_SLICE", 1)
    monkeypatch.setattr("tarantella.services.runs.SLICE_BYTES", 0)
    async with Site() as site:
        crawled = await crawl(app, site, "/shop/goods/1", "/shop/goods/2", "/shop/goods/3")
    exported = record_stream(app, crawled.id)
    next(exported)
    await runs.delete(app, crawled.id)
    with pytest.raises(Gone, match="was deleted meanwhile"):
        list(exported)


@awaited
async def test_a_run_of_whose_end_nobody_knows_whether_it_was_stored_is_not_deleted(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unheard(write: Any) -> Any:
        async def written(work: Any, **how: Any) -> Any:
            result = await write(work, **how)
            if how.get("durable"):
                raise StoreBusy("It is said that this failed.")
            return result

        return written

    async with Site() as site:
        crawled = await crawl(app, site, "/shop/goods/1", keep_bodies=True)
    monkeypatch.setattr(app.database, "write", unheard(app.database.write))
    with pytest.raises(StoreBusy):
        await reextract(app, crawled.id, PLAIN)
    assert len(await runs.listed(app)) == 2
