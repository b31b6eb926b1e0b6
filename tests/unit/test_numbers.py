"""Numbers that nothing could hold are refused where they are read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tarantella.domain.numbers import LARGEST, NotANumber, parse_integer, parse_number, parse_price

PARSERS = (parse_number, parse_integer, parse_price)


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize("text", ["123456789012345678901234567890", "-9999999999999999999", "99999999999 B"])
def test_a_whole_number_of_more_than_64_bits_is_too_large(parse: Callable[[str], float], text: str) -> None:
    with pytest.raises(NotANumber, match="it is too large"):
        parse(text)


@pytest.mark.parametrize("parse", PARSERS)
def test_the_largest_is_not(parse: Callable[[str], float]) -> None:
    assert parse(str(LARGEST)) == LARGEST


def test_what_is_written_with_an_exponent_is_too_large_only_as_a_whole_number() -> None:
    assert parse_number("1e30") == 1e30
    with pytest.raises(NotANumber, match="it is too large"):
        parse_integer("1e30")
