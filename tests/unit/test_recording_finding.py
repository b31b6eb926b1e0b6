"""Where the records of a page come from is found among what its scripts asked for; where that is unsure, nothing is."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tarantella.domain.field import Field
from tarantella.domain.recording import Recording
from tarantella.domain.recording_finding import Heard, Known, NotFound, find, find_by_name, likeness
from tarantella.domain.recording_reading import read
from tarantella.domain.recording_request import Template
from tests.site import feed

PAGE = "https://shop.example/list"
FIELDS = (Field("name", css=".name"), Field("price", css=".price"), Field("stock", css=".stock"))
JsonPart = tuple[str, Any]


def heard(url: str, answer: Any, *, body: str | None = None, link: str | None = None, **headers: str) -> Heard:
    whole = f"https://shop.example{url}"
    kind = {"content-type": "application/json"} if body is not None else {}
    return Heard(Template("POST" if body else "GET", whole, {**kind, **headers}, body), whole, answer, link)


def known(records: Sequence[Mapping[str, Any]], fields: Sequence[Field] = FIELDS, *, is_list: bool = True) -> Known:
    return Known(fields, records, is_list, PAGE, {"language": "en"})


def found(heard: Sequence[Heard], known: Known) -> Recording:
    recording = find(heard, known)
    assert isinstance(recording, Recording), recording
    return recording


def goods(first: int = 1, count: int = 10) -> list[dict[str, Any]]:
    return [feed.goods(number) for number in range(first, first + count)]


def shown(first: int = 1, count: int = 10) -> list[dict[str, Any]]:
    return [feed.shown(number) for number in range(first, first + count)]


def test_a_list_is_found_with_what_the_page_did_to_its_values() -> None:
    noise = heard("/api/me", {"user": {"name": "Loom & Sons No. 1"}, "flags": [{"name": "x"}] * 10})
    recording = found([noise, heard("/api/goods?page=1", {"data": {"list": goods()}})], known(shown()))
    reading = recording.reading
    assert recording.template.url == "https://shop.example/api/goods?page=1"
    assert reading.items == ("data", "list")
    assert reading.places["name"].path == ("attributes", "productName")
    price = reading.places["price"]
    assert (price.path, price.form, price.before) == (("attributes", "unitPrice"), "fixed_2", "€ ")
    assert (reading.places["stock"].after, reading.places["stock"].always) == (" left", False)
    assert recording.confidence > 0.9
    again = read({"data": {"list": goods(11)}}, reading, FIELDS)
    assert list(again.records) == shown(11)


def test_the_parts_of_a_list_are_put_together_as_far_as_the_page_shows_them() -> None:
    before = heard("/api/goods?page=1&sort=price", {"list": goods()[::-1]})
    parts = [heard(f"/api/goods?page={number}&sort=name", {"list": goods(10 * number - 9)}) for number in (1, 2, 3)]
    # The first question was of somebody who had not chosen yet; the last part has no room on the page yet.
    recording = found([before, *parts], known(shown(1, 20)))
    paging = recording.reading.paging
    assert paging is not None and (paging.kind, paging.start, paging.most) == ("number", 1, 2)
    assert "sort=name" in recording.template.url


def test_typed_values_are_compared_as_what_they_are() -> None:
    fields = (Field("price", css=".price", type="price"), Field("at", css="a", attr="href", type="url"))
    records = [
        {"price": each["attributes"]["unitPrice"], "at": f"https://shop.example{each['link']}"} for each in goods()
    ]
    reading = found([heard("/api", goods())], known(records, fields)).reading
    assert (reading.items, reading.places["at"].path) == ((), ("link",))
    assert list(read(goods(), reading, fields).records) == records


def test_a_path_is_made_a_whole_address_also_behind_a_port() -> None:
    fields = (Field("at", css="a", attr="href"),)
    records = [{"at": f"http://127.0.0.1:8080{each['link']}"} for each in goods()]
    reading = found([heard("/api", goods())], known(records, fields)).reading
    assert (reading.places["at"].path, reading.places["at"].before) == (("link",), "http://127.0.0.1:8080")


def test_a_number_is_not_found_within_another() -> None:
    fields = (Field("price", css=".price"),)
    for around in ("1{}", "1.{}", "{}5", "{}.5"):
        records = [{"price": around.format(each["attributes"]["unitPrice"])} for each in goods()]
        assert isinstance(find([heard("/api", goods())], known(records, fields)), NotFound)


def test_cents_and_german_prices_are_recognised() -> None:
    answer = [{"n": f"Thing number {n}", "p": n * 123_456} for n in range(1, 6)]
    texts = ["1.234,56 €", "2.469,12 €", "3.703,68 €", "4.938,24 €", "6.172,80 €"]
    fields = (Field("n", css="b"), Field("p", css="i"))
    records = [{"n": f"Thing number {n}", "p": text} for n, text in enumerate(texts, 1)]
    # In cents and with dots between the thousands: no form has both, so that nothing is promised.
    assert isinstance(find([heard("/api", answer)], known(records, fields)), NotFound)
    euros = [{"n": f"Thing number {n}", "p": n * 1234.56} for n in range(1, 6)]
    assert found([heard("/api", euros)], known(records, fields)).reading.places["p"].form == "continental_2"


def test_a_time_may_be_shown_as_its_day() -> None:
    answer = [{"t": f"Story number {n}", "at": f"2024-03-0{n}T10:00:00Z"} for n in range(1, 6)]
    fields = (Field("t", css="b"), Field("at", css="time", type="date"))
    records = [{"t": f"Story number {n}", "at": f"2024-03-0{n}"} for n in range(1, 6)]
    assert found([heard("/api", answer)], known(records, fields)).reading.places["at"].form == "day"


def test_a_value_that_is_always_the_same_is_not_made_up_around_another() -> None:
    fields = (Field("name", css="h1"), Field("size", css="i"))
    record = {"name": "A loom of three metres in oak", "size": "3 by 4 metres, in oak"}
    answer = {"name": "A loom of three metres in oak", "doors": 3}
    assert isinstance(find([heard("/api", answer)], known([record], fields, is_list=False)), NotFound)


def test_lists_and_nested_lists_of_values_are_found() -> None:
    fields = (Field("name", css=".name"), Field("tags", css="i", all=True))
    records = [{"name": feed.shown(n)["name"], "tags": feed.goods(n)["tags"]} for n in range(1, 6)]
    answer = [{**each, "sizes": [{"label": tag} for tag in each["tags"]], "tags": None} for each in goods(1, 5)]
    places = found([heard("/api", answer)], known(records, fields)).reading.places
    assert places["tags"].path == ("sizes", None, "label")


def test_a_page_that_is_one_record_is_found_where_its_values_stand_together() -> None:
    answer = {
        "related": [{"title": "Loom & Sons No. 3", "cost": 1}],
        "product": {"info": feed.goods(3), "offer": {"price": 21.5}},
    }
    fields = (Field("name", css="h1"), Field("price", css=".price"))
    record = {"name": "Loom & Sons No. 3", "price": "€ 21.50"}
    reading = found([heard("/api/3", answer)], known([record], fields, is_list=False)).reading
    assert reading.items is None
    assert reading.places["name"].path == ("product", "info", "attributes", "productName")


@pytest.mark.parametrize(
    ("why", "answer", "records"),
    [
        (
            "a field is missing",
            {"list": [{"attributes": {"productName": each["attributes"]["productName"]}} for each in goods()]},
            shown(),
        ),
        ("one value is another", {"list": [*goods(1, 9), feed.goods(11)]}, shown()),
        ("the page shows fewer", {"list": goods(1, 10)}, shown(1, 8)),
        ("in another order", {"list": goods()[::-1]}, shown()),
        ("only short values", [{"a": 1, "b": 2}], [{"name": "1", "price": None, "stock": None}]),
        ("nothing was found on the page", {"list": goods()}, [{"name": None, "price": None, "stock": None}] * 10),
    ],
)
def test_what_is_unsure_is_refused(why: str, answer: Any, records: list[dict[str, Any]]) -> None:
    assert isinstance(find([heard("/api", answer)], known(records)), NotFound), why


def test_without_json_there_is_nothing_to_find() -> None:
    assert find([], known(shown())) == NotFound("the page's scripts asked for no JSON")


def test_names_find_a_list_where_no_values_are_known() -> None:
    recording = find_by_name(
        [heard("/api/goods?page=1", {"goods": goods(), "total": 47})],
        [Field("name"), Field("price"), Field("url")],
        PAGE,
    )
    assert isinstance(recording, Recording)
    places = recording.reading.places
    assert {name: place.path for name, place in places.items()} == {
        "name": ("attributes", "productName"),
        "price": ("attributes", "unitPrice"),
        "url": ("link",),
    }
    assert isinstance(find_by_name([heard("/api", {"goods": goods()})], [Field("colour")], PAGE), NotFound)


def test_names_that_only_look_alike_are_not_taken_for_one_another() -> None:
    assert likeness("id", ("paid",)) == 0
    assert likeness("unit price", ("unitPrice",)) == 2
    assert likeness("price", ("unit_price",)) == 1
    assert likeness("title", ("name",)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"list": [{"a": n} for n in range(500_000)]},
        {f"k{n}": {"x": [{"y": n}]} for n in range(100_000)},
        [[[[{"a": [{"b": [{"c": 1}] * 50}] * 50}] * 50]]],
    ],
    ids=["long", "wide", "bushy"],
)
def test_hostile_answers_are_looked_at_in_bounded_time(answer: Any) -> None:
    deep: Any = {"name": "Loom"}
    for _ in range(900):
        deep = {"a": deep}
    began = time.process_time()
    assert isinstance(find([heard("/api", answer), heard("/deep", deep)], known(shown())), NotFound)
    assert time.process_time() - began < 5
