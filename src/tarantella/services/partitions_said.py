"""What a file says of partitions: a list of them, or the days, months or years from one to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Any

from tarantella.domain.partition import TODAY, UNITS, YESTERDAY, Partitions, date_of, text_of
from tarantella.domain.path_pattern import no_text_of_a_path

UNDIVIDED = "none"
ALL = "all"
MOST_LISTED = 10_000
EARLIEST = date(1900, 1, 1)
_OPTIONS = ("as", "current")
_SPAN = ("from", "to", "last")
_SHAPES = {"day": "2026-01-31", "month": "2026-01", "year": "2026"}


def partitions_of(said: Any) -> Partitions:
    """Raises ValueError that says what would be right."""
    if said in (UNDIVIDED, None):
        return Partitions()
    if not isinstance(said, Mapping):
        raise ValueError(f"it is {repr(said)[:60]}, not a mapping as in {{seasons: [...]}}, nor `none`.")
    names = [name for name in said if name not in _OPTIONS]
    if len(names) != 1:
        many = ", ".join(map(str, names)) or "nothing"
        raise ValueError(f"a source is divided in one way, as in {{seasons: [...]}}; here is {many}.")
    [plural] = names
    if not isinstance(plural, str):
        raise ValueError(f"{plural!r} is no name.")
    singular = plural.removesuffix("s")
    name = said.get("as", singular)
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{name!r} is no name that could stand in a pattern: letters, digits and _ can.")
    if said.get("current", ALL) != ALL:
        raise ValueError(
            "`current` can be `all`, where none is older than another; else the last one is the current one."
        )
    unit = singular if singular in UNITS else None
    of, all_current = said[plural], "current" in said
    if isinstance(of, list):
        return Partitions(name, tuple(_listed(of, unit)), unit, all_current=all_current)
    if unit is None:
        raise ValueError(f"`{plural}` is {repr(of)[:60]}, not a list; only days, months and years can be counted.")
    if not isinstance(of, Mapping) or not of:
        raise ValueError(f"`{plural}` is {repr(of)[:60]}, neither a list nor a mapping with from, to or last.")
    return _span(of, name, unit, all_current)


def _listed(of: list[Any], unit: str | None) -> list[str]:
    if not 1 <= len(of) <= MOST_LISTED:
        raise ValueError(f"it lists {len(of):,}, not 1 to {MOST_LISTED:,}.")
    found: list[str] = []
    for value in of:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError(f"{repr(value)[:60]} is no name of a partition. Put it in quotation marks.")
        text = str(value)
        if (trouble := no_text_of_a_path(text)) is not None:
            raise ValueError(f"{text[:60]!r} can't be a partition: {trouble}.")
        if unit is not None:
            _date(text, unit)
        found.append(text)
    if twice := [text for text, times in Counter(found).items() if times > 1]:
        raise ValueError(f"{twice[0]!r} is there twice.")
    if unit is not None and found != sorted(found):
        raise ValueError(f"the {unit}s are not in order; the last one counts as the current one.")
    return found


def _span(of: Mapping[Any, Any], name: str, unit: str, all_current: bool) -> Partitions:
    for each in of:
        if each not in _SPAN:
            raise ValueError(f"`{each}` says nothing of {unit}s; from, to and last do.")
    if ("from" in of) == ("last" in of):
        raise ValueError(f"it says where the {unit}s begin with either `from` or `last`.")
    to = of.get("to", TODAY)
    until: date | str = to if to in (TODAY, YESTERDAY) else _date(to, unit)
    if "last" in of:
        last = of["last"]
        if isinstance(last, bool) or not isinstance(last, int) or not 1 <= last <= MOST_LISTED:
            raise ValueError(f"`last` is {last!r}, not 1 to {MOST_LISTED:,}.")
        return Partitions(name, (), unit, None, until, last, all_current)
    first = _date(of["from"], unit)
    if isinstance(until, date) and until < first:
        raise ValueError(f"it ends with {until} before it begins with {first}.")
    return Partitions(name, (), unit, first, until, None, all_current)


def _date(said: Any, unit: str) -> date:
    """A day, and a beginning or an end of months and years may also be one."""
    try:
        found = date_of(str(said))
        if text_of(found, unit) == str(said) and found >= EARLIEST:
            return found
    except ValueError:
        pass
    raise ValueError(f"{repr(said)[:60]} is no {unit} from {EARLIEST.year} on, as in {_SHAPES[unit]}.")
