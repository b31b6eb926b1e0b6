"""The empty shell of a page that scripts would fill: told by what is missing, not by who made it."""

from __future__ import annotations

from typing import NamedTuple

# A page with more than this to read in its own part is a page, whatever scripts add to it.
MOST_WORDS = 30
# Header, navigation and footer may say this much around a page that is not there.
MOST_AROUND = 200
MOST_LINKS = 60
MOST_IMAGES = 2  # a logo, or two
# An empty place could be for a map or a chart. On a page that says hardly more than that, it is for the page.
MOST_BESIDE_A_PLACE = 8


class Signs(NamedTuple):
    """What of a page can tell that it is not there yet."""

    words: int = 0  # to be read in its own part
    around: int = 0  # and in its header, navigation and footer
    images: int = 0
    plays: bool = False  # a player or a frame: its content is elsewhere, and no script has to bring it
    fields: bool = False  # something to be filled in, as in a login
    scripts: bool = False  # that could write to it; those that only count visitors can't
    main: str | None = None  # an empty place where the content of a page should be
    place: str | None = None  # an empty place that could be for anything
    loading: bool = False  # a spinner, a skeleton, or the words for it
    asks: bool = False  # a notice for those who have no scripts


def shell(signs: Signs) -> str | None:
    """What gives the page away as one that scripts would fill, or None for a page like any other."""
    if not signs.scripts or signs.words > MOST_WORDS or signs.around > MOST_AROUND:
        return None
    if signs.plays or signs.fields or signs.images > MOST_IMAGES:
        return None
    if signs.main is not None:
        return f"nothing in {signs.main}"
    if signs.around > MOST_WORDS:
        return None
    if signs.asks and (signs.place is not None or signs.words <= MOST_BESIDE_A_PLACE):
        return "a notice that it needs scripts"
    if signs.loading and signs.words <= MOST_BESIDE_A_PLACE:
        return "it says that it is loading"
    if signs.place is not None and signs.words <= MOST_BESIDE_A_PLACE:
        return f"nothing in {signs.place}"
    if not signs.words and not signs.around and not signs.images:
        return "no text, only scripts"
    return None
