"""What is said to `scrape` in Python, turned into what a run is told. What can't be meant is refused by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_type_hints

from tarantella.domain.backoff import Backoff
from tarantella.domain.browsing import Browsing
from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import FieldSet, field_set_of, fields_of
from tarantella.domain.run import Priority
from tarantella.domain.scope import ScopeKind
from tarantella.domain.spec import Secrets, Spec
from tarantella.domain.struct import replace
from tarantella.domain.trap import LARGEST_LIMIT, OFF, TrapLimits, out_of_range
from tarantella.services.cache import folder_of
from tarantella.services.fields_file import read_fields_file
from tarantella.services.secrets import secrets_of
from tarantella.services.specs import usual
from tarantella.settings import Settings

Fields: TypeAlias = Mapping[str, Any] | Sequence[Any] | None


def several(value: Any, name: str) -> tuple[str, ...]:
    """Texts; one alone is a single one, not its letters."""
    found = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else (value,)
    for each in found:
        if not isinstance(each, str):
            raise _wrong(name, each, "a text, or a list of texts")
    return found


def path_of(value: Any, name: str) -> Path | None:
    if value is None:
        return None
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str) or not text or "\0" in text:
        raise _wrong(name, value, "a path")
    return Path(text)


def fields_wanted(fields: Fields, file: str | Path | None) -> FieldSet:
    """The fields of a file, and those that were given beside it."""
    path = path_of(file, "fields_file")
    wanted = read_fields_file(path) if path is not None else FieldSet()
    if fields is None:
        return wanted
    if isinstance(fields, str):
        fields = [fields]
    if isinstance(fields, Mapping) and not {"fields", "item", "pagination"} & set(fields):
        return replace(wanted, fields=(*wanted.fields, *fields_of(fields)))
    chosen = field_set_of(fields)
    return FieldSet(
        fields=(*wanted.fields, *chosen.fields),
        item=chosen.item or wanted.item,
        pagination=chosen.pagination or wanted.pagination,
    )


_REMEDIES = {
    "header": 'Write them as headers={"Name": "value"}.',
    "proxy": 'Write it as proxy="http://host:3128"; https and socks5 work too.',
}


def secrets_wanted(headers: Any, cookies_file: Any, proxy: Any, fill: Any) -> Secrets:
    """What is sent along with requests, or filled in by name where a browser's actions say so."""
    if proxy is not None and not isinstance(proxy, str):
        raise _wrong("proxy", type(proxy).__name__, "a text")
    return secrets_of(
        _texts(headers, "headers"),
        path_of(cookies_file, "cookies_file"),
        proxy,
        _texts(fill, "fill"),
        remedies=_REMEDIES,
    )


def _texts(value: Any, name: str) -> Mapping[str, str]:
    """Texts by name. What is in them is not told: it may be a password."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for pair in value.items() for each in pair):
        raise InvalidInput(f"{name} are not texts by name.", field=name, remedy=f'Give {name}={{"Name": "value"}}.')
    return value


def trap_limits(limits: Mapping[str, int | None] | bool) -> TrapLimits:
    if isinstance(limits, bool):
        return TrapLimits() if limits else TrapLimits.none()
    if not isinstance(limits, Mapping):
        raise _wrong("traps", limits, "True, False or limits by name")
    chosen = TrapLimits()
    for name, value in limits.items():
        if isinstance(value, int) and abs(value) > LARGEST_LIMIT:
            raise out_of_range(name, value)
        chosen = chosen.with_limit(f"{name}={OFF if value is None else value}")
    return chosen


# What can be said of a run, but for what has a parameter of its own.
_OWN = ("fields", "item", "pagination", "sitemaps", "traps", "strategy", "auto", "secrets")
_OPTIONS = set(Spec.__struct_fields__) - set(_OWN)


def spec_values(settings: Settings, options: Mapping[str, Any], parameters: Iterable[str] = ()) -> dict[str, Any]:
    """What was said of a run, and for the rest what the settings say. The parameters are what else could have been said."""
    said = dict(options)
    if said.pop("cache", False) and said.get("cache_dir") is None:
        said["cache_dir"] = str(folder_of(settings, None))
    for name in said.keys() - _OPTIONS:
        known = sorted({*_OPTIONS, "cache", *parameters})
        likely = get_close_matches(name, known, 1, cutoff=0.6)
        raise InvalidInput(
            f"scrape() has no option {name!r}.",
            field=name,
            remedy=f"Did you mean {likely[0]!r}?" if likely else f"It has {', '.join(known)}.",
        )
    if said.get("cache_ttl") is not None and said.get("cache_dir") is None:
        raise InvalidInput("cache_ttl is for a cache.", field="cache_ttl", remedy="Add cache=True.")
    if said.get("browser", Browsing()) is None:
        del said["browser"]
    return {**usual(settings), **{name: _MADE.get(name, _plain)(value, name) for name, value in said.items()}}


def _scope(value: Any, name: str) -> ScopeKind:
    try:
        return ScopeKind(value)
    except ValueError:
        raise _wrong(name, value, f"one of {', '.join(ScopeKind)}") from None


def _priority(value: Any, name: str) -> Priority:
    try:
        return Priority[value.upper()] if isinstance(value, str) else Priority(value)
    except (KeyError, ValueError):
        raise _wrong(name, value, f"one of {', '.join(each.name.lower() for each in Priority)}") from None


def _backoff(value: Any, name: str) -> Backoff:
    if isinstance(value, int | float):
        return Backoff(base=value, cap=max(Backoff().cap, value))
    if not isinstance(value, Backoff):
        raise _wrong(name, value, "a number of seconds")
    return value


def _browsing(value: Any, _name: str) -> Browsing:
    return value if isinstance(value, Browsing) else Browsing.from_json(value)


def _path_text(value: Any, name: str) -> str | None:
    path = path_of(value, name)
    return None if path is None else str(path.absolute())  # a run can be resumed from another folder


def _plain(value: Any, name: str) -> Any:
    """What is taken as it is, if it is of its kind."""
    kind = _kinds()[name]
    if isinstance(value, kind) or (isinstance(value, int) and isinstance(0.0, kind)):
        return value
    first = (get_args(kind) or (kind,))[0]
    raise _wrong(name, value, _WORDS.get(first, first.__name__))


@cache
def _kinds() -> dict[str, Any]:
    return get_type_hints(Spec)


_WORDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "a text", bool: "True or False"}
_MADE: Mapping[str, Callable[[Any, str], Any]] = {
    "include": several,
    "exclude": several,
    "allow_networks": several,
    "scope": _scope,
    "priority": _priority,
    "backoff": _backoff,
    "browser": _browsing,
    "ca_file": _path_text,
    "cache_dir": _path_text,
}


def _wrong(name: str, value: Any, wanted: str) -> InvalidInput:
    shown = repr(value)
    shown = shown if len(shown) <= 100 else f"{shown[:100]}…"
    return InvalidInput(f"{name} is {shown}.", field=name, remedy=f"Give {wanted}.")
