"""A recheck: whether a cheaper strategy gives the same records by now as the one that is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

ALIKE_WORDS = 0.9  # the share of words that one text must have of the other
_TEXTS = ("text", "markdown")


def alike(cheap: Iterable[Mapping[str, Any]], dear: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the records of the cheaper strategy have all that those of the dearer one have.

    Fields that were asked for must be equal. Where there are none, titles must be, and texts and links nearly: what
    scripts add to a page for everybody, as a notice of cookies, is no reason to run them.
    """
    ours, theirs = list(cheap), list(dear)
    return len(ours) == len(theirs) and all(map(_as_good, ours, theirs))


def _as_good(cheap: Mapping[str, Any], dear: Mapping[str, Any]) -> bool:
    if "fields" in dear:
        return bool(cheap.get("fields") == dear["fields"])
    if cheap.get("title") != dear.get("title") or cheap.get("data") != dear.get("data"):
        return False
    if (cheap.get("links") or 0) < ALIKE_WORDS * (dear.get("links") or 0):
        return False
    return all(_has_words(cheap.get(name), dear.get(name)) for name in _TEXTS)


def _has_words(cheap: str | None, dear: str | None) -> bool:
    wanted = Counter((dear or "").split())
    found = wanted & Counter((cheap or "").split())
    return found.total() >= ALIKE_WORDS * wanted.total()
