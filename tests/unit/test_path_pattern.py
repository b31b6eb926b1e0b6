"""Patterns of paths: which files they mean, of which partition, with which key."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarantella.domain.path_pattern import KEY, LONGEST, NoPattern, Reader, Slot, pattern_of

SEASONS = ("2023-24", "2024-25")


def read(text: str, path: str, keys: dict[str, frozenset[str]] | None = None) -> list[tuple[str, str | None]]:
    pattern = pattern_of(text, "season", dated=False)
    return list(Reader(pattern, {(each,) * len(pattern.slots): each for each in SEASONS}, keys or {}).read(path))


@pytest.mark.parametrize(
    ("text", "meant", "not_meant"),
    [
        ("raw/*.json", ["raw/a.json", "raw/a.b.json"], ["raw/.json", "raw/x/a.json", "raw/a.jsonl", "a.json"]),
        ("raw/a?.json", ["raw/ab.json"], ["raw/a.json", "raw/a/.json", "raw/abc.json"]),
        ("raw/[ab]*", ["raw/a", "raw/bc"], ["raw/c", "raw/A"]),
        ("raw/[!ab]", ["raw/c"], ["raw/a", "raw//"]),
        ("raw/[]x]", ["raw/]", "raw/x"], ["raw/["]),
        ("raw/[a-c&&[]", ["raw/b", "raw/&", "raw/["], ["raw/d"]),
        ("raw/**/a.json", ["raw/a.json", "raw/x/y/a.json"], ["a.json", "raw/.x/a.json", "raw/xa.json"]),
        ("raw/**", ["raw/a", "raw/x/y"], ["raw", "raw/.a"]),
        ("raw/.a*", ["raw/.ab"], ["raw/a"]),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)"]),
        ("*", ["a", "a b\nc"], ["a/b", ".a"]),
    ],
)
def test_a_pattern_means_what_it_means_in_a_shell(text: str, meant: list[str], not_meant: list[str]) -> None:
    regex = pattern_of(text, None, dated=False).regex()
    assert [path for path in [*meant, *not_meant] if regex.fullmatch(path)] == meant


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("../raw/*.json", "leads out"),
        ("raw/../../x", "leads out"),
        ("/raw/*.json", "leads out"),
        ("~/raw", "leads out"),
        ("C:\\raw", "leads out"),
        ("s3://bucket/x", "leads out"),
        ("raw//x", "names nothing"),
        ("./raw/x", "names nothing"),
        ("raw/", "names nothing"),
        ("", "1 to 1,000"),
        ("x" * (LONGEST + 1), "1 to 1,000"),
        ("raw/\0", "can't be shown"),
        ("raw/\ud800", "can't be shown"),
        ("raw/{", "brace"),
        ("raw/}", "brace"),
        ("raw/{{season}}", "brace"),
        ("raw/[a", "without its"),
        ("raw/[z-a]", "makes no sense"),
        ("raw/x**", "stand alone"),
        ("raw/{day}", "{day} stands for nothing here; {season} and {key} would"),
        ("raw/{season.__class__}", "stands for nothing"),
        ("raw/{season:%Y}", "only days, months and years"),
        ("a/*a*a*a*a*b", "more than 4 stars"),
        ("**/a/**/b/**", "more than 2 times"),
    ],
)
def test_a_pattern_that_makes_no_sense_says_why(text: str, told: str) -> None:
    with pytest.raises(NoPattern) as caught:
        pattern_of(text, "season", dated=False)
    assert told in str(caught.value)


@pytest.mark.parametrize("shape", ["%H", "../%Y", "/%Y", "%Y/", "%Y//%m", "%Y*", "%"])
def test_a_day_in_a_path_is_made_of_its_parts(shape: str) -> None:
    with pytest.raises(NoPattern):
        pattern_of(f"raw/{{day:{shape}}}", "day", dated=True)


def test_a_partition_and_a_key_are_read_from_a_path() -> None:
    keys = {"2024-25": frozenset({"bos"})}
    assert read("raw/{season}/{key}.json", "raw/2024-25/bos.json", keys) == [("2024-25", "bos")]
    assert read("raw/{season}/{key}.json", "raw/2024-25/lal.json", keys) == [("2024-25", "lal")]
    assert read("raw/{season}/{key}.json", "raw/1999-00/bos.json", keys) == []
    assert read("{season}/{season}.csv", "2024-25/2024-25.csv") == [("2024-25", None)]
    assert read("{season}/{season}.csv", "2024-25/2023-24.csv") == []


def test_a_file_that_could_have_two_keys_has_both() -> None:
    keys = {"2024-25": frozenset({"1", "1_2", "2"})}
    assert read("{season}/{key}_*.json", "2024-25/1_2_x.json", keys) == [("2024-25", "1"), ("2024-25", "1_2")]


def test_a_season_beside_other_things_is_found() -> None:
    assert read("raw/*_{season}_*.json", "raw/games_2024-25_final.json") == [("2024-25", None)]
    keys = {"2023-24": frozenset({"a_b"})}
    assert read("raw/{season}_{key}.json", "raw/2023-24_a_b.json", keys) == [("2023-24", "a_b")]
    assert read("raw/{season}_{key}.json", "raw/2023-24_else.json", keys) == [("2023-24", "")]


def test_names_stand_for_themselves_whatever_is_in_them() -> None:
    pattern = pattern_of("raw/{league}_*.json", "league", dated=False)
    reader = Reader(pattern, {("a*[b]",): "a*[b]"}, {})
    assert list(reader.read("raw/a*[b]_1.json")) == [("a*[b]", None)]
    assert list(reader.read("raw/axxb_1.json")) == []


def test_the_beginning_that_is_fixed_says_where_to_look_and_how_deep() -> None:
    season = {Slot("season"): "2024-25"}

    def where(text: str) -> tuple[str, int | None]:
        pattern = pattern_of(text, "season", dated=False)
        return pattern.folder(season), pattern.depth()

    assert where("raw/{season}/*.json") == ("raw/2024-25", 1)
    assert where("raw/{season}.json") == ("raw", 1)
    assert where("*/{season}/x.json") == ("", 3)
    assert where("raw/{key}/{season}/x.json") == ("raw", 3)
    assert where("raw/{season}/**") == ("raw/2024-25", None)
    assert where("x.json") == ("", 1)


def test_a_day_can_be_folders() -> None:
    pattern = pattern_of("raw/{day:%Y/%m}/{day:%d}.json", "day", dated=True)
    texts = dict(zip(pattern.slots, ("2026", "01", "31"), strict=True))
    assert (pattern.folder(texts), pattern.depth(), pattern.path(texts)) == ("raw/2026/01", 1, "raw/2026/01/31.json")
    assert pattern.is_plain and pattern.is_certain
    assert list(Reader(pattern, {("2026", "01", "31"): "x"}, {}).read("raw/2026/01/31.json")) == [("x", None)]


PIECES = ["{season}", "{key}", "*", "?", "a", "_", "1", "/", "**/", ".json", "."]


@settings(max_examples=1_000)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=7),
    st.lists(st.sampled_from(["1", "11", "a", "_", "/", "1_1", ".json", "."]), min_size=1, max_size=8),
)
def test_reading_a_path_finds_what_trying_everything_finds(pieces: list[str], parts: list[str]) -> None:
    try:
        pattern = pattern_of("".join(pieces), "season", dated=False)
    except NoPattern:
        return
    path, seasons, keys = "".join(parts), ("1", "11", "1_1"), ("1", "a", "1_1", ".1")
    used = seasons if pattern.slots else seasons[:1]
    partitions = {(each,) * len(pattern.slots): each for each in used}
    expected = {
        (season, key if pattern.has_key else None)
        for (texts, season), key in product(partitions.items(), keys)
        if pattern.regex({**dict(zip(pattern.slots, texts, strict=True)), Slot(KEY): key}).fullmatch(path)
    }
    found = set(Reader(pattern, partitions, {each: frozenset(keys) for each in seasons}).read(path))
    assert {(season, key) for season, key in found if key is None or key in keys} == expected
