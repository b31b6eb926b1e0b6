"""Fields over HTTP: jobs that have them, a preview, another look at kept pages, and when coverage falls."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.api.talking import Talker
from tests.site import Site

PRICE = {"name": "price", "css": ".price", "type": "price", "required": True}


@pytest.mark.usefixtures("engine")
def test_a_job_makes_typed_records_of_a_list(client: Talker, site: Site) -> None:
    name = {"name": "name", "css": "h2"}
    job = client.job(site.url_for("/shop/list"), name, PRICE, strategy="http", item="li.goods", pagination="a.next")
    assert job["fields"] == [name, {**PRICE, "all": False}]
    run = client.run_of(job)
    client.ended(run["id"])
    records = client.get(f"/jobs/runs/{run['id']}/records")
    assert len(records) == 7
    assert {"name": "Loom 2", "price": 2299.5} in [record["fields"] for record in records]
    shown = client.get(f"/jobs/runs/{run['id']}")
    assert shown["coverage"]["price"] == {"share": 0.8571, "records": 6, "missing": 0, "unfit": 1, "required": True}


@pytest.mark.usefixtures("engine")
def test_names_are_found_by_themselves_and_explained(client: Talker, site: Site) -> None:
    url = site.url_for("/shop/goods/3")
    run = client.run_of(client.job(url, "title", "price", "sku", strategy="http"))
    client.ended(run["id"])
    [record] = client.get(f"/jobs/runs/{run['id']}/records")
    assert record["fields"] == {"title": "Loom 3", "price": 3.5, "sku": "L-3"}
    told = client.get(f"/jobs/runs/{run['id']}/explain", params={"url": url})
    assert {each["name"]: each["source"] for each in told["fields"]}["sku"] == "json-ld Product.sku"


@pytest.mark.usefixtures("engine")
def test_a_job_whose_coverage_falls_says_so(client: Talker, site: Site) -> None:
    options: dict[str, Any] = {"strategy": "http", "item": "li.goods", "pagination": "a.next"}
    job = client.job(site.url_for("/shop/list"), {"name": "name", "css": "h2"}, **options)
    client.ended(client.run_of(job)["id"])
    client.patch(f"/jobs/{job['id']}", {"fields": [{"name": "name", "css": "h3"}]})
    run = client.run_of(job)
    client.ended(run["id"])
    events = {event["message"]: event for event in client.get(f"/jobs/runs/{run['id']}/events")}
    fell = events["Field coverage fell"]
    assert (fell["level"], fell["meta"]["fields"]) == ("warn", {"name": {"before": 1.0, "now": 0.0}})


def test_a_preview_shows_fields_and_finds_selectors(client: Talker, site: Site) -> None:
    seen = client.post(
        "/jobs/preview",
        {"url": site.url_for("/shop/goods/2"), "fields": ["price", PRICE | {"name": "p"}], "find": "2.50"},
    )
    assert {each["name"]: each["value"] for each in seen["fields"]} == {"price": 2.5, "p": 2.5}
    assert seen["found"][0]["css"] == ".price"
    assert seen["suggestions"]["price"]
    assert client.get("/jobs/runs") == []


def test_a_preview_that_can_not_be_had_is_refused_with_its_reason(client: Talker, site: Site) -> None:
    for body in (
        {"url": site.url_for("/404")},
        {"url": "ftp://a/"},
        {"url": site.url_for("/ok"), "fields": [{"name": "a", "css": "["}]},
    ):
        problem = client.refused("POST", "/jobs/preview", json=body)
        assert problem["status"] == 422 and problem["remedy"]


@pytest.mark.usefixtures("engine")
def test_kept_pages_are_looked_at_again_over_http(client: Talker, site: Site) -> None:
    job = client.job(site.url_for("/shop/goods/1"), "title", strategy="http", keep_bodies=True)
    run = client.run_of(job)
    client.ended(run["id"])
    hits = len(site.hits)
    new = client.post(f"/jobs/runs/{run['id']}/re-extract", {"fields": ["sku", PRICE]})
    assert len(site.hits) == hits
    assert (new["status"], new["records"], new["job_id"]) == ("completed", 1, None)
    [record] = client.get(f"/jobs/runs/{new['id']}/records")
    assert record["fields"] == {"sku": "L-1", "price": 1.5}
    other = client.run_of(client.job(site.url_for("/ok"), "title", strategy="http"))
    client.ended(other["id"])
    assert client.refused("POST", f"/jobs/runs/{other['id']}/re-extract", json={"fields": ["sku"]})["status"] == 422
