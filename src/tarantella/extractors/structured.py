"""What a page says about itself for machines: JSON-LD, microdata, RDFa, and the names in its head."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any, TypeAlias

from turbohtml import Document
from turbohtml.extract import MicrodataItem, RdfaItem

from tarantella.domain.struct import Frozen
from tarantella.extractors.scripts import MAX_CHARACTERS, MAX_SCRIPTS, parse_json

MOST_THINGS = 2_000
_DEEPEST = 12
_MOST_METAS = 1_000
Properties: TypeAlias = Mapping[str, Any]

ARTICLE = frozenset(
    "article newsarticle blogposting reportagenewsarticle analysisnewsarticle opinionnewsarticle backgroundnewsarticle "
    "reviewnewsarticle liveblogposting socialmediaposting techarticle scholarlyarticle advertisercontentarticle report "
    "satiricalarticle discussionforumposting medicalscholarlyarticle posting podcastepisode review howto recipe".split()
)
PRODUCT = frozenset(
    "product productgroup individualproduct productmodel someproducts vehicle car book softwareapplication mobileapplication "
    "webapplication movie course hotelroom apartment house offer aggregateoffer".split()
)
OTHER = frozenset(
    "event musicevent theaterevent sportsevent businessevent jobposting videoobject localbusiness place".split()
)
PAGE = frozenset("webpage itempage aboutpage collectionpage contactpage faqpage profilepage".split())


class Thing(Frozen):
    """One thing that a page describes: what it is, what is said of it, and in which way."""

    types: frozenset[str]  # in small letters, without the vocabulary
    properties: Properties
    origin: str
    depth: int = 0


class Structure(Frozen):
    """All that a page says for machines."""

    things: tuple[Thing, ...]
    metas: Mapping[str, Sequence[str]]  # by name or property, in small letters
    by_id: Mapping[str, Properties]

    @classmethod
    def of(cls, html: Document) -> Structure:
        by_id: dict[str, Properties] = {}
        things = [*_json_ld(html, by_id), *_microdata(html), *_rdfa(html)]
        return cls(tuple(things), _metas(html), by_id)

    def of_kind(self, kinds: frozenset[str]) -> Iterator[Thing]:
        return (thing for thing in self.things if thing.types & kinds)

    def meta(self, *names: str) -> tuple[str, str] | None:
        """The first of these that says anything, with its name."""
        for name in names:
            for content in self.metas.get(name, ()):
                if content.strip():
                    return content.strip(), name
        return None


def _json_ld(html: Document, by_id: dict[str, Properties]) -> list[Thing]:
    things: list[Thing] = []
    for script in html.select('script[type*="ld+json" i]')[:MAX_SCRIPTS]:
        text = script.text
        if text and len(text) <= MAX_CHARACTERS:
            _gather(parse_json(text), things, by_id, 0)
    # What stands on its own says more of the page than what is part of something else.
    things.sort(key=lambda thing: thing.depth)
    return things


def _gather(value: Any, things: list[Thing], by_id: dict[str, Properties], depth: int) -> None:
    if depth > _DEEPEST or len(things) >= MOST_THINGS:
        return
    if isinstance(value, list):
        for each in value:
            _gather(each, things, by_id, depth)
        return
    if not isinstance(value, dict):
        return
    types = _types(value.get("@type"))
    if types:
        things.append(Thing(types, value, "json-ld", depth))
    if isinstance(identity := value.get("@id"), str) and len(value) > 1:
        by_id.setdefault(identity, value)
    if "@graph" in value:
        _gather(value["@graph"], things, by_id, depth)
    for name, each in value.items():
        if name != "@graph" and isinstance(each, (dict, list)):
            # The thing that a page is about is as good as the page.
            _gather(each, things, by_id, depth if name in ("mainEntity", "mainEntityOfPage") else depth + 1)


def _types(value: Any) -> frozenset[str]:
    values = value if isinstance(value, list) else [value]
    return frozenset(_term(each).lower() for each in values if isinstance(each, str) and each)


def _term(text: str) -> str:
    """The last part of an address: its word."""
    return re.split(r"[/#:]", text.strip().rstrip("/"))[-1]


def _microdata(html: Document) -> Iterator[Thing]:
    if html.select_one("[itemscope]") is None:
        return
    for item in html.microdata()[:MOST_THINGS]:
        yield from _of_microdata(item, 0)


def _of_microdata(item: MicrodataItem, depth: int) -> Iterator[Thing]:
    properties = _plain(item, 0)
    yield Thing(_types((item.type or "").split()), properties, "microdata", depth)
    if depth < _DEEPEST:
        for values in item.properties.values():
            for value in values:
                if isinstance(value, MicrodataItem) and value.type:
                    yield from _of_microdata(value, depth + 1)


def _rdfa(html: Document) -> Iterator[Thing]:
    if html.select_one("[typeof]") is None:
        return
    for item in html.rdfa()[:MOST_THINGS]:
        yield Thing(_types(item.type), _plain(item, 0), "rdfa")


def _plain(item: MicrodataItem | RdfaItem, depth: int) -> dict[str, Any]:
    """An item as JSON-LD would have it."""
    kind = item.type if isinstance(item.type, str) else (item.type[0] if item.type else "")
    properties: dict[str, Any] = {"@type": _term((kind or "").split()[0])} if kind else {}
    for name, values in item.properties.items():
        plain = [
            (_plain(value, depth + 1) if depth < _DEEPEST else None)
            if not isinstance(value, str)
            else " ".join(value.split())
            for value in values
        ]
        key = _term(name)
        for value in plain:
            if value in (None, ""):
                continue
            if key not in properties:
                properties[key] = value
            elif isinstance(properties[key], list):
                properties[key].append(value)
            else:
                properties[key] = [properties[key], value]
    return properties


def _metas(html: Document) -> dict[str, list[str]]:
    metas: dict[str, list[str]] = {}
    for element in html.select("meta[content]")[:_MOST_METAS]:
        content = element.attr("content")
        if not content:
            continue
        for attribute in ("property", "name", "itemprop", "http-equiv"):
            if name := element.attr(attribute):
                for each in name.lower().split():
                    metas.setdefault(each, []).append(" ".join(content[:5_000].split()))
    return metas


def values_at(properties: Any, path: str, by_id: Mapping[str, Properties]) -> list[Any]:
    """What stands at a path like offers.price, wherever there is one or several of something on the way."""
    found = [properties]
    for name in path.split("."):
        reached: list[Any] = []
        for each in found:
            if isinstance(each, dict):
                if len(each) == 1 and isinstance(reference := each.get("@id"), str):
                    each = by_id.get(reference, each)
                value = each.get(name)
                if isinstance(value, list):
                    reached.extend(value[:MOST_THINGS])
                elif value is not None:
                    reached.append(value)
        found = reached
    return [value for each in found if (value := _literal(each, by_id)) not in (None, "")]


def _literal(value: Any, by_id: Mapping[str, Properties]) -> Any:
    """A value that can stand in a record; of a thing, its name or address."""
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(reference := value.get("@id"), str) and reference in by_id:
            value = by_id[reference]
        if "@value" in value:
            return _literal(value["@value"], by_id)
        for name in ("name", "url", "contentUrl", "@id", "headline"):
            if isinstance(value.get(name), str) and value[name].strip():
                return _one_line(value[name])
        return None
    if isinstance(value, str):
        return _one_line(value)
    return value if isinstance(value, (int, float)) else None


def _one_line(text: str) -> str:
    # Many write in JSON what belongs in HTML.
    return " ".join((unescape(text) if "&" in text else text).split())
