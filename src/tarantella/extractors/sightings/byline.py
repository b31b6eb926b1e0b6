"""Who wrote a page, and on which day."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from tarantella.domain.dates import NotADate, parse_date
from tarantella.extractors.selectors import text_of
from tarantella.extractors.sightings.looking import Sighting, is_here, place_of, short, visible
from tarantella.extractors.subject import Subject

_BY = re.compile(
    r"^\s*(?:(?:written|posted|published|words|story|report(?:ed)?|text|review(?:ed)?)\s+)?(?:by|von|par|por|di|da|door|av|af|przez|"
    r"autore?|author|auteur|autor(?:in)?|автор|作者|記者|文)\b\s*[:：]?\s*|^\s*(?:作者|記者|文|автор)\s*[:：]\s*",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"\s*(?:[|•·–—/]|,\s*(?=\d)|\bon\b\s|\bam\b\s|\ble\b\s|\bpublished\b|\bupdated\b|\bposted\b|\d{1,2}[.:/ ]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\().*$",
    re.IGNORECASE | re.DOTALL,
)
_NO_NAME = re.compile(
    r"@|https?:|\d{2}|^(?:share|follow|about|more|read|subscribe|comments?|advertisement|home|by|admin|twitter|facebook|instagram|whatsapp|linkedin|folgen|suivre|seguir|segui)\b|"
    r"^(?:photos?|fotos?|bild(?:er)?|images?|quelle|source|fuente|fonte)\s*:",
    re.IGNORECASE,
)
_BYLINES = (
    '[rel~="author"], [itemprop~="author"], .byline, .author, .author-name, .byline__name, .post-author, .entry-author, '
    '.article-author, .vcard .fn, [class*="byline" i], [class*="author" i], [class*="autor" i], [data-author]'
)


def author(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    for element, text in short(subject.tree, _BYLINES, 150):
        name = person(element.attr("data-author") or text)
        if name is not None and is_here(element):
            yield Sighting(name, f"byline {place_of(element)}")
    for element, text in short(subject.tree, "p, span, div, address, small, em, i, td", 120):
        if _BY.match(text) and (name := person(text)) is not None and is_here(element):
            yield Sighting(name, "byline in the text")
            return


def person(raw: str) -> str | None:
    """The name in a byline, or None where it is no name."""
    raw = " ".join(raw.split())
    if not raw or len(raw) > 150:
        return None
    name = _AFTER_NAME.sub("", _BY.sub("", raw, count=1)).strip(" ,;:|-–—·•")
    words = name.split()
    if not 1 <= len(words) <= 10 or len(name) > 80 or len(name) < 3 or _NO_NAME.search(name):
        return None
    return name if any(char.isalpha() for char in name) and not name.islower() else None


_TIMES = (
    'time[itemprop~="datePublished"], time[pubdate], time.published, time.entry-date, time[class*="publish" i], '
    '[itemprop~="datePublished"], abbr.published, time[datetime]'
)
_DAYS = (
    '[class*="publish" i], [class*="pubdate" i], [class*="date" i], [class*="datum" i], [class*="fecha" i], [class*="posted" i], '
    '[class*="timestamp" i], [class*="time" i], [id*="date" i], [class*="meta" i], [class*="byline" i], time'
)
_UPDATED = re.compile(r"updat|modif|aktualis|mis à jour|actualiz|aggiorn|bijgewerkt", re.IGNORECASE)
_UPDATED_WORD = re.compile(
    r"(?:last\s+)?(?:updated|modified|edited)|aktualisiert|zuletzt geändert|mise? à jour|actualizado|aggiornato|bijgewerkt|uppdaterad",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_DAY_IN_ADDRESS = re.compile(r"/((?:19|20)\d{2})[/-]?(0[1-9]|1[0-2])[/-]?(0[1-9]|[12]\d|3[01])(?:[/._-]|$)")


def published(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    for element in visible(html, _TIMES):
        raw = element.attr("datetime") or element.attr("content") or element.attr("title") or text_of(element)
        if raw and not _marks_update(element) and _is_day(raw, subject):
            yield Sighting(raw, f"time {place_of(element)}")
    for element, text in short(html, _DAYS, 200):
        if not _says_updated(text) and not _marks_update(element) and _is_day(text, subject) and is_here(element):
            yield Sighting(text, f"date {place_of(element)}")
    if found := _DAY_IN_ADDRESS.search(subject.page_url):
        yield Sighting(f"{found[1]}-{found[2]}-{found[3]}", "address")
    for element, text in short(html, "p, span, div, td, li, small, em, i, b, font, center", 80):
        if not _says_updated(text) and not _marks_update(element) and _is_day(text, subject) and is_here(element):
            yield Sighting(text, "date in the text")
            return


def _marks_update(element: Element) -> bool:
    """Whether the markup says that a date is that of a change."""
    names = (element.attr("class"), element.attr("itemprop"), element.attr("property"))
    return any(name and _UPDATED.search(name) for name in names)


def _says_updated(text: str) -> bool:
    """Whether a date is that of a change; in a longer line, another one may stand before it."""
    found = _UPDATED_WORD.search(text)
    return found is not None and not _DIGIT.search(text[: found.start()])


def modified(subject: Subject) -> Iterator[Sighting]:
    assert subject.tree is not None
    html = subject.tree
    places = (
        'time[itemprop~="dateModified"], [itemprop~="dateModified"], time[class*="updat" i], time[class*="modif" i]'
    )
    for element in visible(html, places):
        raw = element.attr("datetime") or element.attr("content") or text_of(element)
        if raw and _is_day(raw, subject):
            yield Sighting(raw, f"time {place_of(element)}")
    for element, text in short(html, "p, span, div, time, small, em, i, li", 200):
        found = _UPDATED_WORD.search(text)
        if found and _is_day(raw := text[found.end() :], subject) and is_here(element):
            yield Sighting(element.attr("datetime") or raw.strip(), f"date {place_of(element)}")


def _is_day(raw: str, subject: Subject) -> bool:
    if not _DIGIT.search(raw):
        return False
    try:
        parse_date(raw, subject.locale)
    except NotADate:
        return False
    return True
