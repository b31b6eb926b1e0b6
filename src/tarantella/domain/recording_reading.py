"""Reads an answer the way its recording says: the same values that the page showed."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tarantella.domain.field import Field
from tarantella.domain.json_tree import at, kind, shape
from tarantella.domain.locale import Locale
from tarantella.domain.recording import MOST_ITEMS, Place, Reading
from tarantella.domain.struct import Frozen
from tarantella.domain.values import Unfit, typed

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:")
_TAG = re.compile(r"<[^<>]*>")
FEW = 5  # of so few items, a field may be missing in all by chance


def _text(value: Any) -> Any:
    """As scripts write it, on one line."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, (int, float)) else None


def _markup(value: Any) -> Any:
    return " ".join(html.unescape(_TAG.sub(" ", value)).split()) if isinstance(value, str) and "<" in value else None


def _day(value: Any) -> Any:
    return value[:10] if isinstance(value, str) and _TIME.match(value) else None


def _number(write: Callable[[float], str]) -> Callable[[Any], Any]:
    def form(value: Any) -> Any:
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e15:
            return None
        return write(value)

    return form


def _continental(text: str) -> str:
    return text.translate(str.maketrans(",.", ".,"))


# What pages do to a value before they show it. The first that fits all that was seen is taken.
FORMS: Mapping[str, Callable[[Any], Any]] = {
    "as_is": lambda value: value,
    "text": _text,
    "markup": _markup,
    "day": _day,
    "fixed_2": _number(lambda value: f"{value:.2f}"),
    "fixed_1": _number(lambda value: f"{value:.1f}"),
    "fixed_0": _number(lambda value: f"{value:.0f}"),
    "grouped": _number(lambda value: f"{value:,.0f}"),
    "grouped_2": _number(lambda value: f"{value:,.2f}"),
    "comma_2": _number(lambda value: _continental(f"{value:.2f}")),
    "continental": _number(lambda value: _continental(f"{value:,.0f}")),
    "continental_2": _number(lambda value: _continental(f"{value:,.2f}")),
    "cents": _number(lambda value: f"{value / 100:.2f}"),
    "cents_comma": _number(lambda value: _continental(f"{value / 100:.2f}")),
}


class Context(Frozen):
    """What values depend on beside themselves."""

    locale: Locale
    base_url: str


def context_of(reading: Reading) -> Context:
    return Context(Locale.of(reading.about.get("language")).at(reading.page_url), reading.page_url)


def shown(raw: Any, place: Place, wanted: Field, context: Context) -> Any:
    """A value of an answer as the page would show it; None where it shows nothing."""
    values = [
        formed for each in (raw if isinstance(raw, list) else [raw]) if (formed := _formed(each, place)) is not None
    ]
    if wanted.type not in (None, "string"):
        values = [value for each in values if (value := _typed(each, wanted, context)) is not None]
    if wanted.all is True:
        return values or None
    if wanted.all is None and len(values) > 1:
        return values
    return values[0] if values else None


def _formed(raw: Any, place: Place) -> Any:
    if raw is None:
        return None
    value = FORMS[place.form](raw)
    if not place.before and not place.after:
        return value
    return f"{place.before}{value}{place.after}" if isinstance(value, str) else None


def _typed(value: Any, wanted: Field, context: Context) -> Any:
    assert wanted.type is not None
    try:
        return typed(
            value, wanted.type, Locale.of(wanted.locale) if wanted.locale else context.locale, context.base_url
        )
    except Unfit:
        return None


class Read(Frozen):
    """What an answer gave: values by name for each record, or why it is not what it was."""

    records: Sequence[Mapping[str, Any]] = ()
    unfit: str | None = None
    cut: bool = False
    shape: str = ""


def read(answer: Any, reading: Reading, wanted: Sequence[Field], *, first: bool = True) -> Read:
    """The records of an answer. What must be there at the first part may be missing at the end of a list."""
    if reading.items is None:
        items: Any = [answer] if isinstance(answer, (dict, list)) else None
    else:
        items = at(answer, reading.items)
    if not isinstance(items, list):
        return Read(unfit="the list is not where it was" if reading.items is not None else "the answer is no object")
    if not items:
        return Read(unfit="the list is empty") if first else Read()
    cut, items = len(items) > MOST_ITEMS, items[:MOST_ITEMS]
    if (why := _misfit(items, reading)) is not None:
        return Read(unfit=why)
    context = context_of(reading)
    records = [_record(item, reading, wanted, context) for item in items]
    return Read(records, None, cut, shape(items))


def _record(item: Any, reading: Reading, wanted: Sequence[Field], context: Context) -> dict[str, Any]:
    record = {}
    for field in wanted:
        place = reading.places.get(field.name)
        record[field.name] = shown(at(item, place.path), place, field, context) if place is not None else None
    return record


def _misfit(items: Sequence[Any], reading: Reading) -> str | None:
    """What has changed in how the items are built, as far as it matters."""
    if reading.items is not None and not all(isinstance(item, dict) for item in items):
        return "the items are no objects any more"
    for name, place in reading.places.items():
        kinds = {kind(value) for item in items if (value := at(item, place.path)) is not None}
        if place.kinds and not kinds:
            if place.always or len(items) > FEW:
                return f"the field {name!r} is gone"
        elif place.kinds and not kinds <= set(place.kinds):
            return f"the field {name!r} is now {' or '.join(sorted(kinds))}"
    return None
