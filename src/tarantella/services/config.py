"""Which settings are in force, and where each of them came from."""

from __future__ import annotations

import re
from typing import Any

from tarantella.domain.errors import TarantellaError
from tarantella.domain.struct import Frozen
from tarantella.domain.url import redact
from tarantella.setting_sources import SOURCES, Found
from tarantella.settings import ABOUT, VARIABLES, Settings, load, variables_of

DEFAULT = "default"
HIDDEN = "***"
_SECRET_NAME = re.compile(r"token|password|passwd|secret|credential|api_?key")


class Setting(Frozen):
    """One setting as `config show` tells it."""

    name: str
    variable: str
    value: Any
    origin: str
    description: str


def settings_in_force() -> tuple[list[Setting], TarantellaError | None]:
    """Every setting; where one can't be used, what was set instead of it, and what is wrong."""
    loaded: Settings | None = None
    wrong: TarantellaError | None = None
    try:
        loaded = load()
    except TarantellaError as error:
        wrong = error
    found = _set_somewhere()
    rows = []
    for name, about in ABOUT.items():
        set_here = found.get(name, Found(name, about.default, DEFAULT))
        value = getattr(loaded, name) if loaded is not None else set_here.value
        rows.append(Setting(name, variables_of(name)[0], _shown(name, value), set_here.origin, about.description))
    return rows, wrong


def _set_somewhere() -> dict[str, Found]:
    """What is set and where; the first source wins, as it does when settings are loaded."""
    found: dict[str, Found] = {}
    for source in SOURCES:
        try:
            for each in source(VARIABLES):
                found.setdefault(each.name, each)
        except TarantellaError:
            # Loading them said so already; the others can be shown all the same.
            continue
    return found


def _shown(name: str, value: Any) -> Any:
    if _SECRET_NAME.search(name) and value:
        return HIDDEN
    if name.endswith("_url") and value and "://" not in str(value):
        # Not a URL, whatever it is: what it hides can't be told from what it shows.
        return HIDDEN
    if name in ABOUT and ABOUT[name].is_secret and "@" in str(value or ""):
        # Up to the last one: it may be shown because it is not right, and then a password may go on behind the first.
        scheme, _, rest = str(value).partition("://")
        return redact(f"{scheme}://{HIDDEN}@{rest.rpartition('@')[2]}")
    if isinstance(value, list | tuple):
        return [_shown("", item) for item in value]
    if isinstance(value, bool | int | float) or value is None:
        return value
    return redact(str(value))
