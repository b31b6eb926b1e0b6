"""What a page is called, without the name of its site."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tarantella.extractors.selectors import text_of
from tarantella.extractors.sightings.looking import Sighting, main_heading
from tarantella.extractors.subject import Subject

_DASHES = re.compile(r"\s+[|–—·»•]\s+|\s+[-:]{1,2}\s+|\s*\|\s*")


def title(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    heading = main_heading(html)
    said = text_of(heading) if heading is not None else ""
    element = html.find("title")
    whole = " ".join(element.text.split()) if element is not None else ""
    if said and (not whole or letters(said) in letters(whole) or len(html.select("h1")) == 1):
        yield Sighting(said, "h1")
    if whole:
        yield Sighting(without_site(whole, subject), "title")
    elif said:
        yield Sighting(said, "h1")


def without_site(text: str, subject: Subject) -> str:
    """A title without the name of its site before or behind it."""
    parts = [part for part in _DASHES.split(text) if part.strip()]
    if len(parts) < 2:
        return text
    site = subject.structure.meta("og:site_name", "application-name")
    name = letters(site[0]) if site else ""
    host = letters(re.sub(r"^[a-z]+://(?:www\.)?|[:/?#].*$", "", subject.page_url))
    for at in (-1, 0):
        part = letters(parts[at])
        if part and (
            part == name or (len(part) > 3 and part in host) or (len(part.split()) <= 5 and name and name in part)
        ):
            mark = parts[at]
            trimmed = text[: text.rfind(mark)] if at else text[text.find(mark) + len(mark) :]
            return trimmed.strip(" \t|–—·»•-:") or text
    return text


def letters(text: str) -> str:
    """The letters of a text, to compare by."""
    return "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if char.isalnum())
