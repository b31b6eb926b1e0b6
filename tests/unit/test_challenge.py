"""A page that stands in the way is told by what it is made of, and never by what it talks about."""

from __future__ import annotations

from typing import cast

import pytest
import turbohtml

from tarantella.domain.challenge import MOST_LINKS, MOST_WORDS, PASSING, TITLES, Signs, challenge, passes_by_itself
from tarantella.extractors.challenge import MOST_BYTES, find_challenge
from tarantella.extractors.page import Wants, extract
from tests.site.walls import NO_WALLS, WALLS

WANTS = Wants()


def found(title: str, body: str, wants: Wants = WANTS) -> str | None:
    html = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return extract(html.encode(), "text/html", wants, "http://site.test/").challenge


@pytest.mark.parametrize("name", WALLS)
def test_each_wall_is_known_and_says_why(name: str) -> None:
    assert found(*WALLS[name])
    assert found(*WALLS[name], Wants(text="none"))


@pytest.mark.parametrize("name", NO_WALLS)
def test_what_only_looks_like_one_is_a_page(name: str) -> None:
    assert found(*NO_WALLS[name]) is None
    assert found(*NO_WALLS[name], Wants(text="none")) is None


@pytest.mark.parametrize("name", WALLS)
def test_a_page_with_enough_to_read_or_to_follow_is_none_whatever_else_is_on_it(name: str) -> None:
    title, body = WALLS[name]
    assert found(title, body + "<p>" + "word " * (MOST_WORDS + 1) + "</p>") is None
    links = "".join(f"<a href=/{number}>x</a>" for number in range(MOST_LINKS + 1))
    assert found(title, body + links) is None
    assert found(title, body + "<!--" + "x" * MOST_BYTES + "-->") is None


@pytest.mark.parametrize("title", ["Just a moment...", "JUST  A\nMOMENT…", " just a moment "])
def test_a_title_is_compared_without_its_dress(title: str) -> None:
    assert challenge(Signs(links=0, words=3, title=title)) == "its title, 'just a moment'"


@pytest.mark.parametrize(
    "title",
    ["", "Just a moment: a short story", "Access denied for bots, says minister", "A security check for your car"],
)
def test_a_title_that_says_more_is_an_ordinary_one(title: str) -> None:
    assert challenge(Signs(links=0, words=3, title=title)) is None


def test_a_captcha_in_a_form_that_asks_for_more_is_there_to_be_used() -> None:
    assert challenge(Signs(links=0, words=3, widget=True)) == "a captcha and little else"
    assert challenge(Signs(links=0, words=3, widget=True, asks_more=True)) is None


def test_the_titles_are_written_as_they_are_compared() -> None:
    assert {" ".join(title.lower().split()).rstrip(" .…") for title in TITLES} == TITLES


class _Unread:
    """Stands for a page that must not be looked at: whatever is asked of it fails."""


@pytest.mark.parametrize(
    ("links", "words", "body"), [(MOST_LINKS + 1, 0, b"captcha"), (0, MOST_WORDS + 1, b"captcha"), (0, 0, b"no word")]
)
def test_a_page_that_can_be_no_challenge_is_not_looked_at(links: int, words: int, body: bytes) -> None:
    unread = cast("turbohtml.Document", _Unread())
    assert find_challenge(unread, body, "A title", links, words) is None


def test_a_page_that_could_be_one_is_looked_at() -> None:
    with pytest.raises(AttributeError):
        find_challenge(cast("turbohtml.Document", _Unread()), b"captcha", "A title", 0, 0)


def test_a_check_that_says_so_passes_by_itself_and_a_refusal_does_not() -> None:
    assert PASSING < TITLES
    assert passes_by_itself(Signs(links=0, words=3, title="Just a moment..."))
    assert not passes_by_itself(Signs(links=0, words=3, title="Access denied"))
    assert not passes_by_itself(Signs(links=MOST_LINKS + 1, words=3, title="Just a moment..."))
    assert not passes_by_itself(Signs(links=0, words=MOST_WORDS + 1, title="Just a moment..."))
