"""Field coverage, and when it has fallen."""

from __future__ import annotations

from tarantella.domain.coverage import Coverage, added, coverage_of, falls, fell, required_missing
from tarantella.domain.field import Field


def shares(**found: float) -> list[Coverage]:
    return [Coverage(name, 100, missing=round(100 * (1 - share))) for name, share in found.items()]


def test_coverage_is_what_is_left_of_the_records() -> None:
    (price, name) = coverage_of(
        (Field("price", required=True), Field("name")), 10, {"price": {"missing": 2, "unfit": 1}}
    )
    assert (price.found, price.share, price.required) == (7, 0.7, True)
    assert (name.found, name.share) == (10, 1.0)
    assert Coverage("x", 0).share == 0


def test_what_is_lacking_is_added_up() -> None:
    assert added({"a": {"missing": 1}}, {"a": {"missing": 2, "unfit": 1}, "b": {"missing": 1}}) == {
        "a": {"missing": 3, "unfit": 1},
        "b": {"missing": 1},
    }


def test_a_clear_fall_against_the_earlier_runs_is_told() -> None:
    earlier = [shares(price=0.9, name=1.0), shares(price=1.0, name=1.0), shares(price=0.95, name=0.2)]
    found = falls(shares(price=0.5, name=0.95, new=0.1), earlier)
    assert [(fall.name, fall.before, fall.now) for fall in found] == [("price", 0.95, 0.5)]
    event = fell(found)
    assert (event.message, event.level) == ("Field coverage fell", "warn")
    assert event.meta["fields"] == {"price": {"before": 0.95, "now": 0.5}}


def test_a_small_fall_or_few_records_are_not_told() -> None:
    assert falls(shares(price=0.92), [shares(price=1.0)]) == []
    assert falls([Coverage("price", 3, missing=3)], [shares(price=1.0)]) == []
    assert falls(shares(price=0.0), []) == []


def test_required_fields_that_are_missing_are_told_and_others_are_not() -> None:
    assert required_missing([Coverage("a", 5, missing=1), Coverage("b", 5, required=True)]) is None
    event = required_missing([Coverage("a", 5, missing=1, unfit=1, required=True)])
    assert event is not None and event.meta == {"records_without": {"a": 2}}
