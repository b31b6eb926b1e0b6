"""The text of an article, without what stands around it."""

from __future__ import annotations

import pytest
import turbohtml

from benchmarks.quality.articles import score, tarantella
from benchmarks.quality.layouts import pages
from benchmarks.quality.names import measure
from tarantella.extractors.article import CAREFUL, QUICK, read_article
from tarantella.extractors.markup_names import Meaning, meaning_of

PARAGRAPH = "The loom stood by the window for forty years, and nobody who came into the room could walk past it, unless they had to."
PAGE = """<html><body><nav><a href=/>Home</a></nav><article><h1>The loom</h1><div class="byline">By Ann</div>
<div class="article-body">{}<h2>How it began</h2>{}<ul><li>first, a beam</li><li>then a thread</li></ul>
<p class="caption">Photo: us</p><div class="related"><a href=/x>Another story</a></div></div></article>
<div id="comments"><p>I have always said so, and nobody has ever listened to me.</p></div></body></html>"""


def read(html: str) -> tuple[str, str, str]:
    found = read_article(turbohtml.parse(html), lambda: html)
    return found.text, found.markdown, found.by


def test_a_plain_article_is_read_by_the_quick_reader() -> None:
    body = f"<p>{PARAGRAPH}</p>" * 4
    text, markdown, by = read(PAGE.format(body, body))
    assert by == QUICK
    assert text.split("\n") == [*[PARAGRAPH] * 4, "How it began", *[PARAGRAPH] * 4, "first, a beam", "then a thread"]
    assert "## How it began" in markdown and "- first, a beam" in markdown


def test_a_page_without_much_text_is_read_with_care() -> None:
    text, markdown, by = read(PAGE.format(f"<p>{PARAGRAPH}</p>", ""))
    assert by == CAREFUL
    assert PARAGRAPH in text and PARAGRAPH in markdown


@pytest.mark.parametrize("html", ["", "<p>", "<body></body>", "<nav>x</nav>", "just text"])
def test_a_page_without_an_article_breaks_nothing(html: str) -> None:
    assert len(read(html)) == 3


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("entry-content", Meaning.BODY),
        ("articleBody", Meaning.BODY),
        ("StoryBody__text", Meaning.BODY),
        ("comments-area", Meaning.ANSWERS),
        ("related-posts", Meaning.OTHER),
        ("newsletterSignup", Meaning.OTHER),
        ("ad ad-slot", Meaning.OTHER),
        ("read-more", Meaning.OTHER),
        ("author-name", Meaning.LABEL),
        ("post-date", Meaning.LABEL),
        ("header", Meaning.NOTHING),
        ("commentary", Meaning.NOTHING),
        ("shadow", Meaning.NOTHING),
        ("", Meaning.NOTHING),
    ],
)
def test_names_in_markup_mean_something(name: str, meaning: Meaning) -> None:
    assert meaning_of(name) is meaning


def test_articles_in_many_layouts_are_read_well() -> None:
    scores = [score(tarantella(page.html), page.story.text).f1 for page in pages()]
    assert sum(scores) / len(scores) > 0.96


def test_names_in_many_styles_are_found_well() -> None:
    by_name, _, wrong = measure()
    assert min(tally.f1 for tally in by_name.values()) > 0.9, wrong


def test_a_text_goes_on_after_a_pointer_to_something_else_and_ends_where_its_author_is_presented() -> None:
    body = f"<p>{PARAGRAPH}</p>" * 9
    links = "<ul><li><a href=/x>Another story altogether</a></li></ul>"
    pointer, end = f"<p><strong>Read more</strong></p>{links}", f"<h3>About the author</h3><p>Ann: {PARAGRAPH}</p>" * 2
    text, _, _ = read(PAGE.format(body + pointer + f"<p>{PARAGRAPH}</p>" * 3, end))
    assert text.count(PARAGRAPH) == 12
    assert "Another story" not in text and "Read more" not in text and "Ann:" not in text


def test_a_short_text_that_is_all_there_is_needs_no_second_look() -> None:
    assert read(f"<body><h1>Short</h1><p>{PARAGRAPH}</p><p>{PARAGRAPH[::-1]}</p></body>")[2] == QUICK
