"""Which of a page's links are new to its run, at next to no cost for those that aren't."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import getsizeof

from tarantella.domain.outcome import Link
from tarantella.domain.refused import NOTHING_REFUSED, Refused
from tarantella.domain.scope import Scope
from tarantella.domain.struct import Frozen
from tarantella.domain.trap import TrapNote
from tarantella.domain.trap_counts import Traps
from tarantella.domain.url import MAX_LENGTH, Unfetchable, Url, as_browsers_read, fingerprint
from tarantella.extractors.place import ANYWHERE, Place, moved, origin_of
from tarantella.extractors.recent import Recent

# What a place in a set costs, and a set itself.
_SLOT = 100
_SET = 600
_UNSEEN: frozenset[str] = frozenset()

_NEVER_FETCHED = ("javascript:", "mailto:", "tel:", "data:")


class Discovered(Frozen):
    """What a page's links came to; those that were handled before are in neither."""

    links: Sequence[Link] = ()
    refused: Mapping[str, Refused] = NOTHING_REFUSED
    traps: tuple[TrapNote, ...] = ()


NOTHING_DISCOVERED = Discovered()


class LinkFilter:
    """Remembers what a run has seen, within bounds, and lets only the new through.

    What it forgets it lets through again, so the store's unique index has the last word. The other way round
    it can't be mended: whoever drops what was discovered (a settle that was refused, an attempt that is to be
    made again) must call `forget`, or those links are never heard of again.

    A page with very many links can be discovered in slices, to let others work in between.
    """

    def __init__(
        self,
        scope: Scope,
        max_depth: int | None,
        *,
        traps: Traps | None = None,
        remembered: int = 200_000,
        remembered_bytes: int = 32_000_000,
    ) -> None:
        self._scope = scope
        self._inside: tuple[str, int] | None = None  # a host and port of which all is in the scope
        self._max_depth = max_depth
        self._traps = traps
        # As numbers they take half the room.
        self._fingerprints: Recent[int] = Recent(remembered)
        # Hrefs as they are written, by what their meaning depends on: nothing, an origin, a folder or a file.
        self._handled: dict[str, set[str]] = {}
        self._handled_bytes = 0
        self._handled_limit = remembered_bytes

    @property
    def room(self) -> int:
        """How many pages it can be told of before it forgets the first of them."""
        return self._fingerprints.half

    def recall(self, marks: Iterable[str]) -> None:
        """These are pages of the run already: it was begun elsewhere, or before."""
        for mark in marks:
            self._fingerprints.add(int(mark, 16))

    def rebase(self, scope: Scope) -> None:
        """A start URL led elsewhere, and the scope with it: what was refused may now be wanted."""
        self._scope = scope
        self._inside = None
        self._forget_handled()

    def forget(self) -> None:
        """Let everything through again: something that was discovered did not reach the store."""
        self._fingerprints.clear()
        self._forget_handled()

    def discover(self, hrefs: Collection[str], page_url: str, base: str | None, depth: int) -> Discovered:
        """The links to add to the run, in the order of the page; its address must be a resolved one."""
        if not hrefs:
            return NOTHING_DISCOVERED
        here = page_url if base is None else moved(page_url, base)
        seen = self._handled.get(origin_of(here), _UNSEEN)
        if self._max_depth is not None and depth + 1 > self._max_depth:
            elsewhere = self._handled.get(ANYWHERE, _UNSEEN)
            deeper = [href for href in dict.fromkeys(hrefs) if href not in seen and href not in elsewhere]
            return Discovered((), {"depth": Refused.of(deeper)}) if deeper else NOTHING_DISCOVERED
        # On most pages of a site nothing is new, and this is all that happens.
        if seen.issuperset(hrefs):
            return NOTHING_DISCOVERED
        place = Place(here)
        unknown = set(hrefs) - seen - self._handled.get(ANYWHERE, _UNSEEN)
        if not unknown:
            return NOTHING_DISCOVERED
        fresh = [href for href in hrefs if href in unknown]
        seen = self._handled.get(place.folder, _UNSEEN)
        if seen.issuperset(fresh):
            return NOTHING_DISCOVERED
        in_file = self._handled.get(place.file, _UNSEEN)
        fresh = [href for href in dict.fromkeys(fresh) if href not in seen and href not in in_file]
        return self._admit(fresh, place, depth + 1) if fresh else NOTHING_DISCOVERED

    def listed(self, urls: Iterable[str], sitemap_url: str) -> Discovered:
        """The addresses to add of those in a sitemap: as if they had been given, so they are no traps and of depth 1."""
        place = Place(sitemap_url)
        links: list[Link] = []
        refused: dict[str, list[str]] = {}
        for href in urls:
            reference = as_browsers_read(href)
            outcome = "too_long" if len(reference) > MAX_LENGTH else self._new(reference, place, 1, None)
            if isinstance(outcome, Link):
                links.append(outcome)
            elif outcome is not None:
                refused.setdefault(outcome, []).append(href)
        return Discovered(links, {reason: Refused.of(hrefs) for reason, hrefs in refused.items()})

    def contains(self, url: Url) -> bool:
        """Whether an address is in the scope."""
        return self._scope.contains(url)

    def _admit(self, fresh: Sequence[str], place: Place, depth: int) -> Discovered:
        links: list[Link] = []
        refused: dict[str, list[str]] = {}
        paths: list[str] = []
        for href in fresh:
            if len(href) <= MAX_LENGTH and (url := place.resolve_path(href)) is not None:
                # As most sites write all their links.
                paths.append(href)
                outcome = self._weigh(url, depth, self._traps)
            else:
                outcome = self._look_at(href, place, depth)
            if isinstance(outcome, Link):
                links.append(outcome)
            elif outcome is not None:
                refused.setdefault(outcome, []).append(href)
        self._remember(place.origin, paths)
        notes = self._traps.news() if self._traps is not None else ()
        return Discovered(links, {reason: Refused.of(hrefs) for reason, hrefs in refused.items()}, notes)

    def _look_at(self, href: str, place: Place, depth: int) -> Link | str | None:
        """A new link, the reason for which it is refused, or None where there is nothing new about it."""
        reference = as_browsers_read(href)
        if not reference or reference.startswith("#"):
            self._remember(place.origin, [href])
            return None
        if len(reference) > MAX_LENGTH:
            return "too_long"
        if reference[:11].lower().startswith(_NEVER_FETCHED):
            self._remember(place.origin, [href])
            return "scheme"
        if (part := place.depends_on(reference)) is not None:
            self._remember(part, [href])
        return self._new(reference, place, depth, self._traps)

    def _new(self, reference: str, place: Place, depth: int, traps: Traps | None) -> Link | str | None:
        try:
            url = place.resolve(reference)
        except Unfetchable as refusal:
            return refusal.reason
        return self._weigh(url, depth, traps)

    def _weigh(self, url: Url, depth: int, traps: Traps | None) -> Link | str | None:
        if (url.host, url.port) != self._inside and not self._is_inside(url):
            return "scope"
        mark = fingerprint(url.href)
        number = int(mark, 16)
        if not self._fingerprints.add(number):
            return None
        if traps is not None and (rule := traps.refuses(url)) is not None:
            self._fingerprints.drop(number)  # a sitemap may still list it
            return f"trap_{rule}"
        return Link(url.href, mark, url.lane, depth)

    def _is_inside(self, url: Url) -> bool:
        inside = self._scope.contains(url)
        if inside and self._scope.by_host:
            self._inside = (url.host, url.port)
        return inside

    def _remember(self, part: str, hrefs: Collection[str]) -> None:
        if self._handled_bytes > self._handled_limit:
            self._forget_handled()
        seen = self._handled.get(part)
        if seen is None:
            seen = self._handled[part] = set()
            self._handled_bytes += getsizeof(part) + _SET
        seen.update(hrefs)
        self._handled_bytes += sum(map(getsizeof, hrefs)) + _SLOT * len(hrefs)

    def _forget_handled(self) -> None:
        self._handled.clear()
        self._handled_bytes = 0
