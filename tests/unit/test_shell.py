"""A page that scripts would fill is told by what is missing, and never by how it was made."""

from __future__ import annotations

import re
import time
from typing import Any, cast

import pytest
import turbohtml

from tarantella.domain.field import Field
from tarantella.domain.shell import MOST_AROUND, MOST_IMAGES, MOST_LINKS, MOST_WORDS, Signs, shell
from tarantella.extractors import shell as shells
from tarantella.extractors.charset import parse_html
from tarantella.extractors.page import Extracted, Wants, extract
from tarantella.extractors.shell import find_shell
from tests.site.shells import NO_SHELLS, SHELLS, STATE, html

URL = "http://site.test/"
EVERYTHING_MISSING = Signs(scripts=True, main="#root", place="#root", loading=True, asks=True)


def read(text: str, wants: Wants | None = None) -> Extracted:
    return extract(text.encode(), "text/html; charset=utf-8", wants or Wants(), URL)


@pytest.mark.parametrize("text", ["fast", "none", "article"])
@pytest.mark.parametrize("name", SHELLS)
def test_each_shell_is_known_and_says_why(name: str, text: str) -> None:
    assert read(SHELLS[name], Wants(text=text, aside=text == "article")).shell


@pytest.mark.parametrize("text", ["fast", "none"])
@pytest.mark.parametrize("name", NO_SHELLS)
def test_what_only_looks_like_one_is_a_page(name: str, text: str) -> None:
    assert read(NO_SHELLS[name], Wants(text=text)).shell is None


@pytest.mark.parametrize("name", SHELLS)
def test_no_shell_is_left_once_it_is_filled(name: str) -> None:
    filled = "<article><p>" + "A sentence about looms and linen. " * 10 + "</p></article>"
    assert read(re.sub("(?i)<body>", f"<body>{filled}", SHELLS[name])).shell is None


@pytest.mark.parametrize(
    "change",
    [
        {"scripts": False},
        {"words": MOST_WORDS + 1},
        {"around": MOST_AROUND + 1},
        {"images": MOST_IMAGES + 1},
        {"plays": True},
        {"fields": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_one_good_reason_makes_it_a_page(change: dict[str, Any]) -> None:
    assert shell(EVERYTHING_MISSING)
    assert shell(EVERYTHING_MISSING._replace(**change)) is None


@pytest.mark.parametrize("sign", ["main", "place", "loading", "asks"])
def test_each_sign_is_enough_where_nothing_else_is_said(sign: str) -> None:
    value = "#x" if sign in ("main", "place") else True
    assert shell(Signs(words=5, scripts=True, **{sign: value}))  # type: ignore[arg-type]
    assert shell(Signs(words=5, scripts=True)) is None


def test_data_in_the_page_counts_when_it_is_what_was_asked_for() -> None:
    facts = '{"@context": "https://schema.org", "@type": "Product", "name": "Loom", "offers": {"price": "49.90"}}'
    page = html(f'<div id="root"></div><script type="application/ld+json">{facts}</script><script src=/a.js></script>')

    def looks_empty(*names: str) -> bool:
        return read(page, Wants(fields=tuple(map(Field, names)), short=False)).shell is not None

    assert looks_empty()
    assert not looks_empty("price")
    assert not looks_empty("title", "price")
    assert looks_empty("price", "author"), "a part of it is not enough"
    assert looks_empty("title"), "any shell has a title"


def test_data_in_a_script_counts_when_a_field_is_found_in_it() -> None:
    page = html(f'<div id="__next"></div><script type="application/json">{STATE}</script><script src=/a.js></script>')
    found = Field("names", jmespath="products[].name", all=True)
    assert read(page, Wants(fields=(found,), short=False)).shell is None
    missing = Field("names", jmespath="articles[].name", all=True)
    assert read(page, Wants(fields=(missing,), short=False)).shell is not None


def test_a_page_without_end_is_looked_at_for_a_moment() -> None:
    deep = html("<div>" * 5_000 + "<script src=/a.js></script>")
    wide = html("<div id=x><i></i></div>" * 50_000 + "<script src=/a.js></script>")
    began = time.process_time()
    assert read(deep).shell is None
    read(wide)
    assert time.process_time() - began < 2.0


class _Unread:
    """Stands for a page that must not be looked at: whatever is asked of it fails."""


def test_a_page_of_which_enough_is_known_is_not_looked_at() -> None:
    unread = cast("turbohtml.Document", _Unread())
    assert find_shell(unread, MOST_LINKS + 1, 0) is None
    assert find_shell(unread, 1, MOST_WORDS + MOST_AROUND + 1) is None
    with pytest.raises(AttributeError):
        find_shell(unread, 1, 0)


def test_of_an_ordinary_page_only_the_length_of_its_text_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "<p>lorem ipsum dolor sit amet <a href=/x>consectetur</a></p>"
    page = parse_html(html(words * 200, "<script src=/a.js></script>").encode(), "utf-8")
    monkeypatch.delattr(shells._Look, "at")
    assert find_shell(page, 1, 0) is None
    with pytest.raises(AttributeError):
        find_shell(parse_html(SHELLS[next(iter(SHELLS))].encode(), "utf-8"), 1, 0)
