"""Which of the links that are found belong to a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache
from typing import Any

from tarantella.domain.struct import Frozen, field
from tarantella.domain.url import Url, shown


class ScopeKind(StrEnum):
    HOST = "host"
    DOMAIN = "domain"
    PATH = "path"
    ANY = "any"


MAX_KNOWN = 10_000


class Scope(Frozen, eq=False):
    """A start address and its neighbourhood, narrowed by patterns over whole addresses."""

    kind: ScopeKind
    roots: frozenset[str]
    include: re.Pattern[str] | None
    exclude: re.Pattern[str] | None
    _known: dict[tuple[str, int], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: ScopeKind, roots: Sequence[Url], include: Sequence[str], exclude: Sequence[str]) -> Scope:
        return cls(kind, frozenset(_territory(kind, url) for url in roots), _either(include), _either(exclude))

    @property
    def by_host(self) -> bool:
        """Whether of an address nothing counts but its host and port."""
        return self.kind is not ScopeKind.PATH and self.include is None and self.exclude is None

    def contains(self, url: Url) -> bool:
        if self.include is not None and not self.include.match(url.href):
            return False
        if self.exclude is not None and self.exclude.match(url.href):
            return False
        known = self._known.get((url.host, url.port))
        return known if known is not None else self._look_at(url)

    def _look_at(self, url: Url) -> bool:
        if self.kind is ScopeKind.PATH:
            return _address(url).startswith(tuple(self.roots))
        # For the other kinds the host decides, and a page has many links to few hosts.
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        inside = self.kind is ScopeKind.ANY or _territory(self.kind, url) in self.roots
        self._known[url.host, url.port] = inside
        return inside


def kept_out_by(
    kind: ScopeKind, roots: Sequence[Url], include: Sequence[str], exclude: Sequence[str], url: Url
) -> tuple[str, str] | None:
    """What keeps an address out of such a scope, in words, and what would let it in; only to explain it, for it takes its time."""
    for pattern in exclude:
        if Scope.of(ScopeKind.ANY, (), (pattern,), ()).contains(url):
            return f"The pattern {shown(pattern)} excludes it", "other patterns to exclude"
    if include and not Scope.of(ScopeKind.ANY, (), include, ()).contains(url):
        return "No pattern to include matches it", "other patterns to include"
    if not Scope.of(kind, roots, (), ()).contains(url):
        return f"It is outside the scope, which is {_AROUND[kind]}", "another scope"
    return None


_AROUND: Mapping[ScopeKind, str] = {
    ScopeKind.HOST: "the host of a start address",
    ScopeKind.DOMAIN: "the registered domain of a start address",
    ScopeKind.PATH: "the folder of a start address",
    ScopeKind.ANY: "everything",
}


def _territory(kind: ScopeKind, url: Url) -> str:
    if kind is ScopeKind.HOST:
        return url.server
    if kind is ScopeKind.DOMAIN:
        return registrable_domain(url.host)
    if kind is ScopeKind.PATH:
        return _address(url).partition("?")[0].rpartition("/")[0] + "/"
    return ""


def _address(url: Url) -> str:
    return f"{url.server}/{url.href.split('/', 3)[3]}"


def _either(patterns: Sequence[str]) -> re.Pattern[str] | None:
    # Shell patterns, not regular expressions: they can't be made to backtrack for ever.
    return re.compile("|".join(translate(pattern) for pattern in patterns)) if patterns else None


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """The part of a host name that somebody registered: `news.example.co.uk` → `example.co.uk`."""
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    found: str | None = _public_suffixes().privatesuffix(host)
    return found or host


@lru_cache(maxsize=4096)
def is_public_suffix(domain: str) -> bool:
    """Whether strangers have their sites directly below this domain, as below `co.uk` or `github.io`."""
    found: bool = _public_suffixes().is_public(domain)
    return found


@lru_cache(maxsize=1)
def _public_suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
