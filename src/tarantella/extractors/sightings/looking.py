"""How a page is looked over for a value: only where it speaks of its own subject."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from turbohtml import Document, Element

from tarantella.extractors.selectors import text_of

MOST_LOOKED_AT = 300
MOST_SCANNED = 2_000


class Sighting(NamedTuple):
    """A raw value and where it was seen."""

    value: Any
    source: str


_ELSEWHERE = (
    'nav, footer, aside, [class*="related" i], [class*="recommend" i], [class*="carousel" i], [class*="sidebar" i], '
    '[class*="minicart" i], [class*="mini-cart" i], [id*="cart" i], [class*="comment" i], [id*="comment" i], [class*="upsell" i], '
    '[class*="cross-sell" i], [class*="also-" i], [class*="teaser" i], [class*="similar" i], [class*="newsletter" i], '
    '[class*="trending" i], [class*="most-read" i], [class*="popular" i], [hidden], [aria-hidden="true"]'
)


def visible(html: Document, selector: str) -> Iterator[Element]:
    """What a selector finds where the page speaks of its own subject, in order."""
    for element in html.select(selector)[:MOST_LOOKED_AT]:
        if element.closest(_ELSEWHERE) is None:
            yield element


def short(html: Document, selector: str, most: int) -> Iterator[tuple[Element, str]]:
    """What a selector finds that has a few words, with them; where it stands is for the caller to ask, because that takes longer."""
    for element in html.select(selector)[:MOST_SCANNED]:
        text = element.text
        if len(text) <= most * 2:
            text = " ".join(text.split())
            if 0 < len(text) <= most:
                yield element, text


def is_here(element: Element) -> bool:
    """Whether it stands where the page speaks of its own subject."""
    return element.closest(_ELSEWHERE) is None


def main_heading(html: Document) -> Element | None:
    return next((h1 for h1 in html.select("h1")[:10] if h1.closest("nav, footer, aside") is None and text_of(h1)), None)


def place_of(element: Element) -> str:
    """An element in a few letters."""
    own = element.attr("id")
    if own:
        return f"{element.tag}#{own[:40]}"
    first = (element.attr("class") or "").split()
    return f"{element.tag}.{first[0][:40]}" if first else element.tag
