"""How a story becomes an article: by rotation, so that every start of the demo tells the same gazette."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from tarantella.demo.stories import SECTIONS, Section, Story

FIRST_NUMBER = date(2024, 1, 6)
DAYS_BETWEEN_NUMBERS = 5

_HOURS = ("half past five", "six o'clock", "the evening bell", "a quarter to ten", "midnight", "dawn")
_WINDS = ("sirocco", "north wind", "sea breeze", "land wind", "south-westerly")
_COUNTS = ("seven", "nine", "eleven", "thirteen", "seventeen", "twenty-two", "thirty-one")
_CLOSINGS = (
    "The next number will say how it went on. Until then {place} is open to all who wipe their feet.",
    "A reader asks for a moral. There is none; but there is {thing}, to be seen on any day but Sunday.",
    "So it was told to us, and we have taken out only what was untrue, and a good deal of what was rude.",
    "Corrections may be left at {place}, in the blue box. The red box is for fish.",
    "As we went to press the {wind} had turned, {thing} was in its place, and nobody asked for more.",
    "More could be said, and at {place} it usually is. We stop here because the page does.",
    "If you go, go slowly. Whatever is worth seeing there has been waiting for longer than you have.",
)


@dataclass(frozen=True, slots=True)
class Article:
    """One article as readers see it."""

    slug: str
    title: str
    section: Section
    published: date
    paragraphs: tuple[str, ...]
    ware: str
    price_cents: int

    @property
    def path(self) -> str:
        return f"/articles/{self.slug}"

    @property
    def price(self) -> str:
        return f"{self.price_cents // 100}.{self.price_cents % 100:02d}"

    @property
    def summary(self) -> str:
        """The first sentence, which is what lists and search engines show."""
        return re.split(r"(?<=[.?!]) ", self.paragraphs[0], maxsplit=1)[0]


def write(story: Story, section: Section, number: int) -> Article:
    """Write the gazette's article with this number."""
    names = {
        "place": story.place,
        "thing": story.thing,
        "hour": _HOURS[number % len(_HOURS)],
        "wind": _WINDS[number % len(_WINDS)],
        "count": (count := _COUNTS[number % len(_COUNTS)]),
        "Count": count.capitalize(),
    }
    # The sections take turns, so that the number alone would give a section the same few choices each time.
    turn = number // len(SECTIONS)
    pool = section.paragraphs
    shared = [pool[(turn + 5 * step) % len(pool)] for step in range(1 + (number + turn) % 4)]
    closing = _CLOSINGS[(number * 3) % len(_CLOSINGS)]
    return Article(
        slug=_slug(story.title),
        title=story.title,
        section=section,
        published=FIRST_NUMBER + timedelta(days=DAYS_BETWEEN_NUMBERS * number),
        paragraphs=(story.lead, *(text.format(**names) for text in (*shared, closing))),
        ware=section.wares[turn % len(section.wares)],
        price_cents=120 + (number * 135) % 2400,
    )


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", "")).strip("-")


def write_all() -> tuple[Article, ...]:
    """All listed articles, the newest first, the sections taking turns."""
    longest = max(len(section.stories) for section in SECTIONS)
    turns = [
        (section.stories[turn], section)
        for turn in range(longest)
        for section in SECTIONS
        if turn < len(section.stories)
    ]
    return tuple(write(story, section, number) for number, (story, section) in enumerate(turns))[::-1]
