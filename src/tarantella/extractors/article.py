"""The article on a page: by a quick reader, and by a careful one where the quick one can't be sure."""

from __future__ import annotations

from collections.abc import Callable

from turbohtml import Document

from tarantella.domain.struct import Frozen
from tarantella.extractors.prose import Prose, markdown_of, read_prose
from tarantella.extractors.tangle import is_tangled
from tarantella.extractors.text import main_text

QUICK = "quick"
CAREFUL = "careful"
HASTY = "hasty"  # of a page that can't be looked at in detail
# What a text must have to be taken from the quick reader.
_LEAST_CHARACTERS = 500
_LEAST_PARAGRAPHS = 3
_MUCH = 1_000  # characters that make up for few paragraphs: old pages break their lines and have none
_MOST_LINKS = 0.25
_LEAST_SHARE = 0.8  # of all paragraphs of the page, where nothing says that this is the place of a text
_LEAST_SHARE_OF_NAMED = 0.5
_HARDLY_ANY_LINKS = 0.1
_NEARLY_ALL = 0.95
_LEAST_OF_A_TEXT = 200
_LEAST_IN_PARAGRAPHS = 0.55
_MOST_CHARACTERS = 3_000_000  # of a page that the careful reader is given: it takes seconds for more


class Article(Frozen):
    """The text of an article, also in Markdown, and who read it."""

    text: str
    markdown: str
    by: str


def read_article(html: Document, source: Callable[[], str]) -> Article:
    """The article on a page, which is taken apart for it; `source` is the same page as it was sent."""
    if is_tangled(html):
        text = main_text(html)
        return Article(text, text, HASTY)
    prose = read_prose(html)
    if is_sure(prose):
        return Article(prose.text, markdown_of(prose), QUICK)
    careful = _read_carefully(source())
    if careful is None or len(careful.text) < len(prose.text) * 0.1:
        return Article(prose.text, markdown_of(prose), QUICK)
    return careful


def is_sure(prose: Prose) -> bool:
    """Whether the quick reader has seen all that tells an article: paragraphs, few links, and little text elsewhere."""
    share = _LEAST_SHARE_OF_NAMED if prose.strong else _LEAST_SHARE
    return (
        (_is_long(prose) or _is_all_there_is(prose))
        and prose.link_share <= _MOST_LINKS
        and prose.mass >= share * prose.total
        and prose.mass >= _LEAST_IN_PARAGRAPHS * len(prose.text)
    )


def _is_long(prose: Prose) -> bool:
    return len(prose.text) >= _LEAST_CHARACTERS and (prose.paragraphs >= _LEAST_PARAGRAPHS or prose.mass >= _MUCH)


def _is_all_there_is(prose: Prose) -> bool:
    """A short text on a page that has no other: who looks with more care finds less of it, or what is none."""
    return (
        prose.paragraphs > 1
        and prose.link_share <= _HARDLY_ANY_LINKS
        and prose.mass >= _NEARLY_ALL * max(prose.total, _LEAST_OF_A_TEXT)
    )


def _read_carefully(source: str) -> Article | None:
    if len(source) > _MOST_CHARACTERS or not source.strip():
        return None
    # Half a second to load, so only where it is needed.
    from trafilatura import bare_extraction
    from trafilatura.xml import xmltotxt

    try:
        found = bare_extraction(source, fast=True, include_comments=False, include_formatting=True)
        body = getattr(found, "body", None)
        if body is None:
            return None
        text, markdown = xmltotxt(body, include_formatting=False), xmltotxt(body, include_formatting=True)
    except Exception:
        # Whatever it stumbles over, the quick reader's text is better than none.
        return None
    return Article(text.strip(), markdown.strip(), CAREFUL) if text.strip() else None
