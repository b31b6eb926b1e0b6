"""Two strategies give the same when the records do, whatever their pages look like."""

from __future__ import annotations

from typing import Any

import pytest

from tarantella.domain.recheck import alike

TEXT = "one two three four five six seven eight nine ten " * 10


def record(**values: Any) -> dict[str, Any]:
    return {"title": "A loom", "text": TEXT, "word_count": 100, "links": 20, **values}


@pytest.mark.parametrize(
    "dear",
    [
        record(),
        record(text=TEXT + " We use cookies.", word_count=103),
        record(links=21),
        record(links=3, text="one two"),
        record(description="other"),
    ],
)
def test_what_is_there_in_both_is_alike(dear: dict[str, Any]) -> None:
    assert alike([record()], [dear])


@pytest.mark.parametrize(
    "dear",
    [
        record(title="Another loom"),
        record(text=TEXT * 2),
        record(links=40),
        record(data={"a": 1}),
        record(fields={"price": 1}),
    ],
)
def test_what_only_the_dearer_has_makes_a_difference(dear: dict[str, Any]) -> None:
    assert not alike([record()], [dear])


def test_fields_that_were_asked_for_decide_alone() -> None:
    ours = record(fields={"price": 49.9}, text="")
    assert alike([ours], [record(fields={"price": 49.9})])
    assert not alike([ours], [record(fields={"price": 49.0})])


def test_a_list_must_have_as_many_items() -> None:
    items = [record(fields={"n": n}) for n in range(3)]
    assert alike(items, items)
    assert not alike(items[:2], items)
    assert not alike([], items)
