"""Which of a page's links are new to its run, at next to no cost for those that aren't."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from tarantella.domain.scope import Scope
from tarantella.domain.url import MAX_LENGTH, Unfetchable, Url, fingerprint, redact, resolve
from tarantella.extractors.recent import Recent

SAMPLES = 3
_SAMPLE_LENGTH = 300
# What a string and its place in a set cost beside its characters.
_OVERHEAD = 150
_FOLDER_OVERHEAD = 600

_BLANKS = "".join(map(chr, range(0x21)))
_NOT_FETCHED = ("javascript:", "mailto:", "tel:", "data:", "sms:", "whatsapp:", "about:", "blob:")
_FROM_ORIGIN = ("/", "http://", "https://")
# Nothing in here is changed by any parser, if no segment begins with a dot, escaped or not.
_PLAIN_PATH = re.compile(r"(?:/[A-Za-z0-9_~!$&()*+,;=:@-][A-Za-z0-9_~!$&()*+,;=:@.-]*)+/?(?:\?[A-Za-z0-9_~!$&()*+,;=:@.%/?-]+)?")
_PLAIN_RELATIVE = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9_~.-]*(?:\?[A-Za-z0-9_~=&.%-]+)?")


@dataclass(frozen=True, slots=True)
class Found:
    """A link that belongs to the run and was not known."""

    url: str
    fingerprint: str
    lane: str
    depth: int


@dataclass(frozen=True, slots=True)
class Refused:
    """How many links were turned away for one reason, and what some of them look like."""

    count: int
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discovered:
    links: Sequence[Found] = ()
    refused: Mapping[str, Refused] = field(default_factory=lambda: MappingProxyType({}))


_NOTHING = Discovered()


class LinkFilter:
    """Remembers what a run has seen, within bounds, and lets only the new through.

    What it forgets it lets through again, so the store's unique index has the last word. The other way round it
    can't be corrected: whoever drops what was discovered (a settle that was refused, an attempt that will be made
    again) must call `forget`, or those links are never heard of again.

    A page with very many links can be discovered in slices; the links found are the same.
    """

    def __init__(
        self, scope: Scope, max_depth: int | None, *, remembered: int = 200_000, remembered_bytes: int = 32_000_000
    ) -> None:
        self._scope = scope
        self._max_depth = max_depth
        self._fingerprints = Recent(remembered)
        # Hrefs as written, by what their meaning depends on: the origin, or the folder they were found in.
        self._handled: dict[str, set[str]] = {}
        self._handled_bytes = 0
        self._handled_limit = remembered_bytes

    def rebase(self, scope: Scope) -> None:
        """A start URL led elsewhere, and with it the scope; what was refused may now be wanted."""
        self._scope = scope
        self._forget_handled()

    def forget(self) -> None:
        """Let everything through again: something that was discovered did not reach the store."""
        self._fingerprints.clear()
        self._forget_handled()

    def discover(self, hrefs: Collection[str], page_url: str, base: str | None, depth: int) -> Discovered:
        """The links to add to the run, in the order in which they stand in the page. `page_url` is a resolved address."""
        if not hrefs:
            return _NOTHING
        if self._max_depth is not None and depth + 1 > self._max_depth:
            return _too_deep(hrefs)
        here = page_url if base is None else _effective_base(base, page_url)
        origin, folder = _places(here)
        seen = self._handled.get(origin)
        if seen is None:
            seen = frozenset()
        elif seen.issuperset(hrefs):
            return _NOTHING
        seen_in_folder = self._handled.get(folder, frozenset())
        fresh = [href for href in dict.fromkeys(hrefs) if href not in seen and href not in seen_in_folder]
        return self._admit(fresh, here, origin, folder, depth + 1) if fresh else _NOTHING

    def _admit(self, fresh: Sequence[str], here: str, origin: str, folder: str, depth: int) -> Discovered:
        links: list[Found] = []
        refusals = _Refusals()
        home = resolve(here)
        for href in fresh:
            reference = href.strip(_BLANKS)
            if not reference or reference[0] == "#":
                continue
            if len(reference) > MAX_LENGTH:
                refusals.add("too_long", href)
                continue
            self._remember(reference, href, origin, folder)
            if reference[:11].lower().startswith(_NOT_FETCHED):
                refusals.add("scheme", href)
                continue
            try:
                url = _plainly(reference, home, origin, folder) or resolve(reference, here)
            except Unfetchable as refusal:
                refusals.add(refusal.reason, href)
                continue
            if not self._scope.contains(url):
                refusals.add("scope", href)
                continue
            mark = fingerprint(url.href)
            if mark not in self._fingerprints:
                self._fingerprints.add(mark)
                links.append(Found(url.href, mark, url.lane, depth))
        return Discovered(links, refusals.told())

    def _remember(self, reference: str, href: str, origin: str, folder: str) -> None:
        if reference.startswith(_FROM_ORIGIN):
            place = origin
        elif _depends_on_file(reference):
            return
        else:
            place = folder
        seen = self._handled.get(place)
        if seen is None:
            seen = self._handled[place] = set()
            self._handled_bytes += len(place) + _FOLDER_OVERHEAD
        seen.add(href)
        self._handled_bytes += len(href) + _OVERHEAD
        if self._handled_bytes > self._handled_limit:
            self._forget_handled()

    def _forget_handled(self) -> None:
        self._handled.clear()
        self._handled_bytes = 0
