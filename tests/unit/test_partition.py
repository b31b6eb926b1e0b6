"""Partitions: which there are on a day, in which order."""

from __future__ import annotations

from datetime import date

import pytest

from tarantella.domain.partition import Partitions
from tarantella.services.partitions_said import partitions_of

TODAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("said", "name", "values"),
    [
        (None, None, ("",)),
        ("none", None, ("",)),
        ({"seasons": ["2023-24", "2024-25"]}, "season", ("2023-24", "2024-25")),
        ({"leagues": ["nba"]}, "league", ("nba",)),
        ({"countries": ["at"], "as": "country"}, "country", ("at",)),
        ({"seasons": [2023, 2024]}, "season", ("2023", "2024")),
        ({"days": {"last": 3}}, "day", ("2026-02-27", "2026-02-28", "2026-03-01")),
        ({"days": {"last": 2, "to": "yesterday"}}, "day", ("2026-02-27", "2026-02-28")),
        ({"days": {"from": "2024-02-28", "to": "2024-03-01"}}, "day", ("2024-02-28", "2024-02-29", "2024-03-01")),
        ({"days": {"from": "2026-02-28", "to": "today"}}, "day", ("2026-02-28", "2026-03-01")),
        ({"days": {"from": "2026-03-02"}}, "day", ()),
        ({"days": ["2026-01-05", "2026-02-01"]}, "day", ("2026-01-05", "2026-02-01")),
        ({"months": {"last": 3}}, "month", ("2026-01", "2026-02", "2026-03")),
        ({"months": {"from": "2025-12", "to": "2026-01"}}, "month", ("2025-12", "2026-01")),
        ({"months": {"from": "2026-01", "to": "yesterday"}}, "month", ("2026-01", "2026-02")),
        ({"years": {"from": 2024}}, "year", ("2024", "2025", "2026")),
    ],
)
def test_what_is_said_is_what_there_is(said: object, name: str | None, values: tuple[str, ...]) -> None:
    found = partitions_of(said)
    assert (found.name, found.on(TODAY)) == (name, values)


def test_a_hundred_years_of_days_are_all_there() -> None:
    found = Partitions("day", unit="day", first=date(1900, 1, 1)).on(date(1999, 12, 31))
    assert (len(found), found[0], found[-1]) == (36_524, "1900-01-01", "1999-12-31")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([], "not a mapping"),
        ({}, "divided in one way"),
        ({"seasons": ["a"], "leagues": ["b"]}, "divided in one way"),
        ({"seasons": []}, "0, not 1 to"),
        ({"seasons": "2024"}, "not a list"),
        ({"seasons": {"last": 3}}, "only days, months and years"),
        ({"seasons": ["a", "a"]}, "'a' is there twice"),
        ({"seasons": [2024.1]}, "quotation marks"),
        ({"seasons": [True]}, "quotation marks"),
        ({"seasons": ["../x"]}, "part of a path"),
        ({"seasons": [".."]}, "part of a path"),
        ({"seasons": [""]}, "1 to 200"),
        ({"seasons": ["a"], "as": "a b"}, "no name"),
        ({"seasons": ["a"], "current": "a"}, "`current` can be `all`"),
        ({"days": {}}, "neither a list nor"),
        ({"days": 30}, "neither a list nor"),
        ({"days": {"to": "today"}}, "either `from` or `last`"),
        ({"days": {"from": "2026-01-01", "last": 3}}, "either `from` or `last`"),
        ({"days": {"last": 0}}, "`last` is 0"),
        ({"days": {"last": -1}}, "`last` is -1"),
        ({"days": {"last": 10**9}}, "`last` is 1000000000"),
        ({"days": {"since": "2026-01-01"}}, "`since` says nothing"),
        ({"days": {"from": "2026-02-30"}}, "'2026-02-30' is no day"),
        ({"days": {"from": "tomorrow"}}, "is no day"),
        ({"days": {"from": "2026-01"}}, "is no day"),
        ({"days": {"from": "0001-01-01"}}, "from 1900 on"),
        ({"days": {"from": "2026-02-01", "to": "2026-01-01"}}, "before it begins"),
        ({"days": ["2026-02-01", "2026-01-01"]}, "not in order"),
        ({"months": ["2026-13"]}, "is no month"),
    ],
)
def test_what_makes_no_sense_says_why(said: object, told: str) -> None:
    with pytest.raises(ValueError, match=".") as caught:
        partitions_of(said)
    assert told in str(caught.value)
