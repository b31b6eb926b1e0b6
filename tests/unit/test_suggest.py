"""Selectors that are suggested for a value."""

from __future__ import annotations

import pytest
import turbohtml

from tarantella.extractors.subject import Subject
from tarantella.extractors.suggest import suggest

PAGE = "<title>Product 10</title><h1>Product 10</h1><p class=sku>SKU-0010</p><b class=price>€ 10.00</b>"


def values(wanted: str) -> list[str]:
    subject = Subject(turbohtml.parse(PAGE), source=lambda: PAGE, base_url=str, page_url="")
    return [each.value for each in suggest(subject, wanted)]


def test_what_only_has_the_same_number_in_it_is_not_the_same() -> None:
    assert set(values("SKU-0010")) == {"SKU-0010"}


@pytest.mark.parametrize("wanted", ["€ 10.00", "10 EUR", "10.0"])
def test_a_price_is_found_however_it_is_written(wanted: str) -> None:
    assert "€ 10.00" in values(wanted)
