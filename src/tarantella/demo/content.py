"""What the demo site consists of, and what a complete crawl of it should find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil

from tarantella.demo.article import Article, write, write_all
from tarantella.demo.stories import SECTIONS, Story

ARTICLES: tuple[Article, ...] = write_all()

UNLISTED = write(
    Story(
        "The Number That Was Never Printed",
        (
            "This article stands in no list. Its old address still points here, so that only readers who "
            "follow a redirect to its end will ever find it. The printer blames the cat; the cat has made no "
            "statement."
        ),
        "the printing shop",
        "the missing number",
    ),
    SECTIONS[0],
    len(ARTICLES),
)

ARCHIVE_PAGE_SIZE = 12
ARCHIVE_PAGES = ceil(len(ARTICLES) / ARCHIVE_PAGE_SIZE)

HOME = "/"
ABOUT = "/about"
CURIOSITIES = "/curiosities"
SWING_BRIDGE = "/curiosities/swing-bridge"
TICKET_WINDOW = "/curiosities/ticket-window"
SIESTA = "/curiosities/siesta"
LOST_AT_SEA = "/curiosities/lost-at-sea"
TODAYS_STORY = "/curiosities/todays-story"
OLD_ADDRESS = "/curiosities/old-address"
PUPPET_THEATRE = "/curiosities/puppet-theatre"
BACK_DOOR = "/curiosities/back-door"
TIDES = "/data/tides.json"
EDITORS_DRAWER = "/private/editors-drawer"

ROBOTS_TXT = """\
# Everybody is welcome, except in the editor's drawer.
User-agent: *
Disallow: /private/
"""

SWING_BRIDGE_REFUSALS = 2
TICKET_WINDOW_REFUSALS = 1
TICKET_WINDOW_RETRY_AFTER_SECONDS = 1
SIESTA_SECONDS = 1.5

# Today's story is linked from the same page as its redirect, and before it: whoever follows the redirect
# knows the article already, so that the redirect is a duplicate in every order of crawling.
REDIRECTS: Mapping[str, str] = {
    TODAYS_STORY: ARTICLES[0].path,
    OLD_ADDRESS: UNLISTED.path,
}

TIDE_TABLE: Mapping[str, object] = {
    "place": "the small sea",
    "unit": "centimetres above the lowest step",
    "tides": [
        {"hour": hour, "height": height, "high": height > 20}
        for hour, height in (("03:10", 31), ("09:25", 8), ("15:40", 34), ("21:55", 11))
    ],
}


class Ending(StrEnum):
    """How a page should end."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Page:
    """An address that a crawler finds, and what should become of it there."""

    path: str
    ending: Ending = Ending.DONE
    reason: str = ""
    refusals: int = 0
    without_browser: tuple[Ending, str] | None = None  # how it ends for whoever has none, and why


@dataclass(frozen=True, slots=True)
class Expected:
    """The outcome of a crawl from the home page that follows every link."""

    done: int
    failed: int
    skipped: int
    refusals: int
    reasons: Mapping[str, int]

    @property
    def total(self) -> int:
        return self.done + self.failed + self.skipped


def section_path(key: str) -> str:
    return f"/sections/{key}"


def desk_path(key: str) -> str:
    return f"/desks/{key}"


def archive_path(number: int) -> str:
    return f"/archive?page={number}"


def tally(pages: Iterable[Page], *, browser: bool) -> Expected:
    """Count the pages by how they should end, for a crawler with a browser or without one."""
    pages = tuple(page if browser else _without_browser(page) for page in pages)
    endings = Counter(page.ending for page in pages)
    return Expected(
        done=endings[Ending.DONE],
        failed=endings[Ending.FAILED],
        skipped=endings[Ending.SKIPPED],
        refusals=sum(page.refusals for page in pages),
        reasons=Counter(page.reason for page in pages if page.reason),
    )


def _without_browser(page: Page) -> Page:
    if page.without_browser is None:
        return page
    ending, reason = page.without_browser
    return replace(page, ending=ending, reason=reason)


PAGES: tuple[Page, ...] = (
    Page(HOME),
    Page(ABOUT),
    *(Page(section_path(section.key)) for section in SECTIONS),
    *(Page(desk_path(section.key)) for section in SECTIONS),
    *(Page(archive_path(number)) for number in range(1, ARCHIVE_PAGES + 1)),
    *(Page(article.path) for article in ARTICLES),
    Page(CURIOSITIES),
    Page(SWING_BRIDGE, refusals=SWING_BRIDGE_REFUSALS),
    Page(TICKET_WINDOW, refusals=TICKET_WINDOW_REFUSALS),
    Page(SIESTA),
    Page(LOST_AT_SEA, Ending.FAILED, "not_found"),
    Page(TODAYS_STORY, Ending.SKIPPED, "duplicate"),
    Page(OLD_ADDRESS),
    Page(PUPPET_THEATRE, without_browser=(Ending.FAILED, "browser")),
    Page(BACK_DOOR, without_browser=(Ending.FAILED, "blocked")),
    Page(TIDES),
    Page(EDITORS_DRAWER, Ending.SKIPPED, "robots"),
)

EXPECTED = tally(PAGES, browser=False)
EXPECTED_WITH_BROWSER = tally(PAGES, browser=True)
