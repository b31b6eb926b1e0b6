"""What no database can hold: NUL, and halves of characters. A page that has one in its title is kept, with a mark in its place."""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\ufffd"  # as browsers show it
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def storable(value: Any) -> Any:
    """A text, or all texts in a list, with a mark in the place of what can't be stored; anything else as it is."""
    if isinstance(value, str):
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return without_nul(whole)
    return [storable(item) for item in value] if isinstance(value, list | tuple) else value


def without_nul(text: str) -> str:
    return text.replace("\x00", REPLACEMENT)


def without_escaped_nul(json: str) -> str:
    """The same for JSON, where it is written as six characters that a database would turn into one."""
    return _ESCAPED_NUL.sub(rf"\1{REPLACEMENT}", json) if "\\u0000" in json else json
