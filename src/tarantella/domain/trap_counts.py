"""Counts what could go on without end, within bounds, and says when it is enough."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from math import log
from zlib import crc32

from tarantella.domain.trap import (
    EARLIEST_YEAR,
    YEARS_AHEAD,
    Dated,
    TrapLimits,
    TrapNote,
    TrapRule,
    combines,
    dated,
    shape_trap,
    short,
)
from tarantella.domain.url import Url, redact

PATTERNS = 4_096  # counted at the same time; the one that was not met for longest is forgotten first
STOPPED = 1_000  # patterns that are told of one by one
# A count is stored each time another tenth of its limit is reached: so much more at most a resumed run lets through.
STORED_AT = 10
# Where one parameter has a value for every few addresses, it names things, and each address is one of them.
# Otherwise they are combinations of the same few values.
ADDRESSES_PER_VALUE = 20
SAMPLE_LENGTH = 300
FOREVER = 1_000_000_000
_DIGITS = "0123456789"


class Traps:
    """The trap rules of one run, and what they have counted so far.

    It is asked for addresses that are new, each once; one that is asked for again counts again.
    """

    def __init__(self, limits: TrapLimits, year: int, known: Iterable[TrapNote] = ()) -> None:
        self._limits = limits
        # Nearly every address is shorter and less deep than any rule about its looks cares for.
        self._short = limits.length or FOREVER
        self._flat = 2 + min(limits.folders or FOREVER, limits.repeats or FOREVER)
        self._years = range(EARLIEST_YEAR, year + YEARS_AHEAD + 1)
        self._counts: OrderedDict[str, _Count] = OrderedDict()
        self._stopped: set[str] = set()
        self._news: list[TrapNote] = []
        for note in known:
            if note.stopped:
                self._stopped.add(note.key)
            else:
                self._counts[note.key] = _Count(note.addresses)

    def refuses(self, url: Url) -> TrapRule | None:
        """The rule that stops this address; one that is let through counts."""
        href = url.href
        if len(href) > self._short or href.count("/") > self._flat:
            if (broken := shape_trap(href, self._limits)) is not None:
                return self._stop(self._note(broken, _host(href), href))
        if "?" in href:
            return self._too_many_dates(href) or self._too_many_queries(href)
        # Of a path, only the end can be a date.
        return self._too_many_dates(href) if href[-1] in _DIGITS or href[-2:-1] in _DIGITS else None

    def stopped_by(self, url: Url) -> TrapNote | None:
        """What stops addresses like this one by now; nothing is counted."""
        href = url.href
        if (broken := shape_trap(href, self._limits)) is not None:
            return self._note(broken, _host(href), href)
        path, _, query = href.partition("?")
        patterns = {}
        if self._limits.dates is not None and (date := dated(href)) is not None:
            if self._is_senseless(date):
                return self._senseless(date, href)
            patterns[TrapRule.DATES] = date.pattern
        if combines(query):
            patterns[TrapRule.COMBINATIONS] = _place(path)
        if query:
            patterns[TrapRule.QUERIES] = _place(path)
        notes = (self._note(rule, pattern, href) for rule, pattern in patterns.items())
        return next((note for note in notes if note.key in self._stopped), None)

    def news(self) -> tuple[TrapNote, ...]:
        """What is worth storing since this was last asked."""
        if not self._news:
            return ()
        told, self._news = tuple(self._news), []
        return told

    def _too_many_dates(self, href: str) -> TrapRule | None:
        if self._limits.dates is None or (date := dated(href)) is None:
            return None
        if self._is_senseless(date):
            return self._stop(self._senseless(date, href))
        enough = self._is_enough(TrapRule.DATES, date.pattern, self._limits.dates, href)
        return TrapRule.DATES if enough else None

    def _is_senseless(self, date: Dated) -> bool:
        return date.sure and date.year not in self._years

    def _senseless(self, date: Dated, href: str) -> TrapNote:
        years = f"not in {self._years.start}–{self._years.stop - 1}"
        return self._note(TrapRule.DATES, f"{date.pattern} {years}", href)._replace(limit=0)

    def _too_many_queries(self, href: str) -> TrapRule | None:
        path, _, query = href.partition("?")
        pattern, limits = _place(path), self._limits
        if limits.combinations is not None and combines(query):
            if self._is_enough(TrapRule.COMBINATIONS, pattern, limits.combinations, href, query):
                return TrapRule.COMBINATIONS
        if limits.queries is not None and self._is_enough(TrapRule.QUERIES, pattern, limits.queries, href):
            return TrapRule.QUERIES
        return None

    def _is_enough(self, rule: TrapRule, pattern: str, limit: int, href: str, query: str | None = None) -> bool:
        """Whether a pattern had as many addresses as it may have; if not, here is one more."""
        if self._is_stopped(rule, pattern):
            return True
        count = self._count(rule, pattern)
        if count.addresses >= count.look_at:
            suspicious, enough = count.is_suspicious, count.addresses >= limit
            if suspicious and enough:
                self._stop(self._note(rule, pattern, href, count.addresses))
                return True
            if suspicious and count.addresses:
                self._news.append(self._note(rule, pattern, href, count.addresses)._replace(stopped=False))
            step = max(1, limit // STORED_AT)
            count.look_at = count.addresses + step if enough else min(count.addresses + step, limit)
        count.addresses += 1
        if query is not None:
            count.see(query)
        return False

    def _count(self, rule: TrapRule, pattern: str) -> _Count:
        key = f"{rule} {short(pattern)}"
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = _Count()
            if len(self._counts) > PATTERNS:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(key)
        return count

    def _is_stopped(self, rule: TrapRule, pattern: str) -> bool:
        return bool(self._stopped) and f"{rule} {short(pattern)}" in self._stopped

    def _stop(self, note: TrapNote) -> TrapRule:
        if len(self._stopped) < STOPPED and note.key not in self._stopped:
            self._stopped.add(note.key)
            self._counts.pop(note.key, None)
            self._news.append(note)
        return TrapRule(note.rule)

    def _note(self, rule: TrapRule, pattern: str, href: str, addresses: int = 0) -> TrapNote:
        limit: int = getattr(self._limits, rule) or 0
        return TrapNote(rule, short(pattern), addresses, limit, True, redact(href)[:SAMPLE_LENGTH])


class _Count:
    """How many addresses a pattern had and, where that matters, roughly how many values each of its parameters."""

    __slots__ = ("_values", "addresses", "look_at")

    def __init__(self, addresses: int = 0) -> None:
        self.addresses = self.look_at = addresses
        self._values: dict[int, int] | None = None

    def see(self, query: str) -> None:
        """Note the values of a query: a bit each, so that a pattern takes no more room for having many."""
        if self._values is None:
            self._values = {}
        for pair in query.split("&"):
            name, _, value = pair.partition("=")
            key = _hash(name)
            if key in self._values or len(self._values) < _MOST_NAMES:
                self._values[key] = self._values.get(key, 0) | 1 << _hash(value) % _BITS

    @property
    def is_suspicious(self) -> bool:
        """False where a parameter has so many values that it must name things."""
        if self._values is None:
            return True
        if len(self._values) >= _MOST_NAMES:
            return False
        return self.addresses > ADDRESSES_PER_VALUE * max(map(_estimate, self._values.values()), default=0.0)


_BITS = 1_024
_MOST_NAMES = 16


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


def _estimate(bitmap: int) -> float:
    """How many values set these bits: two of them may have set the same."""
    empty = _BITS - bitmap.bit_count()
    return _BITS * log(_BITS / empty) if empty > _BITS // 4 else float("inf")


def _host(href: str) -> str:
    return href.split("/", 3)[2]


def _place(path: str) -> str:
    return path.partition("://")[2]
