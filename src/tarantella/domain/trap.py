"""Traps: addresses that a site makes up without end. What is endless can't be known, only what looks like it.

Three rules look at an address alone, three count how many addresses share a pattern. Each has a limit that can be raised,
or switched off with `off`. What was given by the user or listed in a sitemap is not checked: such lists end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, Self
from zlib import crc32

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import Frozen, asdict, replace
from tarantella.domain.url import redact

OFF = "off"
LARGEST_LIMIT = 1_000_000_000
LONG = 20  # digits; nobody wants to read more, and Python does not write thousands
# A calendar goes on for ever; what it shows between these years could be wanted.
EARLIEST_YEAR = 1900
YEARS_AHEAD = 10

DATE = "{date}"
_MONTH, _DAY = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
# A date that ends a path: /2030/04, /2030-04-01, /2030/04/01/. With something behind it, it is a story of that day.
_DATE_IN_PATH = re.compile(rf"/([0-9]{{4}})[/-]{_MONTH}(?:[/-]({_DAY}))?/?$")
_DATE = re.compile(rf"([0-9]{{4}})-{_MONTH}(-{_DAY}(?:T.*)?)?")
_COMPACT_DATE = re.compile(r"([0-9]{4})(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])?")
_FOUR_DIGITS = re.compile(r"[0-9]{4}")
_CALENDAR = re.compile(r"(?:^|[^a-z])(?:calend|kalend|event|agenda|schedul|month|week|day|date|archiv)")
# The last word of a parameter's name: month, tribe_month, cal[month].
_OF_DATE = re.compile(r"(?:^|[^a-z])(?:date|day|month|week)\]?$")
_OF_YEAR = re.compile(r"(?:^|[^a-z])(?:year|yr|y)\]?$")
_OF_PART = re.compile(r"(?:^|[^a-z])(?:month|mon|m|week|w|day|d)\]?$")
# The number of a page of a list, which ends where the list does.
_PAGE_NUMBER = re.compile(
    r"(?:page|p|pg|paged|page[_-]?(?:no|nr|num|number|index)|seite|pagina|start|offset|skip)=[0-9]*", re.IGNORECASE
)


class TrapRule(StrEnum):
    LENGTH = "length"
    FOLDERS = "folders"
    REPEATS = "repeats"
    DATES = "dates"
    COMBINATIONS = "combinations"
    QUERIES = "queries"


RULE_IN_WORDS: Mapping[TrapRule, str] = {
    TrapRule.LENGTH: "characters in an address",
    TrapRule.FOLDERS: "folders in a path",
    TrapRule.REPEATS: "times one folder in a path",
    TrapRule.DATES: "dates at one place, as calendars have them",
    TrapRule.COMBINATIONS: "combinations of a few values in the queries of one path",
    TrapRule.QUERIES: "queries of one path",
}


class TrapLimits(Frozen):
    """How much of each is let through; None is no limit."""

    length: int | None = 2_000
    folders: int | None = 20
    repeats: int | None = 3
    dates: int | None = 5_000
    combinations: int | None = 1_000
    queries: int | None = 100_000

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not 1 <= value <= LARGEST_LIMIT:
                raise out_of_range(name, value)

    @classmethod
    def none(cls) -> Self:
        return cls(**dict.fromkeys(TrapRule))

    def with_limit(self, text: str) -> Self:
        """One of them changed: `dates=100`, `queries=off`."""
        name, _, value = (part.strip().lower() for part in text.partition("="))
        if name not in self.__struct_fields__ or not (value == OFF or value.isdecimal()):
            raise InvalidInput(
                f"{text[:80]!r} is not a trap limit.",
                remedy=f"Write NAME=NUMBER or NAME={OFF}, where NAME is one of {', '.join(TrapRule)}.",
                field="trap_limit",
            )
        # Of a number that is too long to be a limit, the beginning is enough to tell.
        return replace(self, **{name: None if value == OFF else int(value.lstrip("0")[:LONG] or 0)})

    def __str__(self) -> str:
        return ", ".join(f"{name}={OFF if value is None else value}" for name, value in asdict(self).items())


def out_of_range(name: str, value: int) -> InvalidInput:
    """The refusal of a limit that is too small or too large, however long it is."""
    shown = str(value) if abs(value) < 10 ** (LONG - 1) else f"a number of {LONG} digits or more"
    return InvalidInput(
        f"The trap limit {name} is {shown}, which is not between 1 and {LARGEST_LIMIT}.",
        remedy=f"Choose a value in that range, or {OFF}.",
        field="trap_limit",
    )


class TrapNote(NamedTuple):
    """What is known of one pattern: how many addresses it had, and whether that was enough."""

    rule: str
    pattern: str
    addresses: int
    limit: int  # 0 where it was not about a number
    stopped: bool
    sample: str

    @property
    def key(self) -> str:
        return f"{self.rule} {self.pattern}"

    @property
    def in_words(self) -> str:
        """Why it was stopped."""
        return f"more than {self.limit:,} {RULE_IN_WORDS[TrapRule(self.rule)]}" if self.limit else "years without end"

    @property
    def let_through_by(self) -> str:
        """The limit that lets it through the next time."""
        return f"{self.rule}={'N' if self.limit else OFF}"


class Dated(NamedTuple):
    """An address that has a date where calendars have it."""

    pattern: str
    year: int
    sure: bool  # without a day, and without a word that says calendar, it may be something else


def shape_trap(href: str, limits: TrapLimits) -> TrapRule | None:
    """The rule that an address breaks by its looks alone."""
    if limits.length is not None and len(href) > limits.length:
        return TrapRule.LENGTH
    segments = href.partition("?")[0].rstrip("/").split("/")[3:]
    if limits.folders is not None and len(segments) > limits.folders:
        return TrapRule.FOLDERS
    most = limits.repeats
    # Whatever occurs more often than allowed makes the set so much smaller.
    if most is not None and len(segments) > most and len(segments) - len(set(segments)) >= most:
        if Counter(segments).most_common(1)[0][1] > most:
            return TrapRule.REPEATS
    return None


def combines(query: str) -> bool:
    """Whether a query puts together several parameters, not counting the page of a list."""
    filters = 0
    for pair in query.split("&") if "&" in query else ():
        filters += bool(pair) and _PAGE_NUMBER.fullmatch(pair) is None
        if filters > 1:
            return True
    return False


def dated(href: str) -> Dated | None:
    """The date in an address and what the address is without it, if there is one."""
    head, _, query = href.partition("?")
    if query:
        return _dated_query(head, query)
    if not head[-2:].rstrip("/")[-1:].isdigit():
        return None
    found = _DATE_IN_PATH.search(head)
    if found is None:
        return None
    before = head[: found.start()]
    return Dated(f"{_place(before)}/{DATE}", int(found[1]), sure=found[2] is not None or _is_calendar(before))


def _dated_query(head: str, query: str) -> Dated | None:
    if _FOUR_DIGITS.search(query) is None:
        return None
    pieces, blank = [], []
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        piece = _piece(name.lower(), value) if value[:1].isdecimal() else None
        if piece is not None:
            pieces.append(piece)
        blank.append(pair if piece is None else f"{name}{equals}{DATE}")
    sure = any(piece.sure for piece in pieces)
    years = [piece.year for piece in pieces if piece.year is not None]
    # A year alone is a filter of a shop for wine or cars; with a month it is a page of a calendar.
    if not years or not (sure or any(piece.whole for piece in pieces)):
        return None
    return Dated(redact(f"{_place(head)}?{'&'.join(blank)}"), max(years), sure or _is_calendar(head))


class _Piece(NamedTuple):
    """What one parameter tells of a date."""

    year: int | None
    whole: bool = False
    sure: bool = False


def _piece(name: str, value: str) -> _Piece | None:
    if (found := _DATE.fullmatch(value)) is not None:
        return _Piece(int(found[1]), whole=True, sure=found[2] is not None or _OF_DATE.search(name) is not None)
    if not value.isdecimal():
        return None
    if len(value) <= 2:
        return _Piece(None, sure=True) if _OF_PART.search(name) else None
    if len(value) == 4:
        return _Piece(int(value)) if _OF_YEAR.search(name) else None
    if _OF_DATE.search(name) and (found := _COMPACT_DATE.fullmatch(value)) is not None:
        return _Piece(int(found[1]), whole=True, sure=True)
    return None


def _is_calendar(head: str) -> bool:
    return _CALENDAR.search(_place(head).partition("/")[2].lower()) is not None


def _place(head: str) -> str:
    return head.partition("://")[2]


def short(pattern: str, limit: int = 200) -> str:
    """A pattern that can be kept and shown: what is cut off still tells two of them apart."""
    return pattern if len(pattern) <= limit else f"{pattern[: limit - 10]}…{crc32(pattern.encode()):08x}"
