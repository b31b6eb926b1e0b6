"""The file of what should be there: what it can say, and what is said of the rest."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tarantella.domain.errors import InvalidInput
from tarantella.domain.gap import document_of, gaps_of
from tarantella.services.expectation_file import _At, read_expectations

TYPE: dict[str, Any] = {"path_patterns": ["raw/{season}/*.json"]}
KEYED: dict[str, Any] = {"path_patterns": ["raw/{season}/{key}.json"], "expected_keys": ["bos", "lal"]}


def document(of_type: Any = TYPE, **of_source: Any) -> dict[str, Any]:
    source = {"partitions": {"seasons": ["2023-24", "2024-25"]}, "data_types": {"games": of_type}, **of_source}
    return {"expected_coverage": {"league": source}}


def write(said: Any, name: str = "config/expected_coverage.yaml") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(said if isinstance(said, str) else yaml.safe_dump(said, sort_keys=False))
    return path


def test_all_that_can_be_said_is_understood() -> None:
    write(
        """
        expected_coverage:
          league:
            scraper: league_scraper
            partitions: {seasons: ["2023-24", 2024]}
            data_types:
              games:
                required: false
                freshness_days: 7
                path_patterns: ["raw/{season}/{key}.json", "old/{season}/{key}.xml"]
                expected_per_partition: {"2023-24": [0022300061, 22300062], 2024: []}
                keys_as: game_ids
                min_bytes: 200
                estimated_minutes: 45
              teams: {path_patterns: teams.json, partitions: none, scraper: other}
              stories: {path_patterns: ["s/{day:%Y/%m/%d}.json"], partitions: {days: {last: 30}}}
          cup: {data_types: {finals: {path_patterns: ["cup/*"], expected_per_partition: 3}}}
        """
    )
    file, [games, teams, stories, finals] = read_expectations()
    assert file == Path("config/expected_coverage.yaml")
    assert (games.source, games.data_type, games.scraper) == ("league", "games", "league_scraper")
    assert (games.required, games.freshness_days, games.min_bytes, games.estimated_minutes) == (False, 7, 200, 45)
    assert games.partitions.values == ("2023-24", "2024")
    assert games.keys_of == {"2023-24": ("0022300061", 22300062), "2024": ()} and games.keys_as == "game_ids"
    assert (teams.scraper, teams.partitions.name) == ("other", None)
    assert (stories.scraper, stories.partitions.last) == ("league_scraper", 30)
    assert (finals.scraper, finals.count, finals.required, finals.min_bytes) == ("cup", 3, True, 1)


def test_the_example_of_the_docs_is_understood() -> None:
    page = (Path(__file__).parents[2] / "docs" / "gaps.md").read_text()
    write(page.partition("```yaml\n")[2].partition("```")[0])
    assert [each.data_type for each in read_expectations()[1]] == ["box_scores", "rosters", "highlights"]


def test_it_may_stand_beside_the_scrapers() -> None:
    write({"scrapers": {"one": {}}, "defaults": {}, **document()}, "config/scraper_config.yaml")
    file, [games] = read_expectations()
    assert (file.name, games.data_type) == ("scraper_config.yaml", "games")
    write(document({**TYPE, "required": False}))
    assert read_expectations()[1][0].required is False


def test_without_any_it_says_where_to_write_it() -> None:
    write({"scrapers": {}}, "config/scraper_config.yaml")
    with pytest.raises(InvalidInput, match="config/expected_coverage.yaml") as caught:
        read_expectations()
    assert "--expected" in str(caught.value)


@pytest.mark.parametrize("name", ["expected_keys", "expected_per_partition"])
def test_keys_can_be_said_in_two_ways(name: str) -> None:
    said = {**KEYED}
    said[name] = said.pop("expected_keys")
    path = write(document(said))
    assert read_expectations(path)[1][0].keys == ("bos", "lal")


@pytest.mark.parametrize(
    ("said", "place", "told"),
    [
        ([], "", "[], not a mapping"),
        ({}, "", "it is empty"),
        ({"expected": {}}, "", "no key `expected_coverage`"),
        ({**document(), "expectations": 1}, "expectations", "no such key"),
        ({"expected_coverage": []}, "expected_coverage", "not a mapping of sources"),
        ({"expected_coverage": {"league": None}}, "expected_coverage.league", "missing, not a mapping"),
        ({"expected_coverage": {"league": {"scraper": "x"}}}, "expected_coverage.league", "no `data_types`"),
        ({"expected_coverage": {"x" * 201: document()}}, "expected_coverage", "no name"),
        (document(scraper=7.5), "expected_coverage.league.scraper", "7.5 is no name"),
        (document(datatypes={}), "expected_coverage.league.datatypes", "`data_types` is probably meant"),
        (document(partitions=[1]), "expected_coverage.league.partitions", "not a mapping"),
        (document(partitions={"sources": ["a"]}), "expected_coverage.league.partitions", "means something else"),
        (document(partitions={"keys": ["a"]}), "expected_coverage.league.partitions", "means something else"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_place(said: Any, place: str, told: str) -> None:
    _refused(said, place, told)


@pytest.mark.parametrize(
    ("change", "place", "told"),
    [
        ({"freshness_day": 7}, "freshness_day", "`freshness_days` is probably meant"),
        ({"freshness_days": -1}, "freshness_days", "-1, not a number above 0"),
        ({"freshness_days": 0}, "freshness_days", "0, not a number above 0"),
        ({"freshness_days": 10**400}, "freshness_days", "not a number above 0"),
        ({"freshness_days": "7"}, "freshness_days", "'7', not a number"),
        ({"freshness_days": float("nan")}, "freshness_days", "nan, not a number"),
        ({"freshness_days": float("inf")}, "freshness_days", "inf, not a number"),
        ({"estimated_minutes": True}, "estimated_minutes", "True, not a number"),
        ({"estimated_minutes": 1e6}, "estimated_minutes", "up to 10,080"),
        ({"required": "yes"}, "required", "neither true nor false"),
        ({"min_bytes": -1}, "min_bytes", "-1, not a number"),
        ({"min_bytes": 1.5}, "min_bytes", "1.5, not a number"),
        ({"path_patterns": []}, "path_patterns", "not a list of 1 to 50"),
        ({"path_patterns": None}, "path_patterns", "missing, not a list"),
        ({"path_patterns": [7]}, "path_patterns.0", "7, not a text"),
        ({"path_patterns": ["../{season}/x"]}, "path_patterns.0", "leads out of the inventory"),
        ({"path_patterns": ["/raw/{season}/x"]}, "path_patterns.0", "leads out of the inventory"),
        ({"path_patterns": ["a/{season}", "raw/x"]}, "path_patterns.1", "no {season} in it"),
        ({"path_patterns": ["raw/{season}/{key}"]}, "path_patterns.0", "{key} in it"),
        ({"expected_keys": ["a"]}, "path_patterns.0", "no {key} in it"),
        ({"expected_keys": "a"}, "expected_keys", "not a list of keys"),
        ({"expected_keys": 7}, "expected_keys", "not a list of keys"),
        ({"expected_keys": ["a", "a"]}, "expected_keys.1", "'a' was there before"),
        ({"expected_keys": [1, "1"]}, "expected_keys.1", "'1' was there before"),
        ({"expected_keys": ["../x"]}, "expected_keys.0", "part of a path"),
        ({"expected_keys": ["a\ud800"]}, "expected_keys.0", "part of a path"),
        ({"expected_keys": [1.5]}, "expected_keys.0", "quotation marks"),
        ({"expected_keys": [2**64]}, "expected_keys.0", "quotation marks"),
        ({"expected_keys": [True]}, "expected_keys.0", "quotation marks"),
        ({"expected_keys": [None]}, "expected_keys.0", "is no key"),
        ({"expected_keys": {"2025-26": ["a"]}}, "expected_keys.2025-26", "there are 2023-24, 2024-25"),
        ({"expected_keys": [], "expected_per_partition": 1}, "", "one of them says how much"),
        ({"expected_per_partition": -5}, "expected_per_partition", "-5, not a number of files"),
        ({"expected_per_partition": 1.5}, "expected_per_partition", "1.5, not a number of files"),
        ({"expected_per_partition": "many"}, "expected_per_partition", "'many', not a number of files"),
        ({"expected_per_partition": 10**30}, "expected_per_partition", "not a number of files"),
        ({"expected_per_partition": {"2023-24": 1, "2024-25": ["a"]}}, "expected_per_partition", "the same for all"),
        ({"keys_as": "game_ids"}, "keys_as", "no keys are expected"),
        ({"scraper": ""}, "scraper", "no name"),
        ({"scraper": "a\nb"}, "scraper", "no name"),
        ({"partitions": {"days": {"last": 0}}}, "partitions", "`last` is 0"),
    ],
)
def test_what_makes_no_sense_of_a_type_is_told_with_its_place(change: dict[str, Any], place: str, told: str) -> None:
    whole = "expected_coverage.league.data_types.games"
    _refused(document({**deepcopy(TYPE), **change}), f"{whole}.{place}" if place else whole, told)


@pytest.mark.parametrize("name", ["id", "season", "data_type", "missing_files", "priority", "status"])
def test_keys_are_not_called_what_means_something_else(name: str) -> None:
    _refused(
        document({**KEYED, "keys_as": name}),
        "expected_coverage.league.data_types.games.keys_as",
        "means something else",
    )


@pytest.mark.parametrize(
    "text", ["a: [", "a: 1\na: 2", "a: &x 1\nb: *x", "!!python/object:os.system {}", "[" * 2_000, "\0", "? [1]\n: 2"]
)
def test_what_is_no_yaml_names_the_file(text: str) -> None:
    path = write(text)
    with pytest.raises(InvalidInput, match="expected_coverage.yaml"):
        read_expectations(path)


WHOLE = {
    "expected_coverage": {
        "league": {
            "scraper": "s",
            "partitions": {"seasons": ["2023-24", "2024-25"], "as": "season", "current": "all"},
            "data_types": {
                "games": {**KEYED, "keys_as": "game_ids", "freshness_days": 7, "min_bytes": 2, "required": False},
                "news": {
                    "path_patterns": ["{day:%Y/%m}/{day}.json", "x/{day}_*"],
                    "partitions": {"days": {"from": "2026-01-01", "to": "today"}},
                    "expected_per_partition": {"2026-01-02": 3},
                    "estimated_minutes": 3,
                },
            },
        }
    }
}
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(
        ["{key}", "{season}", "{day:%Y}", "**", "../x", "[a-", "last", "from", "days", "today", "none", "all", "\ud800"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300)
@given(st.data())
def test_whatever_stands_there_is_understood_or_refused_in_words(data: st.DataObject) -> None:
    said = deepcopy(WHOLE)
    for _ in range(data.draw(st.integers(1, 2))):
        _change_something(said, data)
    try:
        found = _At(Path("x.yaml"), ()).expectations(said)
    except InvalidInput as error:
        assert error.message.startswith("x.yaml") and error.remedy
        return
    for each in found:
        shares = each.shares(date(2026, 1, 5))
        each.readers(shares)
        gaps = [gap for share in shares.values() if (gap := share.gap(datetime(2026, 1, 5, tzinfo=UTC))) is not None]
        written = gaps_of(orjson.loads(orjson.dumps(document_of(gaps, ""))))
        assert (written.gaps, written.problems) == (sorted(gaps, key=lambda gap: gap.priority), [])


def _change_something(said: Any, data: st.DataObject) -> None:
    """Put anything at any place, or under any name."""
    while True:
        names = list(said) if isinstance(said, dict) else list(range(len(said)))
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        below = said[name]
        if not isinstance(below, dict | list) or not below or data.draw(st.integers(0, 4)) == 0:
            if isinstance(said, dict) and data.draw(st.booleans()):
                said[data.draw(st.text(max_size=3) | st.integers() | st.sampled_from(["days", "expected_keys"]))] = (
                    below
                )
            said[name] = data.draw(ANYTHING)
            return
        said = below


def _refused(said: Any, place: str, told: str) -> None:
    path = write(said, "mine.yaml")
    with pytest.raises(InvalidInput) as caught:
        read_expectations(path)
    assert str(path) in caught.value.message and told in str(caught.value)
    assert caught.value.field == (place or "expected")
    assert place in caught.value.message and caught.value.remedy
