"""Typed values: what people write, in many places of the world, and what it means."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.field import TYPES
from tarantella.domain.locale import Locale
from tarantella.domain.values import Unfit, typed

URL = "http://site.test/shop/"


def value(raw: Any, type_name: str, language: str = "", url: str = URL) -> Any:
    return typed(raw, type_name, Locale.of(language).at(url), url)


@pytest.mark.parametrize(
    ("raw", "language", "number"),
    [
        ("1,234.56", "en", 1234.56),
        ("1.234,56", "de", 1234.56),
        ("1.234,56", "en", 1234.56),  # only one reading makes sense
        ("1 234,5", "fr", 1234.5),
        ("1\u202f234,5", "fr", 1234.5),
        ("1'234.50", "de-CH", 1234.5),
        ("12,34,567", "en-IN", 1234567),
        ("1.299", "de", 1299),
        ("1.299", "en", 1.299),
        ("1,299", "en", 1299),
        ("1,299", "de", 1.299),
        ("0.123", "de", 0.123),
        ("-5", "", -5),
        ("\u22125", "", -5),
        ("45 %", "", 45),
        ("about 3 items", "en", 3),
        ("1.2K", "en", 1200),
        ("3 Mio", "de", 3_000_000),
        ("3.5万", "zh", 35_000),
        ("１，２３４", "ja", 1234),
        ("\u0661\u0662\u0663", "ar", 123),
        (7, "", 7),
        (7.5, "", 7.5),
    ],
)
def test_numbers_are_read_as_their_page_writes_them(raw: Any, language: str, number: float) -> None:
    assert value(raw, "number", language) == number


@pytest.mark.parametrize("raw", ["", "none", "4.5 out of 5", "1.2.3.4", "10-20", True, ["1"], {"a": 1}])
def test_what_is_not_one_number_is_no_number(raw: Any) -> None:
    with pytest.raises(Unfit):
        value(raw, "number", "en")


@pytest.mark.parametrize(
    ("raw", "language", "price"),
    [
        ("$1,299.00", "en-US", 1299),
        ("1.299,00 €", "de", 1299),
        ("ab 19,99 €*", "de", 19.99),
        ("1.299 €", "de", 1299),
        ("kr 1 299,-", "sv", 1299),
        ("CHF 12.-", "de-CH", 12),
        ("R$ 1.234,56", "pt-BR", 1234.56),
        ("19,99", "", 19.99),
        ("₹1,23,456", "en-IN", 123456),
        ("3 for £10", "en-GB", 10),
        ("Price: 20 EUR (was 30)", "en", 20),
        ("Free", "en", 0),
        # No blank between letters and number.
        ("EUR12.50", "", 12.5),
        ("Rs.1,499 (20% off)", "en-IN", 1499),
        ("RM50", "", 50),
        ("Rp12.000", "id", 12000),
        ("Model RM50, $20", "en", 20),
        # The sign belongs to the number that it touches.
        ("pack of 6, $3", "en", 3),
        ("6 £3", "en", 3),
        ("Ladder 6 ft $50", "en", 50),
        ("1 299 Ft", "hu", 1299),
        # In the place of the comma.
        ("29€90", "fr", 29.9),
        ("1 299€99", "fr", 1299.99),
        ("29€20% off", "en", 29),
        ("12€50cl", "fr", 12),
        ("10€20€", "", 10),
        # In hundredths.
        ("99¢", "en", 0.99),
        ("only 99 ¢ each", "en", 0.99),
        ("159.9¢/L", "en-CA", 1.599),
        ("2 for 150¢", "", 1.5),
        ("500¢", "", 5),
        ("５０￠", "ja", 0.5),
        ("$1.99 (25¢/oz)", "en", 1.99),
        ("$.99¢", "en", 0.99),
        # A sign in front is that of other currencies, and a letter could be anything.
        ("¢1,500", "es-CR", 1500),
        ("GH¢ 20", "en-GH", 20),
        ("99c", "", 99),
        # As wide as other characters there, and counted by ten thousands.
        ("１，２３４円", "ja", 1234),
        ("3,980万円", "ja", 39_800_000),
        ("1億2000万円", "ja", 120_000_000),
        ("3만5000원", "ko", 35_000),
        ("1\u2007234,56 €", "de", 1234.56),
    ],
)
def test_prices_are_numbers_beside_a_currency(raw: str, language: str, price: float) -> None:
    assert value(raw, "price", language) == price


@pytest.mark.parametrize("raw", ["on request", "2 for 3", ""])
def test_what_is_not_one_price_is_no_price(raw: str) -> None:
    with pytest.raises(Unfit):
        value(raw, "price", "en")


@pytest.mark.parametrize(
    ("raw", "language", "currency"),
    [
        ("$5", "en", "USD"),
        ("$5", "en-CA", "CAD"),
        ("A$5", "", "AUD"),
        ("5 kr", "sv", "SEK"),
        ("5 kr", "da", "DKK"),
        ("¥5", "zh-CN", "CNY"),
        ("¥5", "ja", "JPY"),
        ("19.99 gbp", "", "GBP"),
        ("12 zł", "pl", "PLN"),
        ("RM50", "", "MYR"),
        ("Rs. 20", "", "INR"),
        ("try", "", "TRY"),
        ("Try it for $5", "en", "USD"),
        ("6 ft ladder, $50", "en", "USD"),
        ("99¢", "en", "USD"),
        ("99¢", "en-CA", "CAD"),
    ],
)
def test_currencies_are_told_by_their_signs_and_the_language(raw: str, language: str, currency: str) -> None:
    assert value(raw, "currency", language) == currency


@pytest.mark.parametrize("raw", ["¢1,500", "GH¢ 20", "99c"])
def test_a_sign_of_several_currencies_tells_none(raw: str) -> None:
    with pytest.raises(Unfit):
        value(raw, "currency", "en")


def test_an_integer_is_whole() -> None:
    assert value("1,299", "integer", "en") == 1299
    assert value(3.0, "integer") == 3
    with pytest.raises(Unfit, match="whole"):
        value("12.5", "integer", "en")


@pytest.mark.parametrize(
    ("raw", "language", "date"),
    [
        ("2024-03-05", "", "2024-03-05"),
        ("2024-03-05T10:00:00+01:00", "", "2024-03-05T10:00:00+01:00"),
        ("2024-03-05T10:00:00.123Z", "", "2024-03-05T10:00:00+00:00"),
        ("2024-03-05 10:00", "", "2024-03-05T10:00:00"),
        ("20240305", "", "2024-03-05"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "", "2024-03-05T10:00:00+00:00"),
        ("1709632800", "", "2024-03-05T10:00:00+00:00"),
        ("03/05/2024", "en-US", "2024-03-05"),
        ("03/05/2024", "en-GB", "2024-05-03"),
        ("13/05/2024", "", "2024-05-13"),
        ("05.03.2024", "", "2024-03-05"),
        ("5.3.24", "de", "2024-03-05"),
        ("March 5th, 2024 at 3:07 PM EST", "en", "2024-03-05T15:07:00-05:00"),
        ("Published on 5 March 2024", "en", "2024-03-05"),
        ("5. Mai 2023, 14:30 Uhr", "de", "2023-05-05T14:30:00"),
        ("12 juillet 2023 à 10h30", "fr", "2023-07-12T10:30:00"),
        ("1er juin 2023", "fr", "2023-06-01"),
        ("5 de marzo de 2024", "es", "2024-03-05"),
        ("28 lipca 2020", "pl", "2020-07-28"),
        ("10 июля 2021 г.", "ru", "2021-07-10"),
        ("2024年3月5日", "ja", "2024-03-05"),
        ("2024년 3월 5일", "ko", "2024-03-05"),
        ("3 Mar 2024", "", "2024-03-03"),
        ("5 марта 2024 г., 14:30", "ru", "2024-03-05T14:30:00"),
        ("July 5, 2024 at 3:05 p.m. ET", "en", "2024-07-05T15:05:00-04:00"),
        ("March 9, 2024 3:05 p.m. CT", "en", "2024-03-09T15:05:00-06:00"),
        ("March 10, 2024 3:05 p.m. CT", "en", "2024-03-10T15:05:00-05:00"),
        ("Nov 3, 2024 3:05 p.m. PT", "en", "2024-11-03T15:05:00-08:00"),
    ],
)
def test_dates_are_read_in_many_languages(raw: str, language: str, date: str) -> None:
    assert value(raw, "date", language) == date


@pytest.mark.parametrize("raw", ["", "yesterday", "31/02/2024", "2024-13-01", "12", "99/99/9999", [], True])
def test_what_is_no_day_is_no_date(raw: Any) -> None:
    with pytest.raises(Unfit):
        value(raw, "date", "en-GB")


def test_a_day_that_could_be_two_is_not_guessed_where_nothing_tells_the_language() -> None:
    with pytest.raises(Unfit, match="locale"):
        value("03/05/2024", "date")
    assert value("03/05/2024", "date", url="https://shop.co.uk/") == "2024-05-03"


@pytest.mark.parametrize(("raw", "said"), [("Yes", True), ("nein", False), ("0", False), (True, True), ("✓", True)])
def test_yes_and_no_are_understood(raw: Any, said: bool) -> None:
    assert value(raw, "boolean") is said


def test_what_says_neither_yes_nor_no_is_told() -> None:
    with pytest.raises(Unfit, match="neither"):
        value("perhaps", "boolean")


def test_addresses_come_out_absolute_and_only_those_of_the_web() -> None:
    assert value("../tea?x=1", "url") == "http://site.test/tea?x=1"
    for raw in ("", "mailto:a@b.c", "javascript:void(0)", "two words", 5):
        with pytest.raises(Unfit):
            value(raw, "url")


@given(
    st.one_of(st.text(max_size=400), st.integers(), st.floats(), st.booleans()),
    st.sampled_from(TYPES),
    st.text(max_size=8),
)
def test_nothing_but_unfit_is_ever_raised(raw: Any, type_name: str, language: str) -> None:
    try:
        value(raw, type_name, language)
    except Unfit as error:
        assert str(error)
