"""Fields as people write them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import Field, field_set_of, fields_of
from tarantella.services.fields_file import read_fields_file

YAML = """
# what a shop has
item: .product
pagination: a.next
fields:
  - name: title
    css: h2
  - name: price
    css: .price
    type: price
    required: true
    locale: no
  - name: tags
    css: .tag
    all: true
"""


def test_a_stored_field_of_the_first_version_is_read_as_it_was_meant() -> None:
    assert Field.from_json({"name": "a", "css": "b", "attr": None}) == Field("a", "b")


def test_names_and_specifications_may_stand_together() -> None:
    plain, chosen = fields_of(["title", {"name": "price", "css": ".price", "type": "price"}])
    assert plain == Field("title") and plain.is_plain
    assert chosen == Field("price", ".price", type="price", all=False)


def test_fields_may_be_given_by_their_names() -> None:
    assert [f.to_json() for f in fields_of({"a": None, "b": "i@title", "c": {"xpath": "//c"}})] == [
        {"name": "a"},
        {"name": "b", "css": "i", "attr": "title"},
        {"name": "c", "xpath": "//c"},
    ]


def test_a_fields_file_is_yaml_or_json(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(YAML)
    found = read_fields_file(file)
    assert [field.name for field in found.fields] == ["title", "price", "tags"]
    assert found.fields[1] == Field("price", ".price", type="price", required=True, all=False, locale="no")
    assert found.item is not None and found.item.css == ".product"
    assert found.pagination is not None and found.pagination.attr == "href"
    file.write_text('{"fields": ["title", {"name": "sku", "regex": "SKU (\\\\d+)"}]}')
    assert [field.name for field in read_fields_file(file).fields] == ["title", "sku"]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("title", "fields"),
        (5, "fields"),
        ([""], "fields[0]"),
        ([5], "fields[0]"),
        (["a", "a"], "fields"),
        ([{"name": "a", "csss": "b"}], "fields[0].csss"),
        ([{"css": "b"}], "fields[0]"),
        ([{"name": "a", "css": 5}], "fields[0].css"),
        ([{"name": "a", "css": "b", "xpath": "//b"}], "fields[0]"),
        ([{"name": "a", "attr": "href"}], "fields[0]"),
        ([{"name": "a", "css": "b", "type": "money"}], "fields[0]"),
        ([{"name": "a", "css": "b", "all": "yes"}], "fields[0].all"),
        ([{"name": "a", "css": "b", "locale": "!"}], "fields[0]"),
        ([{"name": "a", "css": "b" * 2001}], "fields[0].css"),
        ([{"name": "a", "fields": ["b"]}], "fields[0].fields"),
        ([{"name": "a", "css": "b", "type": "date", "fields": [{"name": "c", "css": "d"}]}], "fields[0]"),
        ({"fields": ["a"], "items": ".x"}, "items"),
        ({"item": ".x"}, "fields"),
        ({"fields": ["a"], "item": {"regex": "x"}}, "item"),
        ({"fields": ["a"], "item": 5}, "item"),
        ([f"f{n}" for n in range(501)], "fields"),
    ],
)
def test_what_is_not_a_field_is_refused_and_its_key_named(value: Any, key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        field_set_of(value)
    assert caught.value.field == key
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fields: [a\n", "line 2"),
        ("fields: [a]\nfields: [b]", "twice"),
        ("a: &x [1]\nfields: *x", "references"),
        ("", "fields"),
        ("\x00", "fields.yaml"),
        ("- " * 20_000, "fields.yaml"),
    ],
)
def test_a_broken_fields_file_is_refused_and_its_line_named(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "fields.yaml"
    file.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_fields_file(file)
    assert told in str(caught.value) and "fields.yaml" in str(caught.value)


def test_a_fields_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "large").write_bytes(b"#" * 1_000_001)
    for name in ("missing", "binary", "large", "."):
        with pytest.raises(InvalidInput):
            read_fields_file(tmp_path / name)


@pytest.mark.parametrize(
    "default", [2**64, -(2**63) - 1, {1: 2}, b"bytes", {"a"}, "\ud800", float("nan"), [float("inf")]]
)
def test_a_default_that_json_can_not_hold_is_refused(default: Any) -> None:
    with pytest.raises(InvalidInput, match=r"default can't be written as JSON"):
        fields_of([{"name": "a", "css": "b", "default": default}])


def test_any_default_that_json_can_hold_is_taken() -> None:
    default = {"a": [1, 2.5, None, True, "ü", 2**64 - 1]}
    assert fields_of([{"name": "a", "css": "b", "default": default}])[0].default == default
