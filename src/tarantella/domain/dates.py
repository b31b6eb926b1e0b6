"""Dates as people write them, in the languages of most pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache

from tarantella.domain.locale import UNKNOWN, Locale

MAX_CHARACTERS = 300
_FIRST_YEAR, _LAST_YEAR = 1000, 2200

# January to December, as words begin in each language: a longer word that begins so is the same month.
_MONTH_STEMS: Mapping[str, str] = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "jän|jan feb mär|mrz apr mai jun jul aug sep okt nov dez",
    "fr": "janv fév|fev mars avr mai juin juil août|aout sept oct nov déc|dec",
    "es": "ene feb mar abr may jun jul ago sep|set oct nov dic",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "nl": "jan feb mrt|maa apr mei jun jul aug sep okt nov dec",
    "pl": "sty lut mar kwi maj|maja cze lip sie wrz paź|paz lis gru",
    "cs": "led|ledn úno|uno bře|bre dub|dubn kvě|kve červn|cervn červen|červenec srp zář|zar říj|rij listop pros",
    "sv": "jan feb mar apr maj jun jul aug sep okt nov dec",
    "da": "jan feb mar apr maj jun jul aug sep okt nov dec",
    "no": "jan feb mar apr mai jun jul aug sep okt nov des",
    "fi": "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",
    "hu": "jan febr márc|marc ápr|apr máj|maj jún|jun júl|jul aug szept okt nov dec",
    "ro": "ian feb mar apr mai iun iul aug sep oct noi|noe dec",
    "tr": "oca şub|sub mar nis may haz tem ağu|agu eyl eki kas ara",
    "id": "jan feb mar apr mei jun jul agu|ags sep okt nov des",
    "ru": "янв фев мар апр май|мая июн июл авг сен окт ноя дек",
    "uk": "січ лют бер кві тра чер лип сер вер жов лис гру",
    "el": "ιαν φεβ μαρ απρ μαϊ|μαι|μαΐ|μάι ιουν ιουλ αυγ|αύγ σεπ οκτ νοε|νοέ δεκ",
    "ca": "gen febr març|marc abr maig juny jul ag set oct nov des",
    "hr": "sij velj ožu|ozu tra svi lip srp kol ruj lis stu pro",
    "bg": "яну фев март апр май юни юли авг сеп окт ное дек",
}
_ZONES: Mapping[str, float] = {
    "z": 0,
    "utc": 0,
    "gmt": 0,
    "wet": 0,
    "bst": 1,
    "west": 1,
    "cet": 1,
    "mez": 1,
    "cest": 2,
    "mesz": 2,
    "eet": 2,
    "eest": 3,
    "msk": 3,
    "ist": 5.5,
    "jst": 9,
    "kst": 9,
    "aest": 10,
    "aedt": 11,
    "est": -5,
    "edt": -4,
    "cst": -6,
    "cdt": -5,
    "mst": -7,
    "mdt": -6,
    "pst": -8,
    "pdt": -7,
}
# Those of the United States, as they are called whatever the season.
_AMERICAN: Mapping[str, float] = {"et": -5, "ct": -6, "mt": -7, "pt": -8}
_CLOCK = r"(?:T|\s|г\.|,|-|–|\||at|um|à|a las|alle|kl\.?|om|o godz\.?|в){1,4}?\s*(\d{1,2})[:.h](\d{2})(?:[:.](\d{2})(?:[.,]\d{1,9})?)?"
_TIME = re.compile(
    rf"{_CLOCK}\s*(?:uhr|hrs?|h)?\s*([ap]\.?\s?m\.?(?![a-z]))?\s*(?:\(?([+\-−]\d{{2}}):?(\d{{2}})?|([a-z]{{1,5}})\b)?",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(19\d{2}|20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})(?!\d)")
_EAST_ASIAN = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?\s*(?:de|of|d'|di)?[\s./-]*([^\W\d_]{2,12})\.?,?[\s./-]*(?:de[l]?\s+)?(\d{4})(?!\d)",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(r"([^\W\d_]{3,12})\.?\s*(\d{1,2})(?:st|nd|rd|th)?\s*,?\s*(\d{4})(?!\d)", re.IGNORECASE)
_YEAR_MONTH_NAME = re.compile(r"(?<!\d)(\d{4})[.,]?\s+([^\W\d_]{3,12})\.?\s+(\d{1,2})(?!\d)", re.IGNORECASE)
_EPOCH = re.compile(r"\d{10}(?:\d{3})?")


class NotADate(ValueError):
    """There is no date in the text."""


def parse_date(text: str, locale: Locale = UNKNOWN) -> str:
    """The first date in a text as ISO 8601, with its time and zone where it has them. Raises NotADate."""
    text = _western_digits(" ".join(text[:MAX_CHARACTERS].split()))
    if _EPOCH.fullmatch(text):
        return _of_epoch(int(text))
    day, rest = _day_of(text, locale)
    return day.isoformat() + _time_of(rest, day)


def _day_of(text: str, locale: Locale) -> tuple[date, str]:
    """The first date and what stands behind it."""
    for pattern in (_YEAR_FIRST, _EAST_ASIAN, _COMPACT):
        if found := pattern.search(text):
            return _date(int(found[1]), int(found[2]), int(found[3])), text[found.end() :]
    if found := _NUMBERS.search(text):
        return _of_numbers(found, locale), text[found.end() :]
    for pattern, (year, month, day) in (
        (_DAY_MONTH, (3, 2, 1)),
        (_MONTH_DAY, (3, 1, 2)),
        (_YEAR_MONTH_NAME, (1, 2, 3)),
    ):
        for found in pattern.finditer(text):
            number = month_of(found[month], locale)
            if number is not None:
                return _date(int(found[year]), number, int(found[day])), text[found.end() :]
    raise NotADate("it is not a date")


def _of_numbers(found: re.Match[str], locale: Locale) -> date:
    first, mark, second, year = int(found[1]), found[2], int(found[3]), int(found[4])
    if len(found[4]) == 2:
        year += 2000 if year < 70 else 1900
    # With dots and dashes, nobody puts the month first.
    month_first = locale.month_first and mark == "/"
    if first > 12 >= second:
        month_first = False
    elif second > 12 >= first:
        month_first = True
    elif first != second and not locale.is_known and mark == "/":
        raise NotADate("it could be a day of two months; give the field a locale, like en-GB")
    return _date(year, first, second) if month_first else _date(year, second, first)


def _date(year: int, month: int, day: int) -> date:
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        raise NotADate("it is not a date")
    try:
        return date(year, month, day)
    except ValueError:
        raise NotADate("there is no such day") from None


def _time_of(rest: str, day: date) -> str:
    found = _TIME.match(rest[:60])
    if not found:
        return ""
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    half = (found[4] or "").lower()[:1]
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return ""
    zone = ""
    if found[5]:
        hours, minutes = int(found[5].replace("−", "-")), int(found[6] or 0)
        zone = f"{'-' if found[5][0] != '+' else '+'}{abs(hours):02d}:{minutes:02d}"
    elif found[7] and (offset := _offset(found[7].lower(), day)) is not None:
        zone = f"{'-' if offset < 0 else '+'}{int(abs(offset)):02d}:{int(abs(offset) % 1 * 60):02d}"
    return f"T{hour:02d}:{minute:02d}:{second:02d}{zone}"


def _offset(zone: str, day: date) -> float | None:
    if zone in _AMERICAN:
        return _AMERICAN[zone] + (_sunday(day.year, 3, 14) <= day < _sunday(day.year, 11, 7))
    return _ZONES.get(zone)


def _sunday(year: int, month: int, latest: int) -> date:
    """The last Sunday up to this day: summer time begins with the second one of March, and ends with the first one of November."""
    day = date(year, month, latest)
    return day - timedelta(days=day.isoweekday() % 7)


def _of_epoch(number: int) -> str:
    seconds = number / 1000 if number > 10**11 else number
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)  # noqa: UP017
    return moment.isoformat(timespec="seconds")


@lru_cache(maxsize=2_048)
def month_of(word: str, locale: Locale = UNKNOWN) -> int | None:
    """The month that a word means: in the page's language, in English, or in any other where all agree."""
    word = word.casefold()
    for language in (locale.language, "en"):
        if (number := _in_language(word, language)) is not None:
            return number
    found = {number for language in _MONTH_STEMS if (number := _in_language(word, language)) is not None}
    return found.pop() if len(found) == 1 else None


def _in_language(word: str, language: str) -> int | None:
    best: tuple[int, int] | None = None
    for number, stems in enumerate(_MONTH_STEMS.get({"nb": "no", "nn": "no"}.get(language, language), "").split(), 1):
        for stem in stems.split("|"):
            # Where one month begins like another (juin, juillet), the longer beginning knows better.
            if word.startswith(stem) and (best is None or len(stem) > best[0]):
                best = (len(stem), number)
    return best[1] if best is not None else None


def _western_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(char)) if not char.isascii() and unicodedata.decimal(char, None) is not None else char
        for char in text
    )
