"""Selectors for a value that somebody sees on a page, the best first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from turbohtml import Document, Element

from tarantella.domain.numbers import NotANumber, parse_currency, parse_price
from tarantella.domain.struct import Frozen
from tarantella.extractors.selectors import text_of
from tarantella.extractors.subject import Subject

MOST = 8
MOST_ELEMENTS = 5_000
MOST_LEAVES = 20_000  # of one JSON value
MOST_PLACES = 60  # of a value on one page
_ATTRIBUTES = ("content", "datetime", "href", "src", "alt", "title", "value", "aria-label")
_MEANING = ("itemprop", "property", "data-testid", "data-test", "data-qa", "data-hook", "data-cy", "name", "rel")
# Names that a program made up, and will make up anew: css-1x2y3z, sc-bdVaJa, Price_root__3kX9a, ember123.
_MADE_UP = re.compile(
    r"\d{3,}|(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Z])[A-Za-z0-9]{5,}|^(?:css|sc|jsx|svelte|ember|ng|_)-?[A-Za-z0-9]*$|__[A-Za-z0-9]{5,}$|[bcdfghjklmnpqrstvwxz]{6,}"
)
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Suggestion(Frozen):
    """A way to a value: how to write it as a field, what it gives, and how much to trust it."""

    selector: dict[str, str]  # css and attr, or jmespath
    value: str
    confidence: float
    matches: int  # how many it finds; with `all`, they are a list

    def to_json(self) -> dict[str, Any]:
        return {**self.selector, "value": self.value, "confidence": self.confidence, "matches": self.matches}


def suggest(subject: Subject, example: str) -> list[Suggestion]:
    """Selectors that find this text, or a number that is written differently, the best first."""
    wanted = " ".join(example.split())
    if not wanted:
        return []
    found: dict[tuple[tuple[str, str], ...], Suggestion] = {}
    for suggestion in (*_in_elements(subject, wanted), *_in_json(subject, wanted)):
        key = tuple(sorted(suggestion.selector.items()))
        if key not in found or found[key].confidence < suggestion.confidence:
            found[key] = suggestion
    return sorted(found.values(), key=lambda each: (-each.confidence, len(str(each.selector))))[:MOST]


def _in_elements(subject: Subject, wanted: str) -> Iterator[Suggestion]:
    html = subject.tree
    if html is None or subject.is_tangled:
        return
    places = 0
    number = _meant(wanted, subject)
    for element in html.select("body *, head title, head meta, head link")[:MOST_ELEMENTS]:
        if element.tag in ("script", "style", "noscript", "template"):
            continue
        for attr, text in _texts(element):
            exact = _likeness(text, wanted, number, subject)
            if not exact:
                continue
            yield from _ways(html, element, attr, text, exact)
            places += 1
            if places >= MOST_PLACES:
                return


def _texts(element: Element) -> Iterator[tuple[str | None, str]]:
    """The text of an element, if no smaller one has all of it, and its attributes."""
    if len(element.text) <= 3_000:
        text = text_of(element)
        children = [child for child in element.children if isinstance(child, Element)]
        if text and not any(len(child.text.strip()) >= 0.98 * len(element.text.strip()) for child in children):
            yield None, text
    for name in _ATTRIBUTES:
        if value := element.attr(name):
            yield name, " ".join(value[:3_000].split())
    for name in list(element.attrs)[:30]:
        if name.startswith("data-") and (value := element.attr(name)):
            yield name, " ".join(value[:3_000].split())


def _likeness(text: str, wanted: str, number: float | None, subject: Subject) -> float:
    """How much a text is what is wanted: all of it, the same number, or with something around it."""
    if text == wanted:
        return 1.0
    if text.casefold() == wanted.casefold():
        return 0.95
    if number is not None and len(text) <= 60 and _number(text, subject) == number:
        return 0.9
    if wanted in text and len(wanted) >= 3:
        return 0.3 + 0.5 * len(wanted) / len(text)
    return 0.0


def _meant(wanted: str, subject: Subject) -> float | None:
    """The number that is wanted, where it stands alone or with a currency: in SKU-0010 the number is not what is meant."""
    return _number(wanted, subject) if all(map(_is_currency, _WORD.findall(wanted))) else None


def _is_currency(word: str) -> bool:
    try:
        return bool(parse_currency(word))
    except NotANumber:
        return False


def _number(text: str, subject: Subject) -> float | None:
    if len(text) > 60 or not any(char.isdigit() for char in text):
        return None
    try:
        return float(parse_price(text, subject.locale))
    except NotANumber:
        return None


def _ways(html: Document, element: Element, attr: str | None, text: str, exact: float) -> Iterator[Suggestion]:
    """Selectors for an element, of which the first match is it."""
    for css, trust in _selectors(element):
        matches = html.select(css)
        if not matches or matches[0] != element:
            continue
        # One that finds many is right on this page, and may be wrong on the next.
        alone = 1.0 if len(matches) == 1 else max(0.5, 1.0 - 0.08 * len(matches))
        confidence = round(min(0.99, trust * alone * exact), 2)
        yield Suggestion({"css": css, **({"attr": attr} if attr else {})}, text[:200], confidence, len(matches))


def _selectors(element: Element) -> Iterator[tuple[str, float]]:
    """Ways to write an element down, and how likely each is to hold on the site's other pages."""
    own = list(_own(element))
    yield from own
    parent = element.parent
    for _ in range(4):
        if not isinstance(parent, Element) or parent.tag in ("body", "html"):
            break
        for outer, trust in _own(parent):
            if outer != parent.tag:
                for inner, more in own[:3]:
                    yield f"{outer} {inner}", round(trust * more * 0.97, 3)
        parent = parent.parent
    yield element.css_path(), 0.3


def _own(element: Element) -> Iterator[tuple[str, float]]:
    tag = element.tag
    if (name := element.attr("id")) and _is_name(name):
        yield f"#{name}", 0.9
    for attribute in _MEANING:
        if (value := element.attr(attribute)) and len(value) <= 60 and '"' not in value and "\\" not in value:
            yield f'{tag}[{attribute}="{value}"]', 0.97 if attribute in ("itemprop", "property") else 0.92
    classes = [name for name in (element.attr("class") or "").split() if _is_name(name)]
    for name in classes[:4]:
        yield f".{name}", 0.85
        yield f"{tag}.{name}", 0.85
    if len(classes) > 1:
        yield f"{tag}.{classes[0]}.{classes[1]}", 0.83
    if tag in ("h1", "title", "time", "address", "main", "article"):
        yield tag, 0.9
    else:
        yield tag, 0.35


def _is_name(name: str) -> bool:
    """Whether somebody wrote this name, so that it will be there tomorrow."""
    return bool(_NAME.fullmatch(name)) and len(name) <= 40 and not _MADE_UP.search(name)


def _in_json(subject: Subject, wanted: str) -> Iterator[Suggestion]:
    number = _meant(wanted, subject)
    for value in subject.json:
        for path, leaf in islice(_leaves(value, "", 0), MOST_LEAVES):
            text = " ".join(str(leaf).split()) if not isinstance(leaf, bool) else str(leaf).lower()
            exact = _likeness(text, wanted, number, subject)
            if exact >= 0.9:
                steps = path.count(".") + path.count("[")
                yield Suggestion({"jmespath": path}, text[:200], round(max(0.4, 0.9 - 0.05 * steps) * exact, 2), 1)


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > 12:
        return
    if isinstance(value, dict):
        for key, each in value.items():
            name = key if _KEY.fullmatch(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
            yield from _leaves(each, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list):
        for index, each in enumerate(value[:50]):
            yield from _leaves(each, f"{path}[{index}]" if path else f"[{index}]", depth + 1)
    elif value is not None and path:
        yield path, value
