"""Values of a type, from what stands on a page. What doesn't fit is told, never dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ada_url

from tarantella.domain.dates import NotADate, parse_date
from tarantella.domain.locale import UNKNOWN, Locale
from tarantella.domain.numbers import NotANumber, parse_currency, parse_integer, parse_number, parse_price

_TRUE = frozenset(
    "true yes y on 1 checked selected ja oui sí si sim sì da tak evet да так 是 はい igen kyllä ano áno ✓ ✔ ☑".split()
)
_FALSE = frozenset("false no n off 0 nein non não nao nej nee nie ne hayır нет ні 否 いいえ nem ei ✗ ✘ ☐".split())
_WEB = ("http:", "https:")


class Unfit(ValueError):
    """A value that is not of the type that it should be; says why."""


def typed(raw: Any, type_name: str, locale: Locale = UNKNOWN, base_url: str = "") -> Any:
    """A raw value (a text, or what JSON has) as the type that was asked for. Raises Unfit."""
    try:
        return _PARSERS[type_name](raw, locale, base_url)
    except (NotADate, NotANumber) as error:
        raise Unfit(str(error)) from None


def _string(raw: Any, _: Locale, __: str) -> Any:
    if isinstance(raw, bool):
        return "true" if raw else "false"
    return str(raw) if isinstance(raw, (int, float)) else raw


def _integer(raw: Any, locale: Locale, _: str) -> int:
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else parse_integer(_text(raw), locale)


def _number(raw: Any, locale: Locale, _: str) -> int | float:
    return raw if _is_number(raw) else parse_number(_text(raw), locale)


def _price(raw: Any, locale: Locale, _: str) -> int | float:
    return raw if _is_number(raw) else parse_price(_text(raw), locale)


def _currency(raw: Any, locale: Locale, _: str) -> str:
    return parse_currency(_text(raw), locale)


def _date(raw: Any, locale: Locale, _: str) -> str:
    return parse_date(str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else _text(raw), locale)


def _boolean(raw: Any, _: Locale, __: str) -> bool:
    if isinstance(raw, bool):
        return raw
    word = (str(raw) if isinstance(raw, int) else _text(raw)).strip(" .!").casefold()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise Unfit("it says neither yes nor no")


def _url(raw: Any, _: Locale, base_url: str) -> str:
    text = _text(raw).strip()
    if not text or " " in text:
        raise Unfit("it is not an address")
    try:
        address: str = ada_url.join_url(base_url, text) if base_url else ada_url.URL(text).href
    except (ValueError, UnicodeError):
        raise Unfit("it is not an address") from None
    if not address.startswith(_WEB):
        raise Unfit("it is not an address on the web")
    return address


_PARSERS: Mapping[str, Callable[[Any, Locale, str], Any]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "url": _url,
    "price": _price,
    "currency": _currency,
}


def _is_number(raw: Any) -> bool:
    return isinstance(raw, (int, float)) and not isinstance(raw, bool)


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise Unfit(f"it is {_KINDS.get(type(raw), 'something else')}")
    return raw


_KINDS: Mapping[type, str] = {
    bool: "true or false",
    list: "a list",
    dict: "an object",
    int: "a number",
    float: "a number",
}
