"""How much of a document is read: all of what people write, and not all of what is made to keep us busy."""

from __future__ import annotations

import pytest

from tarantella.extractors.excerpt import MOST_BYTES, MOST_MARKS, excerpt
from tarantella.extractors.page import Wants, extract


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p>short</p>",
        b"<b>" * (MOST_MARKS // 3),
        b"<a href=/x>x</a>" * (MOST_MARKS // 2),
        b"<p>" + b"lorem ipsum " * 1_000_000,
    ],
    ids=["nothing", "little", "many tags", "many links", "much text"],
)
def test_what_people_write_is_read_as_a_whole(body: bytes) -> None:
    assert excerpt(body) == body


@pytest.mark.parametrize("mark", [b"<b>", b"<", b"&", b"&amp;", b"<p>x"])
def test_more_marks_than_can_be_read_are_cut(mark: bytes) -> None:
    body = mark * (2 * MOST_MARKS)
    read = excerpt(body)
    assert body.startswith(read)
    assert MOST_MARKS * 0.9 < read.count(b"<") + read.count(b"&") <= MOST_MARKS


def test_more_bytes_than_can_be_read_are_cut() -> None:
    assert excerpt(b"x" * (MOST_BYTES + 1)) == b"x" * MOST_BYTES


@pytest.mark.parametrize("content_type", ["text/html", "text/xml", "text/plain"])
def test_a_document_that_was_cut_says_so(content_type: str) -> None:
    whole = extract(b"<p>hi</p>", content_type, Wants(text="none"))
    part = extract(b"<p>hi</p>" + b"x" * MOST_BYTES, content_type, Wants(text="none"))
    assert (whole.cut, part.cut) == (False, True)
