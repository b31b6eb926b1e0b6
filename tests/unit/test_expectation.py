"""What is expected and what is there: how complete it is, and which gaps follow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.expectation import (
    MOST_NAMED,
    MOST_NAMED_CHARACTERS,
    Coverage,
    Expected,
    Share,
    id_of,
)
from tarantella.domain.gap import MOST_PARAMS_BYTES, Gap, document_of, gaps_of
from tarantella.domain.partition import Partitions
from tarantella.domain.path_pattern import pattern_of
from tarantella.domain.run import Priority
from tarantella.domain.struct import replace

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEASONS = Partitions("season", ("2021-22", "2022-23", "2023-24", "2024-25"))


def expected(text: str = "raw/{season}/*.json", **more: Any) -> Expected:
    partitions = more.pop("partitions", SEASONS)
    pattern = pattern_of(text, partitions.name, dated=False)
    return Expected("league", "games", "league_scraper", (pattern,), partitions, **more)


def keyed(*keys: int | str, **more: Any) -> Expected:
    return expected("raw/{season}/{key}.json", keys=keys, **more)


def share_of(of: Expected, partition: str = "2024-25", *, files: int = 0, days_old: float = 0) -> Share:
    share = of.shares(NOW.date())[partition]
    for number in range(files):
        share.add(f"raw/{partition}/{number}.json", None, 1_000, (NOW - timedelta(days=days_old)).timestamp())
    return share


def both(share: Share) -> tuple[Coverage, Gap | None]:
    return share.coverage(NOW), share.gap(NOW)


def test_what_is_complete_is_no_gap() -> None:
    coverage, gap = both(share_of(expected(count=2), files=2))
    assert (coverage.state, coverage.completeness, gap) == ("complete", 1.0, None)


def test_more_than_expected_is_told_and_no_more_than_complete() -> None:
    coverage, gap = both(share_of(expected(count=2), files=5))
    assert (coverage.completeness, coverage.surplus, coverage.present, gap) == (1.0, 3, 5, None)


def test_without_a_number_one_file_is_enough() -> None:
    assert both(share_of(expected()))[0].state == "missing"
    coverage, gap = both(share_of(expected(), files=7))
    assert (coverage.state, coverage.surplus, gap) == ("complete", 0, None)


@pytest.mark.parametrize(
    ("partition", "priority"),
    [
        ("2024-25", Priority.HIGH),
        ("2023-24", Priority.MEDIUM),
        ("2022-23", Priority.LOW),
        ("2021-22", Priority.LOW),
    ],
)
def test_what_is_missing_is_the_less_urgent_the_older_it_is(partition: str, priority: Priority) -> None:
    for files in (0, 1):
        _, gap = both(share_of(expected(count=2), partition, files=files))
        assert gap is not None and gap.priority is priority
        assert gap.params == {"season": partition, "data_type": "games"}
        assert gap.reason == f"missing: {2 - files} of 2 files"


def test_the_current_partition_is_stale_when_its_newest_file_is_too_old() -> None:
    of = expected(count=2, freshness_days=7)
    assert both(share_of(of, files=2, days_old=6.9))[1] is None
    share = share_of(of, files=1, days_old=8)
    coverage, gap = both(share)
    assert gap is not None and (coverage.state, gap.priority) == ("stale", Priority.CRITICAL)
    assert gap.reason is not None and "newest file is of 2026-02-21" in gap.reason and "1 of 2 files" in gap.reason
    share.add("raw/2024-25/new.json", None, 1_000, NOW.timestamp())
    assert both(share)[1] is None


def test_older_partitions_are_never_stale() -> None:
    assert both(share_of(expected(count=2, freshness_days=7), "2023-24", files=2, days_old=900))[1] is None


def test_nothing_at_all_is_missing_and_not_stale() -> None:
    coverage, gap = both(share_of(expected(count=2, freshness_days=7)))
    assert gap is not None and (coverage.state, gap.priority) == ("missing", Priority.HIGH)


def test_where_all_are_current_none_is_older() -> None:
    of = expected(partitions=replace(SEASONS, all_current=True), freshness_days=1)
    gaps = [share.gap(NOW) for share in of.shares(NOW.date()).values()]
    assert {gap.priority for gap in gaps if gap} == {Priority.HIGH} and len(gaps) == 4
    stale = share_of(of, "2021-22", files=1, days_old=2).gap(NOW)
    assert stale is not None and stale.priority is Priority.CRITICAL


def test_what_is_not_required_is_of_low_priority() -> None:
    of = expected(count=2, required=False, freshness_days=7)
    for share in (share_of(of), share_of(of, files=2, days_old=8)):
        gap = share.gap(NOW)
        assert gap is not None and gap.priority is Priority.LOW


def test_a_source_that_is_not_divided_has_one_partition() -> None:
    of = expected("teams.json", partitions=Partitions())
    [share] = of.shares(NOW.date()).values()
    coverage, gap = both(share)
    assert coverage.partition is None
    assert gap is not None and gap.params == {"data_type": "games", "missing_files": ["teams.json"]}
    assert gap.reason == "missing: nothing is there"


def test_files_that_are_too_small_or_being_written_are_not_there() -> None:
    share = share_of(expected(count=3, min_bytes=200))
    for name, size in (("a", 199), ("b", 200), ("c.part", 900), ("d.tmp", 900)):
        share.add(f"raw/2024-25/{name}", None, size, NOW.timestamp())
    coverage, gap = both(share)
    assert (coverage.present, coverage.too_small) == (1, 1)
    assert gap is not None and gap.reason == "missing: 2 of 3 files, 1 is smaller than 200 bytes"


def test_an_empty_file_is_not_there() -> None:
    share = share_of(expected())
    share.add("raw/2024-25/a.json", None, 0, NOW.timestamp())
    assert both(share)[0].state == "missing"


def test_keys_are_compared_and_not_how_many_there_are() -> None:
    share = share_of(keyed(1, 2, 3, keys_as="game_ids"))
    for key in ("3", "7", "8", "9", "10"):
        share.add(f"raw/2024-25/{key}.json", key, 10, NOW.timestamp())
    coverage, gap = both(share)
    assert (coverage.present, coverage.expected, coverage.surplus) == (1, 3, 4)
    assert coverage.completeness == pytest.approx(1 / 3)
    assert gap is not None
    assert gap.params == {"season": "2024-25", "data_type": "games", "game_ids": [1, 2]}
    assert gap.reason == "missing: 2 of 3 game ids"


def test_keys_and_numbers_can_differ_between_partitions() -> None:
    of = expected(counts={"2024-25": 3, "2023-24": 0})
    assert both(share_of(of))[0].expected == 3
    assert both(share_of(of, "2023-24"))[1] is None
    assert both(share_of(of, "2022-23"))[0].expected == 1
    of = expected("raw/{season}/{key}.json", keys_of={"2024-25": ("b", "a")})
    gap = both(share_of(of))[1]
    assert gap is not None and gap.params["missing_keys"] == ["a", "b"]


def test_files_that_are_known_by_their_paths_are_named() -> None:
    patterns = tuple(pattern_of(f"raw/{{season}}/{name}.csv", "season", dated=False) for name in ("east", "west"))
    of = replace(expected(), patterns=patterns, count=2)
    share = share_of(of)
    share.add("raw/2024-25/west.csv", None, 10, NOW.timestamp())
    gap = both(share)[1]
    assert gap is not None and gap.params["missing_files"] == ["raw/2024-25/east.csv"]
    # One of them is enough, if nothing is said: then nobody knows which is missing.
    gap = both(share_of(replace(of, count=None)))[1]
    assert gap is not None and "missing_files" not in gap.params


def test_a_task_names_so_many_keys_and_says_how_many_more_there_are() -> None:
    gap = share_of(keyed(*range(5_000))).gap(NOW)
    assert gap is not None
    assert gap.params["missing_keys"] == list(range(MOST_NAMED))
    assert gap.reason == ("missing: 5,000 of 5,000 keys, of which the first 1,000 are named, and 4,000 more are not")
    long = share_of(keyed(*("ж" * 195 + f"{number:05}" for number in range(2_000)))).gap(NOW)
    assert long is not None and len(long.params["missing_keys"]) == MOST_NAMED_CHARACTERS // 200
    found = gaps_of(document_of([gap, replace(long, id="other")], ""))
    assert (len(found.gaps), found.problems) == (2, [])
    assert MOST_NAMED_CHARACTERS * 6 + MOST_NAMED * 6 < MOST_PARAMS_BYTES


def test_a_gap_has_the_same_id_and_fingerprint_in_every_scan_and_others_have_others() -> None:
    one, again = (share_of(keyed(*keys)).gap(NOW + timedelta(days=n)) for n, keys in enumerate([(2, 1), (1, 2)]))
    assert one is not None and one == again and one.fingerprint == again.fingerprint
    assert one.id.startswith("league-games-2024-25-")
    ids = [id_of(*names) for names in (("a-b", "c", "d"), ("a", "b-c", "d"), ("a", "b", "c-d"), ("é", "è", ""))]
    assert len({*ids}) == 4
    assert all(len(each) <= 200 for each in (id_of("x" * 200, "y" * 200, "z" * 200), *ids))


def test_a_clock_that_is_far_off_does_no_harm() -> None:
    for modified in (-1e18, 1e18, float(2**63)):
        share = share_of(expected(freshness_days=1))
        share.add("raw/2024-25/a.json", None, 10, modified)
        coverage, _ = both(share)
        assert isinstance(coverage.to_json()["newest"], str)


def test_one_of_a_million_that_is_missing_is_not_rounded_away() -> None:
    coverage, gap = both(share_of(expected(count=100_001), files=100_000))
    assert gap is not None and coverage.to_json()["completeness_percent"] == 99.99


KEYS = st.lists(st.one_of(st.integers(0, 50), st.text("abc", min_size=1, max_size=2)), unique_by=str, max_size=20)
SIZES = st.integers(0, 3)


@given(keys=KEYS, present=st.lists(st.tuples(KEYS, SIZES), max_size=3))
def test_each_key_is_either_there_or_missing(keys: Sequence[int | str], present: list[tuple[list[Any], int]]) -> None:
    share = share_of(keyed(*keys, min_bytes=2))
    for some, size in present:
        for key in some:
            share.add(f"raw/2024-25/{key}.json", str(key), size, NOW.timestamp())
    there = {str(key) for some, size in present if size >= 2 for key in some}
    coverage, gap = both(share)
    missing = share.missing()
    assert {str(key) for key in missing} == {str(key) for key in keys} - there
    assert coverage.present + len(missing) == coverage.expected == len(keys)
    assert 0 <= coverage.completeness <= 1
    assert (gap is None) == (not missing)
    assert gap is None or gap.params["missing_keys"] == sorted(missing, key=lambda key: (isinstance(key, str), key))


@given(
    count=st.none() | st.integers(0, 30),
    files=st.integers(0, 60),
    days_old=st.integers(0, 100),
    freshness=st.none() | st.integers(1, 50),
    partition=st.sampled_from(SEASONS.values),
)
def test_completeness_is_a_share_and_no_gap_is_made_for_what_is_complete(
    count: int | None, files: int, days_old: int, freshness: int | None, partition: str
) -> None:
    share = share_of(expected(count=count, freshness_days=freshness), partition, files=files, days_old=days_old)
    coverage, gap = both(share)
    assert 0 <= coverage.completeness <= 1 and 0 <= coverage.to_json()["completeness_percent"] <= 100
    fresh = partition != "2024-25" or freshness is None or days_old <= freshness
    if coverage.completeness == 1 and (fresh or not files):
        assert gap is None and coverage.state == "complete"
    else:
        assert gap is not None and coverage.state != "complete"
    assert (coverage.completeness == 1) == (files >= (1 if count is None else count))
