"""The dates in cookies, which are written in many ways and read in one (RFC 6265, 5.1.1)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_TOKEN = re.compile(r"[^\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)")
_DAY = re.compile(r"(\d{1,2})(?!\d)")
_YEAR = re.compile(r"(\d{2,4})(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EARLIEST_YEAR = 1601


def parse_cookie_date(text: str) -> float | None:
    """The Unix time that this means, or None where it means nothing."""
    time: tuple[int, int, int] | None = None
    day = month = year = None
    for token in _TOKEN.findall(text):
        if time is None and (found := _TIME.match(token)):
            time = (int(found[1]), int(found[2]), int(found[3]))
        elif day is None and (found := _DAY.match(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR.match(token)):
            year = _century(int(found[1]))
    if time is None or day is None or month is None or year is None or year < _EARLIEST_YEAR:
        return None
    try:
        return datetime(year, month, day, *time, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _century(year: int) -> int:
    if 70 <= year <= 99:
        return year + 1900
    return year + 2000 if year <= 69 else year
