"""How a gap becomes a command line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.gap import Gap
from tarantella.domain.run import Priority
from tarantella.domain.scraper import NoCommand, Retry, Scraper, arguments, is_name


def gap(**params: Any) -> Gap:
    return Gap("a", Priority.LOW, "league", "x", params)


def test_what_is_accepted_becomes_flags_in_the_order_in_which_it_is_accepted() -> None:
    scraper = Scraper("x", accepted_parameters=("season", "game_ids"))
    told = gap(game_ids=[401579404, 401579405], missing_files=["a"], season="2024-25")
    assert arguments(scraper, told) == ["--season", "2024-25", "--game-ids", "401579404,401579405"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, []),
        (False, []),
        ([], []),
        ("", []),
        (True, ["--p"]),
        (0, ["--p", "0"]),
        (1.5, ["--p", "1.5"]),
        ("a b", ["--p", "a b"]),
        (["a", "b"], ["--p", "a,b"]),
        ({"a": 1}, ["--p", '{"a": 1}']),
        ("--evil", ["--p=--evil"]),
        ("-x", ["--p=-x"]),
        (-1, ["--p=-1"]),
        ("$(touch here); `x`", ["--p", "$(touch here); `x`"]),
    ],
)
def test_values_are_told_as_scripts_read_them(value: Any, told: list[str]) -> None:
    assert arguments(Scraper("x", accepted_parameters=("p",)), gap(p=value)) == told


def test_without_a_list_a_script_is_told_whatever_the_gap_says() -> None:
    assert arguments(Scraper("x"), gap(season="2024", data_type="box")) == ["--season", "2024", "--data-type", "box"]
    assert arguments(Scraper("x", accepted_parameters=()), gap(season="2024")) == []


@pytest.mark.parametrize("name", ["-x", "a b", "", "x=y", "ä", "--"])
def test_a_name_that_can_be_no_flag_is_refused(name: str) -> None:
    with pytest.raises(NoCommand):
        arguments(Scraper("x"), gap(**{name: "1"}))


@pytest.mark.parametrize("value", ["x" * 120_001, "a\0b"])
def test_what_no_command_line_takes_is_refused(value: str) -> None:
    with pytest.raises(NoCommand):
        arguments(Scraper("x"), gap(p=value))


@given(st.text())
def test_no_value_becomes_an_option(value: str) -> None:
    try:
        told = arguments(Scraper("x"), gap(p=value))
    except NoCommand:
        return
    assert told == [] or told[0] == "--p" or told[0].startswith("--p=")
    assert len(told) < 2 or not told[1].startswith("-")


@pytest.mark.parametrize("name", ["league", "league_scraper", "a.b-c", "x1"])
def test_names_of_scripts(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "a\0", "-x", ".hidden", "a b", "x."])
def test_what_leads_somewhere_is_no_name(name: str) -> None:
    assert not is_name(name)


def test_a_gap_may_take_what_is_expected_of_it_else_what_its_scraper_may_else_five_minutes() -> None:
    assert Scraper("x").seconds_for(gap()) == 300
    assert Scraper("x", timeout=20).seconds_for(gap()) == 20
    assert Scraper("x", timeout=20).seconds_for(Gap("a", Priority.LOW, "s", "x", {}, 2.0)) == 120


def test_retries_wait_twice_as_long_each_time() -> None:
    assert [Retry(9, 2.0, 10.0).delay(failures) for failures in (1, 2, 3, 4, 900)] == [2, 4, 8, 10, 10]
