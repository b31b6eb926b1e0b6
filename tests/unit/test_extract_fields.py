"""Fields that are chosen by selectors: CSS, XPath, JMESPath, regular expressions; typed, nested, in lists."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import field_set_of
from tarantella.domain.spec import Spec
from tarantella.extractors.page import Extracted, Wants, extract

SHOP = """<!doctype html><html lang="de"><title>Laden</title><body>
<div class="product" data-id="7"><h2>Tee</h2> <span class="price">1.299,00 €</span> <a href="/tee">mehr</a>
  <ul><li>grün<li>lose</ul></div>
<div class="product"><h2>Kanne</h2> <span class="price">auf Anfrage</span> <a href="/kanne">mehr</a></div>
<a class="next" href="?seite=2">weiter</a>
<script type="application/json" id="state">{"shop": {"items": [{"sku": "A1", "stock": 3}, {"sku": "B2", "stock": 0}]}}</script>
<script>window.cart = {"total": 5}; var other = function() { return {a: 1} };</script>
<script>window.more = JSON.parse("{\\"deep\\": [1, 2]}")</script>
<p>SKU: A-17, SKU: B-18</p></body></html>"""


def wants_of(fields: Any, **rest: Any) -> Wants:
    wanted = field_set_of({"fields": fields, **rest})
    return Wants.of(Spec(text="none", fields=wanted.fields, item=wanted.item, pagination=wanted.pagination))


def read(fields: Any, page: str = SHOP, content_type: str = "text/html", **rest: Any) -> Extracted:
    return extract(page.encode(), content_type, wants_of(fields, **rest), "http://laden.test/tees")


def found(field: dict[str, Any], page: str = SHOP, content_type: str = "text/html") -> Any:
    return read([{"name": "x", **field}], page, content_type).data["fields"]["x"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"css": "h2", "all": False}, "Tee"),
        ({"css": "h2"}, ["Tee", "Kanne"]),
        ({"css": "title"}, "Laden"),
        ({"css": "h2", "all": True}, ["Tee", "Kanne"]),
        ({"css": ".product", "attr": "data-id", "type": "integer"}, 7),
        ({"css": ".price", "type": "price"}, 1299),
        ({"css": ".price", "type": "currency"}, "EUR"),
        ({"css": "a.next", "attr": "href", "type": "url"}, "http://laden.test/tees?seite=2"),
        ({"xpath": "//h2/text()", "all": False}, "Tee"),
        ({"xpath": "//h2", "all": True}, ["Tee", "Kanne"]),
        ({"xpath": "//a/@href", "all": True}, ["/tee", "/kanne", "?seite=2"]),
        ({"xpath": "count(//h2)", "type": "integer"}, 2),
        ({"xpath": "string(//title)"}, "Laden"),
        ({"jmespath": "shop.items[0].sku"}, "A1"),
        ({"jmespath": "shop.items[*].stock", "all": True}, [3, 0]),
        ({"jmespath": "total", "type": "number"}, 5),
        ({"jmespath": "deep[1]"}, 2),
        ({"css": "#state", "jmespath": "shop.items[1].sku"}, "B2"),
        ({"regex": r"SKU: ([A-Z]-\d+)", "all": False}, "A-17"),
        ({"regex": r"SKU: ([A-Z]-\d+)", "all": True}, ["A-17", "B-18"]),
        ({"css": "p", "regex": r"\d+", "type": "integer"}, 17),
        ({"css": "h3", "default": "none"}, "none"),
        ({"css": "h3"}, None),
        (
            {"css": ".product", "all": False, "fields": {"name": "h2", "tags": {"css": "li", "all": True}}},
            {"name": "Tee", "tags": ["grün", "lose"]},
        ),
        ({"css": ".product", "all": True, "fields": {"name": "h2"}}, [{"name": "Tee"}, {"name": "Kanne"}]),
        ({"jmespath": "shop.items", "all": True, "fields": {"s": {"jmespath": "sku"}}}, [{"s": "A1"}, {"s": "B2"}]),
        ({"xpath": "//div", "all": True, "fields": {"to": {"xpath": "//a/@href"}}}, [{"to": "/tee"}, {"to": "/kanne"}]),
    ],
)
def test_a_field_finds(field: dict[str, Any], value: Any) -> None:
    assert found(field) == value


def test_a_json_body_is_read_by_jmespath() -> None:
    body = '{"items": [{"name": "Tea", "price": "4,50 €"}, {"name": "Pot", "price": 12}]}'
    assert found({"jmespath": "items[].name", "all": True}, body, "application/json") == ["Tea", "Pot"]
    listed = read(
        {"name": {"jmespath": "name"}, "price": {"jmespath": "price", "type": "price"}},
        body,
        "application/json",
        item={"jmespath": "items"},
    )
    assert listed.items == [{"fields": {"name": "Tea", "price": 4.5}}, {"fields": {"name": "Pot", "price": 12}}]


def test_a_value_that_does_not_fit_is_told_with_its_text_and_never_dropped_in_silence() -> None:
    page = read([{"name": "price", "css": ".product:nth-of-type(2) .price", "type": "price", "required": True}])
    assert page.data["fields"] == {"price": None}
    assert page.data["problems"] == {"price": {"problem": "there is no price in it", "raw": "auf Anfrage"}}
    assert page.lacking == {"price": {"unfit": 1}}


def test_what_is_not_there_is_counted_as_missing_also_where_a_default_stands_in() -> None:
    page = read(
        [{"name": "a", "css": "h2", "all": False}, {"name": "b", "css": "h3"}, {"name": "c", "css": "h4", "default": 0}]
    )
    assert page.data["fields"] == {"a": "Tee", "b": None, "c": 0}
    assert page.lacking == {"b": {"missing": 1}, "c": {"missing": 1}}
    assert "problems" not in page.data


def test_a_list_page_has_a_record_for_each_item_and_a_way_to_the_next_page() -> None:
    page = read(
        {"name": "h2", "price": {"css": ".price", "type": "price"}, "to": {"css": "a", "attr": "href"}},
        item=".product",
        pagination="a.next",
    )
    assert page.items == [
        {"fields": {"name": "Tee", "price": 1299, "to": "http://laden.test/tee"}},
        {
            "fields": {"name": "Kanne", "price": None, "to": "http://laden.test/kanne"},
            "problems": {"price": {"problem": "there is no price in it", "raw": "auf Anfrage"}},
        },
    ]
    assert list(page.following) == ["http://laden.test/tees?seite=2"]
    assert page.lacking == {"price": {"unfit": 1}}


def test_an_attribute_that_is_there_says_yes() -> None:
    assert found({"css": "input", "attr": "checked", "type": "boolean"}, "<input checked>") is True


@pytest.mark.parametrize(
    "field",
    [
        {"css": "a["},
        {"xpath": "//["},
        {"xpath": "document('/etc/passwd')"},
        {"xpath": "doc('file:///etc/passwd')"},
        {"xpath": "unparsed-text('/etc/passwd')"},
        {"jmespath": "a..b["},
        {"regex": "("},
        {"css": "a", "fields": [{"name": "b", "regex": "["}]},
    ],
)
def test_a_selector_that_can_not_be_understood_is_refused_before_anything_is_fetched(field: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        wants_of([{"name": "x", **field}])
    assert caught.value.remedy


def test_an_expression_that_backtracks_is_stopped_and_told() -> None:
    started = time.monotonic()
    page = read([{"name": "x", "regex": "^(?:<p>)(a|aa)+$"}, {"name": "y", "regex": "(a|aa)+$"}], f"<p>{'a' * 5_000}!")
    assert time.monotonic() - started < 10
    assert page.data["fields"] == {"x": None, "y": None}
    assert "too long" in page.data["problems"]["x"]["problem"]


@pytest.mark.parametrize(
    ("field", "aside"),
    [
        ({"css": ".price"}, False),
        ({"css": "li:nth-child(2) > a", "attr": "href", "type": "url"}, False),
        ({"xpath": "//h1/text()"}, False),
        ({"xpath": "//*[//*[//b]]"}, True),
        ({"xpath": "//p[following::b]"}, True),
        ({"css": "p:has(~ p:has(~ p))"}, True),
        ({"regex": "a"}, True),
        ({"jmespath": "a"}, True),
    ],
)
def test_what_could_take_long_is_looked_for_aside(field: dict[str, Any], aside: bool) -> None:
    assert wants_of([{"name": "x", **field}]).aside is aside


def test_what_is_wanted_comes_out_of_another_process_as_it_went_in() -> None:
    wants = wants_of({"a": {"css": "b", "fields": {"c": "d"}}}, item=".x", pagination="a.next")
    assert Wants.from_json(wants.to_json()) == wants
