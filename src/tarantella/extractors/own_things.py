"""Which of the things that a page describes for machines are what the page is about."""

from __future__ import annotations

from tarantella.extractors import sightings as seen
from tarantella.extractors.structured import ARTICLE, PAGE, PRODUCT, Thing, values_at
from tarantella.extractors.subject import Subject


def main_things(subject: Subject, kinds: frozenset[str] | None) -> list[Thing]:
    """The things of a kind that the page is about, or of all kinds; nothing where it has many and none is its own."""
    structure = subject.structure
    if kinds is None:
        return [thing for thing in structure.things if thing.depth == 0][:20]
    found = [thing for thing in structure.of_kind(kinds) if thing.depth == 0]
    if not found and not kinds & ARTICLE:
        nested = list(structure.of_kind(kinds))
        found = nested if len(nested) == 1 else []
    if len(found) <= 1 or not kinds & PRODUCT or kinds & PAGE:
        return found[:5]
    own = [thing for thing in found if _is_own(thing, subject)]
    offers = [thing for thing in found if thing.types <= {"offer", "aggregateoffer"}]
    return own or (found if len(found) - len(offers) <= 1 else [])


def _is_own(thing: Thing, subject: Subject) -> bool:
    """Whether a thing has the address or the name of the page."""
    here = subject.page_url.partition("#")[0].rstrip("/")
    for key in ("url", "@id", "mainEntityOfPage"):
        for address in values_at(thing.properties, key, {}):
            if here and isinstance(address, str) and address.partition("#")[0].rstrip("/") == here:
                return True
    name = values_at(thing.properties, "name", {}) or values_at(thing.properties, "headline", {})
    titles = [sighting.value for sighting in seen.title(subject)]
    return any(
        isinstance(each, str) and each and any(each.casefold() in title.casefold() for title in titles) for each in name
    )
