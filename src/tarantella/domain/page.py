"""A page: one URL within a run, and the reasons for which it can be passed over."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tarantella.domain.struct import Struct


class PageKind(StrEnum):
    """What a page is for: its content, or the addresses that it lists."""

    PAGE = "page"
    SITEMAP = "sitemap"
    SITEMAP_GUESS = "sitemap_guess"  # where a host's sitemap is, unless its robots.txt names others


class PageState(StrEnum):
    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


PAGE_TRANSITIONS: Mapping[PageState, frozenset[PageState]] = {
    PageState.PENDING: frozenset({PageState.DONE, PageState.FAILED, PageState.SKIPPED}),
    # Only retry-failed takes a page back.
    PageState.FAILED: frozenset({PageState.PENDING}),
    PageState.SKIPPED: frozenset({PageState.PENDING}),
    PageState.DONE: frozenset(),
}


class Skip(StrEnum):
    """Why a page was passed over."""

    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    SCOPE = "scope"
    MAX_PAGES = "max_pages"
    DUPLICATE = "duplicate"
    CONTENT_TYPE = "content_type"
    SITEMAP = "sitemap"
    NO_SITEMAP = "no_sitemap"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    HOST_DOWN = "host_down"


# These leave something undone that the user asked for; the others are what the user would want.
INCOMPLETE_SKIPS = frozenset({Skip.ROBOTS_UNREACHABLE, Skip.DEADLINE, Skip.CANCELLED, Skip.HOST_DOWN})
# For these nobody asks for the page itself; the others are seen in what it answers.
UNTRIED_SKIPS = INCOMPLETE_SKIPS | {Skip.ROBOTS, Skip.MAX_PAGES}

SKIP_IN_WORDS: Mapping[Skip, str] = {
    Skip.ROBOTS: "robots.txt asks crawlers to stay away",
    Skip.ROBOTS_UNREACHABLE: "robots.txt could not be read, three times",
    Skip.SCOPE: "it leads out of the scope of the run",
    Skip.MAX_PAGES: "the limit of pages was reached",
    Skip.DUPLICATE: "another page already has this address",
    Skip.CONTENT_TYPE: "it is not a document",
    Skip.SITEMAP: "it is a sitemap, and only read for its addresses",
    Skip.NO_SITEMAP: "no sitemap is named in robots.txt, and none is here",
    Skip.DEADLINE: "the run's time was up",
    Skip.CANCELLED: "the run was cancelled",
    Skip.HOST_DOWN: "the host did not answer, three probes in a row",
}


class Page(Struct, frozen=True):
    """A pending page as its lane's owner took it."""

    id: int
    run_id: str
    fingerprint: str
    lane: str
    url: str
    depth: int
    tries: int
    charged: int
    strategy: str
    hops: int
    is_start: bool
    asked_url: str | None = None  # as it was found, if a redirect led it here from another host
    kills: bool = False  # an attempt at it killed a taster: it is not let near a worker again
    kind: PageKind = PageKind.PAGE
