"""Partitions: the seasons, days or leagues into which a source is divided, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from tarantella.domain.path_pattern import Slot
from tarantella.domain.struct import Frozen

UNITS = ("day", "month", "year")
TODAY, YESTERDAY = "today", "yesterday"
MOST = 100_000  # days of more than 270 years


class Partitions(Frozen):
    """The partitions of a source: those that were listed, or those from one day to another."""

    name: str | None = None  # in the singular, as it stands in patterns and tasks; None where a source is not divided
    values: tuple[str, ...] = ()
    unit: str | None = None
    first: date | None = None
    until: date | str = TODAY
    last: int | None = None
    all_current: bool = False

    @property
    def is_computed(self) -> bool:
        return self.name is not None and not self.values

    def on(self, today: date) -> tuple[str, ...]:
        """All that there are on this day, the current one last. None yet, where the first is still to come."""
        if self.name is None:
            return ("",)
        if not self.is_computed:
            return self.values
        days = {TODAY: today, YESTERDAY: today - timedelta(days=1)}
        end = days[self.until] if isinstance(self.until, str) else self.until
        return tuple(text_of(each, self.unit) for each in reversed(list(self._back_from(end))))

    def _back_from(self, end: date) -> Iterator[date]:
        day = _beginning(end, self.unit)
        first = _beginning(self.first, self.unit) if self.first is not None else date.min
        for _ in range(min(self.last or MOST, MOST)):
            if day < first:
                return
            yield day
            if day <= date.min.replace(day=2):
                return
            day = _beginning(day - timedelta(days=1), self.unit)

    def texts(self, value: str, slots: tuple[Slot, ...]) -> tuple[str, ...]:
        """What stands for each of the slots, where this partition is meant."""
        return tuple(value if slot.format is None else date_of(value).strftime(slot.format) for slot in slots)


def text_of(day: date, unit: str | None) -> str:
    """`2026-01-31`, `2026-01`, `2026`."""
    return day.isoformat()[: {"year": 4, "month": 7}.get(unit or "", 10)]


def date_of(text: str) -> date:
    """The first day of it. Raises ValueError."""
    parts = text.split("-")
    if [len(part) for part in parts] not in ([4], [4, 2], [4, 2, 2]) or not all(part.isdecimal() for part in parts):
        raise ValueError(text)
    return date(*(list(map(int, parts)) + [1, 1])[:3])


def _beginning(day: date, unit: str | None) -> date:
    if unit == "year":
        return day.replace(month=1, day=1)
    return day.replace(day=1) if unit == "month" else day
