"""Pages made to break a reader: they are read or given up, quickly, and nothing else happens."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.field import fields_of
from tarantella.domain.scope import Scope, ScopeKind
from tarantella.domain.spec import Field, Spec
from tarantella.domain.url import resolve
from tarantella.extractors.links import LinkFilter
from tarantella.extractors.names import RULES
from tarantella.extractors.page import ExtractionFailed, NotADocument, Wants, extract

WANTS = Wants.of(Spec(fields=(Field("divs", "div"), Field("links", "a", "href"))))
URL = "http://site.test/"
# Far above what they take (under two seconds on an idle machine), far below what anything quadratic would.
SECONDS = 20.0

HOSTILE = {
    "nested": b"<div>" * 100_000,
    "nested with text": b"<div>x" * 100_000,
    "nested links": b"<a href=/x>" * 100_000,
    "nested tables": b"<table><tr><td>" * 30_000,
    "misnested": b"<a><b><i><u>" * 3_000 + b"</a></b>" * 3_000,
    "many links": b"".join(b'<a href="/p/%d">x</a>' % n for n in range(500_000)),
    "much text": b"<p>" + b"lorem ipsum " * 1_700_000,
    "much text in no declared charset": b"<p>" + "h\u00e9llo w\u00f6rld ".encode("latin1") * 1_700_000,
    "many attributes": b"<div " + b"".join(b"a%d=1 " % n for n in range(100_000)) + b">",
    "never closed": b"<a href=/x " * 200_000,
    "comments": b"<!--" * 500_000,
    "angle brackets": b"<" * 2_000_000,
    "ampersands": b"&" * 2_000_000,
    "a title without end": b"<title>" + b"x " * 2_000_000,
    "metas": b"<meta name=description content=x>" * 100_000,
    "bases": b"<base href=x>" * 100_000,
    "empty": b"",
    "nothing but blanks": b" \n" * 1_000_000,
}


TANGLED = {
    "nested paragraphs": b"<p>some words here, and more of them " * 50_000,
    "nested lists": b"<ul><li>words and words and words" * 30_000,
    "nested JSON-LD": b'<script type="application/ld+json">' + b'{"@type":"Product","offers":[' * 3_000,
    "many JSON-LD": b'<script type="application/ld+json">{"@type":"Product","offers":{"price":1}}</script>' * 10_000,
    "names": b"".join(b"<div class='c%d comment-%d'>word " % (n, n) for n in range(30_000)),
    "headings": b"<h2>Related</h2><p>words and more words of the same kind here</p>" * 20_000,
    "microdata": b"<div itemscope itemtype='http://schema.org/Product'><b itemprop=name>x</b>" * 10_000,
}
EVERYTHING = Wants.of(Spec(text="article", fields=fields_of([*RULES, "colour"])))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HOSTILE, *TANGLED])
def test_a_hostile_page_has_its_article_and_names_looked_for_in_bounded_time(name: str) -> None:
    started = time.process_time()
    extract({**HOSTILE, **TANGLED}[name], "text/html", EVERYTHING, URL)
    assert time.process_time() - started < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_in_bounded_time(name: str) -> None:
    started = time.process_time()
    extract(HOSTILE[name], "text/html", WANTS, URL)
    assert time.process_time() - started < SECONDS


@pytest.mark.slow
def test_half_a_million_links_are_filtered_in_bounded_time_and_memory() -> None:
    page = extract(HOSTILE["many links"], "text/html", WANTS, URL)
    filter_ = LinkFilter(Scope.of(ScopeKind.HOST, [resolve(URL)], (), ()), None)
    started = time.process_time()
    assert len(filter_.discover(page.hrefs, URL, None, 1).links) == 500_000
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<a>" * 100_000, "text/xml"),
        (b"<r>" + b"<a/>" * 300_000 + b"</r>", "text/xml"),
        (b"\xff" * 1_000_000, "text/plain"),
        (b"[" * 1_000_000, "application/json"),
        (b"\0" * 1_000_000, "text/html"),
    ],
)
def test_other_hostile_documents_are_read_in_bounded_time(body: bytes, content_type: str) -> None:
    started = time.process_time()
    try:
        extract(body, content_type, WANTS, URL)
    except NotADocument:
        pass
    assert time.process_time() - started < SECONDS


@given(
    st.binary(max_size=400) | st.text(alphabet="<>/=\"'& \0aé!-[]{}:;#tdpscriplembk", max_size=400).map(str.encode),
    st.sampled_from(
        [
            "text/html",
            "text/html; charset=utf-16",
            "text/xml",
            "application/json",
            "text/plain",
            "",
            "x; charset=gbk",
        ]
    ),
)
def test_any_bytes_are_read_or_refused_with_one_of_the_two_errors(body: bytes, content_type: str) -> None:
    try:
        extract(body, content_type, WANTS, URL)
    except (NotADocument, ExtractionFailed):
        pass


def test_mutilated_pages_are_read() -> None:
    dice = random.Random(7)
    page = (
        b"<html><head><title>T</title></head><body>"
        + b"<div><p>one <a href=/x>two</a></p><table><tr><td>3</table></div>" * 20
    )
    for _ in range(500):
        body = bytearray(page)
        for _ in range(dice.randrange(1, 30)):
            start = dice.randrange(len(body))
            body[start : start + dice.randrange(1, 20)] = dice.randbytes(dice.randrange(6))
        try:
            extract(bytes(body), "text/html", WANTS, URL)
        except NotADocument:
            pass
