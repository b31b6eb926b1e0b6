"""Sitemaps: files in which a site lists its pages. Each is a page of the run that makes no record."""

from __future__ import annotations

from tarantella.domain.errors import InvalidInput
from tarantella.domain.outcome import Link
from tarantella.domain.page import PageKind
from tarantella.domain.scope import registrable_domain
from tarantella.domain.url import Unfetchable, Url, fingerprint, resolve, start_url

AUTO = "auto"
# The protocol knows an index and below it sitemaps; some sites have one level more. Deeper is a maze.
DEEPEST_INDEX = 5
# Of one run; one that lists more does so without end.
MOST_SITEMAPS = 100_000


def chosen(text: str) -> str:
    """What was asked for: `auto`, or an address as a person types it."""
    if text.strip().lower() == AUTO:
        return AUTO
    try:
        return start_url(text).href
    except Unfetchable as error:
        remedy = error.remedy or "Give the address of a sitemap, or auto for those that the site itself names."
        raise InvalidInput(error.message, remedy=remedy, field="sitemap") from None


def sitemap_link(url: Url, depth: int = 1) -> Link:
    """A sitemap as a page to be. It can be a page as well: one page then lists, the other is content."""
    return Link(url.href, _mark(PageKind.SITEMAP, url.href), url.lane, depth, PageKind.SITEMAP)


def guess_link(href: str) -> Link:
    """Where the sitemap of an address's host is by custom."""
    url = resolve("/sitemap.xml", href)
    return Link(url.href, _mark(PageKind.SITEMAP_GUESS, url.href), url.lane, 1, PageKind.SITEMAP_GUESS)


def marks(href: str) -> list[str]:
    """The fingerprints that an address has as a sitemap."""
    return [_mark(kind, href) for kind in (PageKind.SITEMAP, PageKind.SITEMAP_GUESS)]


def _mark(kind: PageKind, href: str) -> str:
    return fingerprint(f"{kind}:{href}")


def may_name(index: Url, sitemap: Url) -> bool:
    """Whether an index may send us to this sitemap: one on its own site. Elsewhere only the user or robots.txt can."""
    return registrable_domain(index.host) == registrable_domain(sitemap.host)
