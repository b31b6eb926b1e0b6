"""What the value of a setting may be: text from the environment, or what it already is in TOML and in Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar

_AFTER_AUTHORITY = re.compile(r"[/?#]")
REDIS_SCHEMES = ("redis://", "rediss://")
_LIST_MARKS = str.maketrans("[]\"',", "     ")

T = TypeVar("T")
Kind = Callable[[Any], T]  # gives the value, or raises ValueError with what it should be


def whole(least: int, most: int) -> Kind[int]:
    def read(value: Any) -> int:
        number = _number(value)
        if number is None or not number.is_integer() or not least <= number <= most:
            raise ValueError(f"it should be a whole number from {least:,} to {most:,}")
        return int(number)

    return read


def seconds(most: float, *, zero: bool = False) -> Kind[float]:
    """Some time; none at all only where that makes sense."""

    def read(value: Any) -> float:
        number = _number(value)
        if number is None or not 0 <= number <= most or (number == 0 and not zero):
            raise ValueError(f"it should be a number of seconds from {'0' if zero else 'more than 0'} to {most:,}")
        return number

    return read


def share(value: Any) -> float:
    """A part of all."""
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        raise ValueError("it should be a number from 0 to 1")
    return number


def flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if not isinstance(value, str) or value.lower() not in known:
        raise ValueError("it should be true or false")
    return known[value.lower()]


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it should be text")
    return value


def zone(value: Any) -> str:
    """The name of a time zone."""
    given = text(value)
    if given != "UTC":
        # Loaded by whoever has set it.
        from tarantella.domain.errors import InvalidInput
        from tarantella.domain.schedule import local

        try:
            local(0.0, given)
        except InvalidInput as error:
            raise ValueError(f"it should be a time zone, as in Europe/Berlin. {error.remedy}") from None
    return given


def address(value: Any) -> str:
    """The address of a server, perhaps with a login, in which every character must be what it seems to be."""
    given = text(value)
    rest = given.partition("://")[2]
    authority = _AFTER_AUTHORITY.split(rest, maxsplit=1)[0]
    if "@" in rest[len(authority) :] or authority.count("@") > 1:
        # Others would take the end of the password for a host or a path, and show it.
        raise ValueError("a / ? # or @ in its user name or password has to be written as %2F, %3F, %23 or %40")
    return given


def redis_address(value: Any) -> str:
    if not isinstance(value, str) or not value.lower().startswith(REDIS_SCHEMES):
        raise ValueError("it should be the address of a Redis, as in redis://127.0.0.1:6379/1")
    return address(value)


def path(value: Any) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError("it should be a path")
    return Path(value)


def networks(value: Any) -> tuple[str, ...]:
    """A list, or where there are no lists, a text with commas between them or a list in JSON."""
    if isinstance(value, str):
        value = value.translate(_LIST_MARKS).split()
    try:
        for network in value:
            ip_network(network, strict=False)
    except (TypeError, ValueError):
        raise ValueError('it should be a list of networks, as in ["10.0.0.0/8", "::1/128"]') from None
    return tuple(map(str, value))


def names(value: Any) -> tuple[str, ...]:
    """A list of host names, or where there are no lists, a text with commas between them or a list in JSON."""
    if isinstance(value, str):
        value = value.translate(_LIST_MARKS).split()
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) and each.strip() for each in value):
        raise ValueError('it should be a list of names, as in ["tarantella.example.com"]')
    return tuple(each.strip().lower() for each in value)


def modules(value: Any) -> tuple[str, ...]:
    """A list of Python modules, or where there are no lists, a text with commas between them or a list in JSON."""
    if isinstance(value, str):
        value = value.translate(_LIST_MARKS).split()
    if not isinstance(value, list | tuple) or not all(map(_is_module, value)):
        raise ValueError('it should be a list of modules, as in ["my_steps"]')
    return tuple(value)


def _is_module(name: Any) -> bool:
    return isinstance(name, str) and all(map(str.isidentifier, name.split(".")))


def one_of(*choices: str) -> Kind[Any]:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"it should be {' or '.join(choices)}")
        return str(value)

    return read


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
