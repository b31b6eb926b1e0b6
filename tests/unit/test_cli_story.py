"""The story of a page, in words."""

from __future__ import annotations

from typing import Any

from tarantella.cli.story import story_lines

PAGE = {
    "url": "https://a.example/",
    "asked_url": None,
    "final_url": None,
    "is_start": 1,
    "kind": "page",
    "depth": 1,
    "state": "pending",
    "next_at": 0.0,
    "reason": None,
    "status": None,
    "detail": None,
}


def told(page: dict[str, Any], **found: Any) -> list[str]:
    story = {"page": {**PAGE, **page}, "found_on": None, "attempts": [], "fields": [], "waits": None, **found}
    return [line.strip() for line in story_lines(story, 1.0)]


def test_a_page_that_waits_says_what_for() -> None:
    assert told({})[-1] == "It is waiting for its turn."
    assert told({}, waits="its run is paused")[-1] == "It waits because its run is paused."


def test_a_selector_is_shown_as_it_is_written() -> None:
    field = {"name": "stock", "value": "In stock", "source": "xpath //p[@class='stock']/text()"}
    assert told({"state": "done"}, fields=[field])[-1] == (
        "Field stock: In stock, from xpath //p[@class='stock']/text()."
    )


def test_what_stands_in_brackets_does_not_end_the_sentence() -> None:
    detail = "refused: 127.0.0.1 refuses connections on port 9."
    assert told({"state": "failed", "reason": "network", "detail": detail})[-1].endswith(
        "network (refused: 127.0.0.1 refuses connections on port 9)."
    )
