"""What `tarantella preview` says of a page."""

from __future__ import annotations

from typing import Any

from tarantella.cli.preview import preview_lines

PAGE: dict[str, Any] = {
    "url": "https://shop.example/tea",
    "status": 200,
    "content_type": "text/html",
    "fields": [],
    "suggestions": {},
    "pagination": [],
    "items": None,
    "found": [],
}


def test_values_are_told_as_json_and_texts_as_they_are() -> None:
    values = {"title": 'Tea’s "best"', "specs": [{"k": "Weight", "v": None}], "in_stock": True, "price": 19.9}
    fields = [{"name": name, "value": value, "source": None} for name, value in values.items()]
    assert list(preview_lines({**PAGE, "fields": fields}, None))[1:] == [
        '  title  Tea’s "best"',
        '  specs  [{"k": "Weight", "v": null}]',
        "  in_stock  true",
        "  price  19.9",
    ]


def test_an_item_that_matches_nothing_is_told_as_that() -> None:
    assert list(preview_lines({**PAGE, "items": 0}, None))[1:] == ["  Nothing on the page matches the item."]
